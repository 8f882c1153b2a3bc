import { yieldToEventLoop } from '../kit/wait.ts';
import { sentences } from '../text/sentences.ts';
import { segmenterOf } from '../text/unicode.ts';

export interface Passage {
  readonly text: string;
  readonly end: 'clause' | 'sentence' | 'paragraph';
}

/** A voice takes 0.15 s for so many words. */
const MOST_WORDS = 40;

/** This limit is for texts with few spaces. */
const MOST_CHARACTERS = 400;

/** This is time of speech: digits and addresses take long to say. */
const MOST_SECONDS = 20;

/** The first passage may have so few words if a clause ends there. */
const FIRST_WORDS = 12;

const FEWEST_WORDS = 2;

/** Longer paragraphs are taken in such pieces. */
const PIECE = /.{1,20000}(?:\s|$)|.{1,20000}/gsu;

/** Other requests get their turn after this number. */
const STEP_CHARACTERS = 2000;

/**
 * Finding the next passage takes milliseconds.
 * @param normalise as in `Recipe`
 */
export async function* passages(
  text: string,
  normalise: (sentence: string) => string,
  signal: AbortSignal,
): AsyncGenerator<Passage, void, undefined> {
  let isFirst = true;
  let worked = 0;
  for (const { piece, end } of passagesOf(text)) {
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

function* passagesOf(text: string): Generator<{ piece: string; end: Passage['end'] }> {
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
  const words = cutWords(sentence, MOST_SECONDS);
  let isEarly = isFirst && words.length > FIRST_WORDS;
  for (let start = 0; start < words.length; ) {
    const next = words.slice(start, start + MOST_WORDS + 1);
    const most = fittingWords(next);
    const count = (isEarly && early(next, most)) || most;
    start += count;
    yield { text: next.slice(0, count).join(' '), end: start < words.length ? 'clause' : end };
    isEarly = false;
  }
}

/** For an early sound, at a clause: Flite lowers its voice at each end. */
function early(words: readonly string[], most: number): number | undefined {
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

/** Flite's time is quadratic: 15 s for 5,000 letters. */
const LONGEST = 60;

/** Intl.Segmenter's time is quadratic (V8 12 and before). */
const WINDOW = /.{1,500}/gsu;

const words = segmenterOf('word');
const graphemes = segmenterOf('grapheme');

/**
 * Words stand between white space. Long ones come in pieces.
 * @param mostSeconds the longest time that a piece may take to say
 */
function cutWords(text: string, mostSeconds: number): string[] {
  const whole = text.split(/\s+/u).filter(Boolean);
  const short = whole.flatMap((word) => (word.length <= LONGEST ? [word] : cut(word)));
  return short.flatMap((word) => halved(word, mostSeconds));
}

function halved(word: string, mostSeconds: number): string[] {
  if (spokenSeconds(word) <= mostSeconds) return [word];
  const characters = [...word];
  const middle = characters.length >> 1;
  const halves = [characters.slice(0, middle), characters.slice(middle)];
  return halves.flatMap((half) => halved(half.join(''), mostSeconds));
}

function cut(word: string): string[] {
  const windows = word.match(WINDOW) ?? [];
  return windows.flatMap((window) => pack(wordPieces(window, words()).flatMap(shortened)));
}

function shortened(word: string): string[] {
  return word.length <= LONGEST ? [word] : wordPieces(word, graphemes());
}

function wordPieces(text: string, segmenter: Intl.Segmenter): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function pack(small: readonly string[]): string[] {
  const packed: string[] = [];
  let last = '';
  for (const piece of small) {
    if (last && last.length + piece.length > LONGEST) {
      packed.push(last);
      last = '';
    }
    last += piece;
  }
  return [...packed, last];
}

/** Seconds. */
const WORD = 0.3;

/** Spelled; a W counts twice. */
const LETTER = 0.25;

/** Measured with the voice `rms`. */
const NAMED: readonly (readonly [pattern: RegExp, seconds: number])[] = [
  [/\d/gu, 0.5],
  [/[#$%&*+/=@\\^_|~]/gu, 0.6],
  [/[aeiouy]{4,}/giu, 0.15],
];

const LETTERS = /[a-z]+/giu;

/** Flite spells what does not begin and end as English words do. */
const READABLE =
  /^s?[bcdfghjklmnpqrtvwxz]?h?[lmnrsw]?[aeiouy](?:.*[aeiouy])?[cdfghlmnrstw]?[bcdfghklmnprstvwxz]?[hklstz]{0,2}s?$/iu;

/** Rough: digits, signs and spelled letters take up to ten times as long as prose. */
function spokenSeconds(text: string): number {
  const words = (text.match(LETTERS) ?? []).reduce((sum, letters) => sum + letterSeconds(letters), 0);
  return NAMED.reduce((sum, [pattern, seconds]) => sum + seconds * count(text, pattern), words);
}

function letterSeconds(letters: string): number {
  return READABLE.test(letters) ? WORD : LETTER * (letters.length + count(letters, /w/giu));
}

function count(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).join('').length;
}
