import { Readable } from 'node:stream';
import { liveMarkdown, spokenMarkdown } from '../../../../src/reading/markdown/reader.ts';
import type { Prepare } from '../../../../src/reading/source.ts';
import { readSegments } from '../../../../src/speech/text.ts';
import { applyLexicon } from '../../../../src/text/lexicon/apply.ts';
import { readLexicon } from '../../../../src/text/lexicon/lexicon.ts';
import type { SegmentOptions } from '../../../../src/text/segmenter.ts';
import type { RecordedText } from './texts.ts';

export type CutOptions = SegmentOptions;

export interface Recorded {
  readonly text: string;
  readonly line: number | undefined;
  readonly startsParagraph: boolean;
}

const { signal } = new AbortController();

/** The segments of a file, or of what comes through stdin. */
export async function* segmentsOf(
  { isMarkdown, lexicon }: Omit<RecordedText, 'text'>,
  input: string | AsyncIterable<Uint8Array>,
  options: CutOptions,
): AsyncGenerator<Recorded> {
  const markdown = { code: 'read', footnotes: 'read' } as const;
  const rules = lexicon === undefined ? undefined : readLexicon(lexicon, 'lexicon');
  const prepare: Prepare = (_, text, isLive) => {
    const read = isLive ? liveMarkdown(text, markdown, signal) : spokenMarkdown(text, markdown);
    const plain = isMarkdown ? read : text;
    return rules ? applyLexicon(rules, plain) : plain;
  };
  const stdin = () => Readable.from(input, { objectMode: false });
  const files = [typeof input === 'string' ? input : '-'];
  yield* readSegments({ words: [], files, cwd: '/', stdin, prepare }, options, signal);
}
