import { inSteps, labelOf, PARAGRAPH_END, type Piece } from '../text/piece.ts';
import { behind, inTurn, type Stage, through } from '../text/stage.ts';
import { countLineBreaks } from '../text/unicode.ts';
import { decode } from './decode.ts';
import type { TextFacts } from './prose-facts.ts';
import type { PlainOptions, Reader, Reading, Source } from './reading.ts';
import { openCharacters } from './source.ts';

/** Reads plain text like a book: empty lines separate paragraphs. */
export async function openPlain(
  source: Source,
  options: PlainOptions,
  signal: AbortSignal,
): Promise<Reading> {
  const { name, words, again } = source;
  if (words !== undefined && isAsSpoken(words)) {
    const characters = await openCharacters(source, signal);
    return readingOf(source, characters, () => new Lines(name));
  }
  const [{ prose }, { TextFacts }, { ContentsLines }, { plainBook }, { PageChapters }] = await Promise.all([
    import('./prose.ts'),
    import('./prose-facts.ts'),
    import('./contents-lines.ts'),
    import('./gutenberg.ts'),
    import('../text/chapters.ts'),
  ]);
  const known = new TextFacts();
  const characters = await openCharacters(source, signal, (text) => known.see(text));
  known.finish();
  if (again && known.hasDividedWords)
    for await (const text of decode(again(signal), labelOf(name))) known.countWords(text);
  const { hasChapters, readsAll } = options;
  return readingOf(source, characters, (onRemark) => {
    const facts = again ? known : new TextFacts();
    const lines = inTurn(prose(facts, options), new Lines(name));
    const book = readsAll
      ? lines
      : inTurn(new ContentsLines(onRemark), inTurn(lines, plainBook(onRemark, options)));
    const reading = hasChapters ? inTurn(book, new PageChapters(facts)) : book;
    return again ? reading : inTurn(factsStage(facts), reading);
  });
}

function readingOf(
  source: Source,
  characters: Awaited<ReturnType<typeof openCharacters>>,
  stageOf: (onRemark: (remark: string) => void) => Stage<string, Piece>,
): Reading {
  return {
    source,
    pieces: (until, { filter, onRemark = () => {} } = {}) =>
      through(characters(until), behind(filter, stageOf(onRemark))),
  };
}

/** Reads plain text without chapters, and keeps Project Gutenberg's licence. */
export const plain: Reader = (source, signal) =>
  openPlain(source, { readsAll: false, hasChapters: false, readsNotes: false }, signal);

/** Signs without which a text is one piece as it stands. */
const SIGNS = /[_\f\n\u2029]|--|\[|^\s*(?:The )?Project Gutenberg/u;

/** True for text that needs no rules, such as most words on a command line. */
export function isAsSpoken(text: string): boolean {
  return !SIGNS.test(text);
}

/** Returns a stage that gathers facts about a text that can be read only once. */
function factsStage(facts: TextFacts): Stage<string, string> {
  return {
    push(text) {
      facts.see(text);
      facts.countWords(text);
      return [text];
    },
    end: () => [],
  };
}

/** A line that marks a change of scene: `* * *`, `---` or `⁂`. */
const SCENE = /^[^\S\n\r\u2028\u2029]*(?:([*-])(?:[^\S\n]*\1){2,}|⁂(?:[^\S\n]*⁂)*)[^\S\n]*$/gmu;
const MAYBE_SCENE = /^[*⁂\s-]+$/u;
/** UTF-16 units. A longer line is text. */
const LONGEST_SCENE = 1000;

export function hasScene(text: string): boolean {
  return text.search(SCENE) >= 0;
}

export class Lines implements Stage<string, Piece> {
  readonly #source: string;
  #line = 1;
  /** The last line so far, if it may become a scene change. */
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

  *#text(text: string): Generator<Piece> {
    for (const [number, paragraph] of text.split(PARAGRAPH_END).entries()) {
      if (number > 0) yield { kind: 'paragraph' };
      yield* inSteps(paragraph, { source: this.#source, line: this.#line });
      this.#line += countLineBreaks(paragraph);
    }
  }
}
