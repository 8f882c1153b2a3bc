import type { Stage } from '../live.ts';
import type { Piece } from '../piece.ts';
import { Position } from '../position.ts';
import type { Lexicon } from './lexicon.ts';
import { PatternReplacer } from './patterns.ts';
import { type WordTree, wholeLength } from './words.ts';

/** UTF-16 units. */
const LONGEST_PARAGRAPH = 8192;
/** UTF-16 units. */
const CONTEXT = 2;

/**
 * Replaces words by how they are spoken. The result does not depend on the pieces. Words hold back 200 UTF-16 units at most,
 * regular expressions one paragraph.
 * @throws TtsError (usage) for a slow regular expression
 */
export class Replacing implements Stage<Piece, Piece> {
  readonly #stream: WordStream | ParagraphStream;
  readonly #position = new Position();

  constructor(lexicon: Lexicon) {
    this.#stream = lexicon.patterns.length > 0 ? new ParagraphStream(lexicon) : new WordStream(lexicon.words);
  }

  *push(piece: Piece): Generator<Piece> {
    if (piece.kind === 'text') {
      this.#position.add(piece.text, piece.place);
      yield* this.#placed(this.#stream.push(piece.text));
    } else {
      yield* this.end();
      yield piece;
    }
  }

  *end(): Generator<Piece> {
    yield* this.#placed(this.#stream.end());
  }

  *#placed(all: Iterable<Replaced>): Generator<Piece> {
    for (const { written, spoken } of all) {
      const { place } = this.#position;
      this.#position.pass(written);
      if (spoken !== '') yield { kind: 'text', text: spoken, place };
    }
  }
}

interface Replaced {
  readonly written: string;
  readonly spoken: string;
}

class WordStream {
  readonly #words: WordTree;
  #text = '';
  #start = 0;

  constructor(words: WordTree) {
    this.#words = words;
  }

  *push(text: string): Generator<Replaced> {
    this.#text += text;
    yield* this.#replace(false);
  }

  /** What comes next does not touch what came. */
  *end(): Generator<Replaced> {
    yield* this.#replace(true);
    this.#text = '';
    this.#start = 0;
  }

  *#replace(isEnd: boolean): Generator<Replaced> {
    const text = this.#text;
    let start = this.#start;
    let spoken = '';
    let at = start;
    let found = this.#words.find(text, at, isEnd);
    while (typeof found === 'object') {
      spoken += text.slice(at, found.start) + found.spoken;
      if (found.usage) found.usage.isUsed = true;
      const isInOneLine = !text.slice(found.start, found.end).includes('\n');
      at = found.end;
      found = this.#words.find(text, at, isEnd);
      if (isInOneLine) continue;
      yield { written: text.slice(start, at), spoken };
      start = at;
      spoken = '';
    }
    const end = found ?? (isEnd ? text.length : Math.max(at, wholeLength(text)));
    const kept = Math.max(0, end - CONTEXT);
    this.#text = text.slice(kept);
    this.#start = end - kept;
    yield { written: text.slice(start, end), spoken: spoken + text.slice(at, end) };
  }
}

class ParagraphStream {
  readonly #replacer: PatternReplacer;
  #text = '';

  constructor(lexicon: Lexicon) {
    this.#replacer = new PatternReplacer(lexicon);
  }

  *push(text: string): Generator<Replaced> {
    this.#text += text;
    if (text.includes('\n') || this.#text.length >= LONGEST_PARAGRAPH) yield* this.#replace(false);
  }

  *end(): Generator<Replaced> {
    yield* this.#replace(true);
  }

  *#replace(isEnd: boolean): Generator<Replaced> {
    const spaces: string[] = [];
    const paragraphs: string[] = [];
    for (;;) {
      spaces.push(this.#take(spaceInFront(this.#text)));
      const length = this.#text === '' ? undefined : paragraphLength(this.#text, isEnd);
      if (length === undefined) break;
      paragraphs.push(this.#take(length));
    }
    const spoken = paragraphs.length === 0 ? [] : this.#replacer.replace(paragraphs);
    for (const [at, space] of spaces.entries())
      yield { written: space + (paragraphs[at] ?? ''), spoken: space + (spoken[at] ?? '') };
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}

function spaceInFront(text: string): number {
  const first = text.search(/\S/u);
  return first < 0 ? text.length : first;
}

/** Of the first one, or of the longest part that fits; undefined if it may go on. */
function paragraphLength(text: string, isEnd: boolean): number | undefined {
  const fitting = text.slice(0, LONGEST_PARAGRAPH);
  const gap = fitting.search(/\n[^\S\n]*\n/u);
  if (gap >= 0) return fitting.slice(0, gap).trimEnd().length;
  if (text.length >= LONGEST_PARAGRAPH) return lastBorder(fitting);
  return isEnd ? fitting.trimEnd().length : undefined;
}

/** It gives the end of the last whole word, or of the last character where there are no spaces. */
function lastBorder(text: string): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    if (/\s/u.test(text.charAt(at))) return text.slice(0, at).trimEnd().length;
  }
  return wholeLength(text);
}
