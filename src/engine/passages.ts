import { yieldToEventLoop } from '../async.ts';
import { sentences } from '../text/sentences.ts';
import { cutWords, spokenSeconds } from './words.ts';

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
  for (const { piece, end } of pieces(text)) {
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

function* pieces(text: string): Generator<{ piece: string; end: Passage['end'] }> {
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
