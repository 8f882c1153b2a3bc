/** Cuts text into passages that a built-in voice speaks in one task. */
import { yieldToEventLoop } from '../kit/wait.ts';
import { sentences } from '../text/sentences.ts';
import { segmenters } from '../text/unicode.ts';

export interface Passage {
  readonly text: string;
  /** The border at its end, which determines the pause. */
  readonly end: 'clause' | 'sentence' | 'paragraph';
}

/** Words per passage; a voice takes 0.15 s to speak them. */
const MOST_WORDS = 40;

/** Characters per passage, a limit for texts with few spaces. */
const MOST_CHARACTERS = 400;

/** Seconds of speech per passage, a limit for digits and addresses, which take long to say. */
const MOST_SECONDS = 20;

/** Words after which the first passage may end with a clause, so that the sound starts soon. */
const FIRST_WORDS = 12;

/** Words that a passage needs to end with a clause. */
const FEWEST_WORDS = 2;

/** The pieces in which longer paragraphs are read. */
const PIECE = /.{1,20000}(?:\s|$)|.{1,20000}/gsu;

/** Characters after which the event loop runs, so that other requests get their turn. */
const STEP_CHARACTERS = 2000;

/**
 * Cuts a text into passages lazily; each takes milliseconds to find.
 * @param normalise as in `TaskMaker`
 */
export async function* passages(
  text: string,
  normalise: (sentence: string) => string,
  signal: AbortSignal,
): AsyncGenerator<Passage, void, undefined> {
  let isFirst = true;
  let worked = 0;
  for (const { piece, end } of piecesOf(text)) {
    let last = '';
    for (const sentence of sentences(piece)) {
      const spoken = normalise(sentence);
      if (spoken && last) {
        yield* clauses(last, isFirst, 'sentence');
        isFirst = false;
      }
      if (spoken) last = spoken;
      worked += sentence.length;
      if (worked < STEP_CHARACTERS) continue;
      worked = 0;
      await yieldToEventLoop();
      signal.throwIfAborted();
    }
    if (!last) continue;
    yield* clauses(last, isFirst, end);
    isFirst = false;
  }
}

function* piecesOf(text: string): Generator<{ piece: string; end: Passage['end'] }> {
  const paragraphs = text.trim().split(/\n\s*\n/u);
  for (const [number, paragraph] of paragraphs.entries()) {
    const parts = paragraph.match(PIECE) ?? [];
    for (const [index, piece] of parts.entries()) {
      const endsParagraph = index === parts.length - 1 && number < paragraphs.length - 1;
      yield { piece, end: endsParagraph ? 'paragraph' : 'sentence' };
    }
  }
}

function* clauses(sentence: string, isFirst: boolean, end: Passage['end']): Generator<Passage> {
  const words = cutWords(sentence);
  let isEarly = isFirst && words.length > FIRST_WORDS;
  for (let start = 0; start < words.length; ) {
    const next = words.slice(start, start + MOST_WORDS + 1);
    const most = fittingWords(next);
    const count = (isEarly && firstWords(next, most)) || most;
    start += count;
    yield { text: next.slice(0, count).join(' '), end: start < words.length ? 'clause' : end };
    isEarly = false;
  }
}

/** The words of a short first passage. It ends with a clause, since Flite lowers its voice at the end of a passage. */
function firstWords(words: readonly string[], most: number): number | undefined {
  const soon = clauseWithin(words, Math.min(most, FIRST_WORDS));
  if (soon !== undefined) return soon;
  const later = words.findIndex(endsClause) + 1;
  return later > FIRST_WORDS && later <= (most * 2) / 3 ? later : undefined;
}

function fittingWords(words: readonly string[]): number {
  let characters = 0;
  let seconds = 0;
  const limit = words.findIndex((word, index) => {
    characters += word.length + 1;
    seconds += spokenSeconds(word);
    return index === MOST_WORDS || characters > MOST_CHARACTERS || seconds > MOST_SECONDS;
  });
  if (limit < 0) return words.length;
  const clause = clauseWithin(words, limit) ?? 0;
  return clause >= limit / 2 ? clause : Math.max(1, limit);
}

function clauseWithin(words: readonly string[], limit: number): number | undefined {
  const index = words.slice(0, limit).findLastIndex(endsClause);
  return index + 1 >= FEWEST_WORDS ? index + 1 : undefined;
}

function endsClause(word: string): boolean {
  return /[,;:)\]—、，；：]["'”’]?$/u.test(word);
}

/** The longest word in UTF-16 units. Flite takes quadratic time for a word: 15 s for 5,000 letters. */
const LONGEST_WORD = 60;

/** Parts of a word for Intl.Segmenter, which takes quadratic time in V8 12 and earlier. */
const WINDOW = /.{1,500}/gsu;

/** Splits text at white space, and long words into pieces. */
function cutWords(text: string): string[] {
  const whole = text.split(/\s+/u).filter(Boolean);
  const short = whole.flatMap((word) => (word.length <= LONGEST_WORD ? [word] : cut(word)));
  return short.flatMap(halved);
}

function halved(word: string): string[] {
  if (spokenSeconds(word) <= MOST_SECONDS) return [word];
  const characters = [...word];
  const middle = characters.length >> 1;
  const halves = [characters.slice(0, middle), characters.slice(middle)];
  return halves.flatMap((half) => halved(half.join('')));
}

function cut(word: string): string[] {
  const windows = word.match(WINDOW) ?? [];
  return windows.flatMap((window) => pack(wordPieces(window, segmenters.word()).flatMap(shortened)));
}

function shortened(word: string): string[] {
  return word.length <= LONGEST_WORD ? [word] : wordPieces(word, segmenters.grapheme());
}

function wordPieces(text: string, segmenter: Intl.Segmenter): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Joins pieces of a word, up to the longest length. */
function pack(pieces: readonly string[]): string[] {
  const packed: string[] = [];
  let last = '';
  for (const piece of pieces) {
    if (last && last.length + piece.length > LONGEST_WORD) {
      packed.push(last);
      last = '';
    }
    last += piece;
  }
  return [...packed, last];
}

/** Seconds to say a word. */
const WORD_SECONDS = 0.3;

/** Seconds to spell a letter; a W counts twice. */
const LETTER_SECONDS = 0.25;

/** Seconds per character that matches, in addition to words. Measured with the voice `rms`. */
const SYMBOL_SECONDS: readonly (readonly [pattern: RegExp, seconds: number])[] = [
  [/\d/gu, 0.5],
  [/[#$%&*+/=@\\^_|~]/gu, 0.6],
  [/[aeiouy]{4,}/giu, 0.15],
];

const LETTERS = /[a-z]+/giu;

/** Words that begin and end as English ones do; Flite spells all others. */
const READABLE =
  /^s?[bcdfghjklmnpqrtvwxz]?h?[lmnrsw]?[aeiouy](?:.*[aeiouy])?[cdfghlmnrstw]?[bcdfghklmnprstvwxz]?[hklstz]{0,2}s?$/iu;

/** A rough estimate of the duration: digits, symbols and spelled letters take up to ten times as long as prose. */
function spokenSeconds(text: string): number {
  const words = (text.match(LETTERS) ?? []).reduce((sum, letters) => sum + letterSeconds(letters), 0);
  return SYMBOL_SECONDS.reduce((sum, [pattern, seconds]) => sum + seconds * count(text, pattern), words);
}

function letterSeconds(letters: string): number {
  return READABLE.test(letters) ? WORD_SECONDS : LETTER_SECONDS * (letters.length + count(letters, /w/giu));
}

function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).join('').length;
}
