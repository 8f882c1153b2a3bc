import { createContext, Script } from 'node:vm';
import { type CutOptions as AllOptions, Cutter } from '../../../src/text/cut.ts';
import { type Piece, type TextPiece, writtenOf } from '../../../src/text/piece.ts';
import type { Limit, Segment, Silence } from '../../../src/text/segment.ts';
import { type Stage, through, whileArriving } from '../../../src/text/stage.ts';

/** A text in pieces, as it comes from a file or a pipe; of one size, or of each of some sizes in turn. */
export async function* inPieces(text: string, ...sizes: readonly number[]): AsyncGenerator<string> {
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield text.slice(at, at + size);
    at += size;
  }
}

export interface CutOptions extends Omit<AllOptions, 'voice'>, Limit {}

/** What tests of plain text look at. */
export interface Cut {
  readonly text: string;
  readonly line: number | undefined;
  readonly startsParagraph: boolean;
  readonly index: number;
}

function cutterOf({ maxChars, ...options }: CutOptions): Cutter {
  return new Cutter({ voice: { maxChars }, ...options });
}

/** The segments of a text that is all there. */
export function segments(text: AsyncIterable<string>, options: CutOptions): AsyncGenerator<Cut> {
  return cuts(through(pieces(text), cutterOf(options)));
}

/** The segments of a text that may come slowly. */
export function liveSegments(
  text: AsyncIterable<string>,
  options: CutOptions,
  signal: AbortSignal,
): AsyncGenerator<Cut> {
  return cuts(whileArriving(pieces(text), cutterOf(options), signal));
}

function cutOf(item: Segment<Limit> | Silence): Cut {
  if (item.kind === 'silence') throw new Error('a text without pauses has a rest');
  const { written, place, pause, index } = item;
  return { text: written, line: place.line, startsParagraph: pause === 'paragraph', index };
}

async function* cuts(all: AsyncIterable<Segment<Limit> | Silence>): AsyncGenerator<Cut> {
  for await (const item of all) yield cutOf(item);
}

/** No generator stands in between: one that waits for a writer cannot be ended. */
function pieces(text: AsyncIterable<string>): AsyncIterable<Piece<Limit>> {
  return {
    [Symbol.asyncIterator]() {
      const strings = text[Symbol.asyncIterator]();
      const pieceOf = plainPieces();
      return {
        async next() {
          const { done, value } = await strings.next();
          return done ? { done, value: undefined } : { done: false, value: pieceOf(value) };
        },
        async return() {
          await strings.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Makes pieces with their lines of the strings of a text. */
export function plainPieces(): (text: string) => TextPiece {
  let next = 1;
  return (text) => {
    const line = next;
    next += text.split('\n').length - 1;
    return textPiece(text, line);
  };
}

/** What the lexicon or another stage makes of a text. */
export async function* staged(
  text: AsyncIterable<string>,
  stage: Stage<Piece, Piece>,
): AsyncGenerator<string> {
  const pieceOf = plainPieces();
  for await (const string of text) for (const piece of stage.push(pieceOf(string))) yield writtenOf(piece);
  for (const piece of stage.end()) yield writtenOf(piece);
}

/** What a stage makes of all of its items. */
export function passed<In, Out>(stage: Stage<In, Out>, items: readonly NoInfer<In>[]): Out[] {
  return [...items.flatMap((item) => [...stage.push(item)]), ...stage.end()];
}

export function textPiece(text: string, line = 1): TextPiece {
  return { kind: 'text', text, place: { source: '', line } };
}

/** What a reader of characters makes of a text. */
export async function* read(
  text: AsyncIterable<string>,
  stage: Stage<string, Piece>,
): AsyncGenerator<string> {
  for await (const piece of through(text, stage)) yield writtenOf(piece);
}

/**
 * Does work that never waits.
 * @throws Error after so many seconds: a loop without an end would hang the whole run of tests
 */
export function inTime<T>(seconds: number, work: () => T): T {
  let result: T | undefined;
  const context = createContext({
    work: () => {
      result = work();
    },
  });
  new Script('work()').runInContext(context, { timeout: seconds * 1000 });
  return result as T;
}
