import { countLineBreaks } from '../text/lines.ts';
import { inTurn, type Stage, through } from '../text/live.ts';
import { inSteps, type TextPiece } from '../text/piece.ts';
import { openCharacters } from './characters.ts';
import type { Reader } from './reading.ts';

/** Text is read as it stands: its empty lines are the borders of its paragraphs. */
export const plain: Reader = {
  name: 'text',
  endings: [],
  async open(source, signal) {
    const characters = await openCharacters(source, signal);
    return {
      source,
      pieces(until, { inFront } = {}) {
        const lines = new Lines(source.name);
        return through(characters(until), inFront ? inTurn(inFront, lines) : lines);
      },
    };
  },
};

class Lines implements Stage<string, TextPiece> {
  readonly #source: string;
  #line = 1;

  constructor(source: string) {
    this.#source = source;
  }

  *push(text: string): Generator<TextPiece> {
    yield* inSteps(text, { source: this.#source, line: this.#line });
    this.#line += countLineBreaks(text);
  }

  end(): readonly TextPiece[] {
    return [];
  }
}
