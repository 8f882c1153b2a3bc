import { usageError } from '../kit/error.ts';
import { inSteps, type Piece, type Place } from '../text/piece.ts';
import { behind, type Stage, through, WAITS } from '../text/stage.ts';
import { countLineBreaks, hasWord } from '../text/unicode.ts';
import { type SpokenBlock, spokenBlocks } from './markdown-blocks.ts';
import { type FrontMatter, frontMatterOf } from './markdown-notes.ts';
import { type Definitions, MarkdownDocument } from './markdown-parser.ts';
import { EMITTED, settledPart } from './markdown-settled.ts';
import type { MarkdownOptions, PieceOptions, Reading, Source } from './reading.ts';
import { openCharacters } from './source.ts';

/**
 * Reads a document as a whole, since its last line may define a link. A live document is emitted as far as it is settled.
 * @throws TtsError (usage) for what is not text
 */
export async function openMarkdown(
  source: Source,
  options: MarkdownOptions,
  signal: AbortSignal,
): Promise<Reading> {
  const characters = await openCharacters(source, signal);
  const stageOf = (filter: PieceOptions['filter']) =>
    behind(filter, new GrowingMarkdown(options, source.name));
  return {
    source,
    pieces: (until, { filter } = {}) => through(characters(until), stageOf(filter)),
    live: (until, { filter } = {}) => ({ characters: characters(until), stage: stageOf(filter) }),
  };
}

/** UTF-16 units not emitted yet; each takes 15 to 350 bytes of memory. */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/** UTF-16 units. A longer text is only parsed again when it has grown by the factor GROWTH. */
const QUICKLY_PARSED = 32_768;
const GROWTH = 2;

/** The beginning of a document whose second line may make it front matter. */
const FRONT_MATTER = /^(?:-{1,3}|\+{1,3})[ \t]*(?:\n[^\n]*)?$/u;

/**
 * Emits words once nothing that follows can change them; later stages decide where sentences end. Only the unfinished
 * block is kept, and is parsed again when it has grown. What follows can change emitted text only by defining a link or,
 * after a wait, by continuing it.
 */
export class GrowingMarkdown implements Stage<string, Piece> {
  readonly #options: MarkdownOptions;
  readonly #source: string;
  readonly #definitions: Definitions = {};
  /** The last block or list item; of a long paragraph, only what was not emitted. */
  #text = '';
  /** The line where the text begins, from 1. */
  #line = 1;
  /** What was emitted of `#text`. */
  #emitted = NOTHING;
  /** The gap that was emitted after the last word. */
  #end: '' | Gap = '';
  /** UTF-16 units of the text when it was last parsed. */
  #parsed = 0;
  #isStart = true;
  #isChanged = false;
  #hasSpoken = false;

  constructor(options: MarkdownOptions, source: string) {
    this.#options = options;
    this.#source = source;
  }

  get isHolding(): boolean {
    return this.#isChanged && /\S/u.test(this.#text);
  }

