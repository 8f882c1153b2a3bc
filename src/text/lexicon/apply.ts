import type { Lexicon } from './lexicon.ts';
import { PatternReplacer } from './patterns.ts';
import { type WordTree, wholeLength } from './words.ts';

/** UTF-16 units. */
const LONGEST_PARAGRAPH = 8192;
/** UTF-16 units. */
const CONTEXT = 2;

/**
 * The result does not depend on the pieces. Words hold back 200 UTF-16 units at most, regular expressions one paragraph.
 * @throws TtsError (usage) for a slow regular expression
 */
export async function* applyLexicon(lexicon: Lexicon, text: AsyncIterable<string>): AsyncGenerator<string> {
  const stream = lexicon.patterns.length > 0 ? new ParagraphStream(lexicon) : new WordStream(lexicon.words);
  for await (const piece of text) {
    const spoken = stream.push(piece);
    if (spoken !== '') yield spoken;
  }
  const rest = stream.end();
  if (rest !== '') yield rest;
}

class WordStream {
  readonly #words: WordTree;
  #text = '';
  #start = 0;

  constructor(words: WordTree) {
    this.#words = words;
  }

  push(piece: string): string {
    this.#text += piece;
    return this.#replace(false);
  }

  end(): string {
    return this.#replace(true);
  }

  #replace(isEnd: boolean): string {
    const text = this.#text;
    let spoken = '';
    let at = this.#start;
    let found = this.#words.find(text, at, isEnd);
    while (typeof found === 'object') {
      spoken += text.slice(at, found.start) + found.spoken;
      at = found.end;
      found = this.#words.find(text, at, isEnd);
    }
    const end = found ?? (isEnd ? text.length : Math.max(at, wholeLength(text)));
    const kept = Math.max(0, end - CONTEXT);
    this.#text = text.slice(kept);
    this.#start = end - kept;
    return spoken + text.slice(at, end);
  }
}

class ParagraphStream {
  readonly #replacer: PatternReplacer;
  #text = '';

  constructor(lexicon: Lexicon) {
    this.#replacer = new PatternReplacer(lexicon);
  }

  push(piece: string): string {
    this.#text += piece;
    const mayEnd = piece.includes('\n') || this.#text.length >= LONGEST_PARAGRAPH;
    return mayEnd ? this.#replace(false) : '';
  }

  end(): string {
    return this.#replace(true);
  }

  #replace(isEnd: boolean): string {
    const spaces: string[] = [];
    const paragraphs: string[] = [];
    for (;;) {
      spaces.push(this.#take(spaceInFront(this.#text)));
      const length = this.#text === '' ? undefined : paragraphLength(this.#text, isEnd);
      if (length === undefined) break;
      paragraphs.push(this.#take(length));
    }
    const spoken = paragraphs.length === 0 ? [] : this.#replacer.replace(paragraphs);
    return spaces.map((space, at) => space + (spoken[at] ?? '')).join('');
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

/** Of the last whole word; without spaces, of the last character. */
function lastBorder(text: string): number {
  for (let at = text.length - 1; at > 0; at -= 1) {
    if (/\s/u.test(text.charAt(at))) return text.slice(0, at).trimEnd().length;
  }
  return wholeLength(text);
}
