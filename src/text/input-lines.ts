import type { Prepare } from './input.ts';
import { countLineBreaks } from './paragraphs.ts';
import type { Segment } from './segment.ts';

interface Source {
  readonly name: string;
  /** Line breaks in the joined text in front of it. */
  readonly before: number;
  readonly isAsWritten: boolean;
}

/** Which lines of its sources the lines of a joined text are. */
export class InputLines {
  readonly #sources: Source[] = [];
  #breaks = 0;

  /** Hears of each source when its turn has come: by then, all in front of it was counted. */
  hearing(prepare: Prepare | undefined, isLive: boolean): Prepare {
    return (name, text) => {
      const prepared = prepare ? prepare(name, text, isLive) : text;
      this.#sources.push({ name, before: this.#breaks, isAsWritten: prepared === text });
      return prepared;
    };
  }

  async *counting(text: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const piece of text) {
      this.#breaks += countLineBreaks(piece);
      yield piece;
    }
  }

  /** @param segment of the joined text, in which each has a line */
  whereIs({ line = 1 }: Segment): Pick<Segment, 'file' | 'line'> {
    const source = this.#sources.findLast(({ before }) => before < line);
    return { file: source?.name, line: source?.isAsWritten ? line - source.before : undefined };
  }
}
