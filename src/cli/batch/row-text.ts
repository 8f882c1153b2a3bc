import type { BatchRow } from '../../batch/plan.ts';
import { type RowKey, rowKeyOf, type Shape, TextHash } from '../../batch/row-state.ts';
import type { Host } from '../../host.ts';
import { hasControls } from '../../reading/controls.ts';
import { type Prepare, readInput } from '../../reading/source.ts';
import { readSegments } from '../../speech/text.ts';
import type { Segment } from '../../text/segmenter.ts';

interface RowTextOptions extends Omit<Shape, 'voice'> {
  readonly prepare: Prepare | undefined;
  readonly host: Pick<Host, 'cwd' | 'stdin'>;
}

export class RowTexts {
  readonly #options: RowTextOptions;

  constructor(options: RowTextOptions) {
    this.#options = options;
  }

  /** @throws TtsError (usage) for a file that cannot be read */
  async keyOf(row: BatchRow, signal: AbortSignal): Promise<RowKey> {
    const { prepare } = this.#options;
    if (row.text !== undefined && !prepare && !hasControls(row.text))
      return rowKeyOf(row.text, this.#shapeOf(row));
    const hash = new TextHash();
    for await (const piece of readInput({ ...this.#inputOf(row), prepare }, signal)) hash.add(piece);
    return hash.finish(this.#shapeOf(row));
  }

  /** The file may have changed since the plan: the key belongs to these segments. */
  read(row: BatchRow, signal: AbortSignal): { segments: AsyncIterable<Segment>; key: () => RowKey } {
    const { prepare = (_, text) => text, maxChars, cutsParagraphs } = this.#options;
    const hash = new TextHash();
    const heard: Prepare = (name, text, isLive) => hashed(prepare(name, text, isLive), hash);
    const input = { ...this.#inputOf(row), prepare: heard };
    const segments = readSegments(input, { maxChars, pace: 'full', cutsParagraphs }, signal);
    return { segments, key: () => hash.finish(this.#shapeOf(row)) };
  }

  #shapeOf({ voice }: BatchRow): Shape {
    const { identity, paragraphPause, maxChars, cutsParagraphs } = this.#options;
    return { identity, voice, paragraphPause, maxChars, cutsParagraphs };
  }

  #inputOf({ text, textFile }: BatchRow) {
    const { host } = this.#options;
    const source =
      textFile === undefined ? { words: [text ?? ''], files: [] } : { words: [], files: [textFile] };
    return { ...source, cwd: host.cwd, stdin: () => host.stdin.stream };
  }
}

async function* hashed(text: AsyncIterable<string>, hash: TextHash): AsyncGenerator<string> {
  for await (const piece of text) {
    hash.add(piece);
    yield piece;
  }
}
