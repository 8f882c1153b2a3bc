import { countLineBreaks } from '../text/lines.ts';
import { inTurn, type Stage, through } from '../text/live.ts';
import { inSteps, type Piece, type TextPiece } from '../text/piece.ts';
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

/** A line that stands for a change of scene: `* * *`, `---` or `⁂`. */
const SCENE = /^[^\S\n]*(?:([*-])(?:[^\S\n]*\1){2,}|⁂(?:[^\S\n]*⁂)*)[^\S\n]*$/gmu;
/** The beginning of such a line. */
const MAYBE_SCENE = /^[*⁂\s-]+$/u;
/** UTF-16 units. A longer line is text. */
const LONGEST_SCENE = 1000;

export function hasScene(text: string): boolean {
  return text.search(SCENE) >= 0;
}

class Lines implements Stage<string, Piece> {
  readonly #source: string;
  #line = 1;
  /** Text of the last line that may become a scene. */
  #held = '';
  #isInLine = false;

  constructor(source: string) {
    this.#source = source;
  }

  *push(text: string): Generator<Piece> {
    const all = this.#held + text;
    this.#held = this.#openScene(all);
    yield* this.#read(all.slice(0, all.length - this.#held.length));
  }

  *end(): Generator<Piece> {
    yield* this.#read(this.#held);
  }

  *#read(text: string): Generator<Piece> {
    let start = 0;
    for (const { 0: line, index } of text.matchAll(SCENE)) {
      if (index === 0 && this.#isInLine) continue;
      yield* this.#text(text.slice(start, index));
      yield { kind: 'scene' };
      start = index + line.length;
    }
    yield* this.#text(text.slice(start));
    if (text !== '') this.#isInLine = !text.endsWith('\n');
  }

  #openScene(text: string): string {
    const tail = text.slice(-LONGEST_SCENE - 1);
    const start = tail.lastIndexOf('\n') + 1;
    const isCut = start === 0 && (tail.length < text.length || this.#isInLine);
    const line = tail.slice(start);
    return !isCut && MAYBE_SCENE.test(line) ? line : '';
  }

  *#text(text: string): Generator<TextPiece> {
    yield* inSteps(text, { source: this.#source, line: this.#line });
    this.#line += countLineBreaks(text);
  }
}
