import { Readable } from 'node:stream';
import { openMarkdown } from '../../../src/read/markdown.ts';
import { plain } from '../../../src/read/plain.ts';
import type { Reader } from '../../../src/read/reading.ts';
import { fileSource, stdinSource } from '../../../src/read/source.ts';
import { RunText } from '../../../src/run/text.ts';
import { Replacing, readLexicons } from '../../../src/text/lexicon.ts';
import type { RecordedText } from './texts.ts';

export interface CutOptions {
  readonly maxChars: number;
  /** Live outputs begin with a short segment. */
  readonly pace: 'full' | 'ramp' | 'sentence';
  readonly cutsParagraphs: boolean;
}

export interface Recorded {
  readonly text: string;
  readonly line: number | undefined;
  readonly startsParagraph: boolean;
}

const { signal } = new AbortController();

const markdown: Reader = {
  name: 'markdown',
  open: (source, until) => openMarkdown(source, { code: 'read', footnotes: 'read' }, until),
};

/** The segments of a file, or of what comes through stdin. */
export async function* segmentsOf(
  { isMarkdown, lexicon }: Omit<RecordedText, 'text'>,
  input: string | AsyncIterable<Uint8Array>,
  { maxChars, pace, cutsParagraphs }: CutOptions,
): AsyncGenerator<Recorded> {
  const stdin = () => stdinSource(Readable.from(input, { objectMode: false }));
  const source = () => (typeof input === 'string' ? fileSource(input, '/') : stdin());
  const rules = lexicon === undefined ? undefined : readLexicons([{ source: lexicon, name: 'lexicon' }]);
  const plan = {
    sources: () => [{ source: source(), reader: isMarkdown ? markdown : plain }],
    stages: rules ? [() => new Replacing(rules)] : [],
    voice: { maxChars },
    pace: pace === 'sentence' ? pace : ('by output' as const),
    cutsParagraphs,
  };
  const text = await RunText.open(plan, signal);
  for await (const segment of text.segments(pace === 'ramp', signal)) {
    if (segment.kind === 'rest') throw new Error('a text without pauses has a rest');
    const startsParagraph = segment.pause !== 'none' && segment.pause !== 'sentence';
    yield { text: segment.written, line: segment.place.line, startsParagraph };
  }
}