  /** @throws TtsError (usage) beyond {@link LONGEST_MARKDOWN} */
  push(piece: string): readonly Piece[] {
    this.#text += piece.replaceAll(EMITTED, '').replaceAll('\r', '\n');
    if (piece !== '') this.#isChanged = true;
    if (this.#text.length <= LONGEST_MARKDOWN) return [];
    throw usageError(
      `the Markdown is longer than ${LONGEST_MARKDOWN} characters`,
      'speak it in parts, or as it stands with --format text',
    );
  }

  *flush(idle: number): Generator<Piece> {
    if (!this.#isDue(idle)) return;
    if (this.#isStart) {
      const matter = frontMatterOf(this.#text, false);
      if (!matter || (matter.length === 0 && FRONT_MATTER.test(this.#text))) return;
      yield* this.#begin(matter);
    }
    const text = idle < WAITS.doubtful ? withoutUnclearLine(this.#text) : this.#text;
    const document = new MarkdownDocument(text, this.#definitions);
    const { tokens, isOpen, gap, finished, placeholder } = settledPart(document, idle);
    const blocks = [...spokenBlocks(document, this.#options, tokens, isOpen)];
    yield* this.#emitNew(blocks);
    const now = emittedIn(blocks);
    const isLess =
      now.letters.length < this.#emitted.letters.length && this.#emitted.letters.startsWith(now.letters);
    if (!isLess && this.#hasSpoken) yield* this.#emitGap(gap);
    const most = isLess ? this.#emitted : now;
    const line = countLineBreaks(text.slice(0, finished));
    const gone = emittedIn(placeholder === '' ? blocks.filter((block) => block.line < line) : blocks);
    this.#emitted = {
      ...most,
      letters: most.letters.slice(gone.letters.length),
      wordless: most.wordless - gone.wordless,
    };
    this.#dropText(finished, placeholder);
    this.#parsed = this.#text.length;
    if (idle >= WAITS.doubtful) this.#isChanged = false;
  }

  *end(): Generator<Piece> {
    const matter = this.#isStart ? frontMatterOf(this.#text, true) : undefined;
    if (matter) yield* this.#begin(matter);
    yield* this.#emitNew(spokenBlocks(new MarkdownDocument(this.#text, this.#definitions), this.#options));
    this.#dropText(this.#text.length);
    this.#emitted = NOTHING;
  }

  /** Skips front matter. Its title becomes a chapter up to the first heading. */
  *#begin({ length, title }: FrontMatter): Generator<Piece> {
    this.#dropText(length);
    if (title !== undefined && this.#options.hasChapters) yield { kind: 'chapter', title, level: 1 };
  }

  #isDue(idle: number): boolean {
    const { length } = this.#text;
    const isQuick = length <= QUICKLY_PARSED;
    return length > this.#parsed * (isQuick ? 1 : GROWTH) || (isQuick && idle >= WAITS.sentence);
  }

  /** Emits what is new in the blocks. */
  *#emitNew(blocks: Iterable<SpokenBlock>): Generator<Piece> {
    let { letters, wordless } = this.#emitted;
    for (const block of blocks) {
      let text = block.text.replaceAll(EMITTED, '');
      let isBegun = block.text.startsWith(EMITTED);
      if (!hasWord(text)) {
        wordless -= 1;
        if (wordless >= 0) continue;
      } else if (letters !== '') {
        isBegun = true;
        const own = lettersIn(text);
        text = restOf(text, letters, this.#emitted.tail);
        letters = letters.startsWith(own) ? letters.slice(own.length) : '';
      }
      if (block.kind === 'scene') yield* this.#scene();
      else if (text !== '') yield* this.#words(text, block, isBegun);
    }
  }

  *#scene(): Generator<Piece> {
    this.#end = '';
    yield { kind: 'scene' };
  }

  /** Emits a heading between two markers. */
  *#words(text: string, { kind, level, line, gap }: SpokenBlock, isBegun: boolean): Generator<Piece> {
    // After a cut, the first block does not know what was before it.
    const isNext = gap === '' && this.#hasSpoken && this.#end === '';
    if (!isBegun) yield* this.#emitGap(isNext ? '\n\n' : gap);
    const words = this.#end === ' ' ? text.replace(/^ /u, '') : this.#end === '' ? text : text.trimStart();
    this.#end = '';
    this.#hasSpoken = true;
    if (kind === 'heading') yield { kind, level };
    yield* inSteps(words, this.#placeOf(this.#line + line));
    if (kind === 'heading') yield { kind, level };
  }

  /** Emits a gap, unless it was already emitted ahead of its block. */
  *#emitGap(gap: Gap): Generator<Piece> {
    if (this.#end.length >= gap.length && (gap !== '\n' || this.#end !== ' ')) return;
    this.#end = gap;
    if (gap === '\n\n') yield { kind: 'paragraph' };
    else yield { kind: 'text', text: gap, place: this.#placeOf(this.#line) };
  }

  /** @param placeholder replaces the removed text */
  #dropText(length: number, placeholder = ''): void {
    this.#line += countLineBreaks(this.#text.slice(0, length));
    this.#text = placeholder + this.#text.slice(length);
    this.#isStart = false;
  }

  #placeOf(line: number): Place {
    return { source: this.#source, line };
  }
}

type Gap = SpokenBlock['gap'];

/** What was emitted of a text: markup and full stops may differ when it is parsed again. */
interface EmittedText {
  /** The letters and digits. */
  readonly letters: string;
  /** The number of blocks without a word, such as scene changes. */
  readonly wordless: number;
  /** The punctuation after the last word. */
  readonly tail: string;
}

const NOTHING: EmittedText = { letters: '', wordless: 0, tail: '' };
const LETTER = /[\p{L}\p{N}]/gu;

function emittedIn(blocks: readonly SpokenBlock[]): EmittedText {
  const spoken = blocks.filter(({ text }) => hasWord(text)).map(({ text }) => text);
  const silent = blocks.filter(({ kind, text }) => !hasWord(text) && (kind === 'scene' || text !== EMITTED));
  return {
    letters: lettersIn(spoken.join('')),
    wordless: silent.length,
    tail: /(?<![^\p{L}\p{N}])[^\p{L}\p{N}]*$/u.exec(spoken.at(-1) ?? '')?.[0] ?? '',
  };
}

function lettersIn(text: string): string {
  return text.match(LETTER)?.join('') ?? '';
}

/**
 * Returns what is new in a block. After a change, as at the end of a link, all text counts as new, so no word is lost.
 * @param emitted letters that were emitted, of this block and perhaps the next ones
 * @param tail the punctuation after them
 */
function restOf(text: string, emitted: string, tail: string): string {
  let [start, at] = [0, 0];
  for (const { 0: letter, index } of text.matchAll(LETTER)) {
    if (at === emitted.length) break;
    if (!emitted.startsWith(letter, at)) return text.slice(start);
    at += letter.length;
    start = index + letter.length;
  }
  if (at < emitted.length) return '';
  const rest = text.slice(start);
  return rest.startsWith(tail) ? rest.slice(tail.length) : rest;
}

/** An incomplete line that may become a list marker, a table border or a heading underline. */
const UNCLEAR_LINE = /^[^\p{L}\uFDD0]{0,12}$/u;

function withoutUnclearLine(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  return UNCLEAR_LINE.test(text.slice(start).trim()) ? text.slice(0, start) : text;
}
