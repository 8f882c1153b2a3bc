import { setImmediate as turn } from 'node:timers/promises';
import { sentences } from '../../text/sentences.ts';
import { cutWords, spokenSeconds } from './words.ts';

/** What is spoken in one go. */
export interface Segment {
  readonly text: string;
  /** What ends with it. */
  readonly end: 'clause' | 'sentence' | 'paragraph';
}

/** The longest segment, in words: a voice takes some 0.15 s for it. */
const MOST_WORDS = 40;

/** The longest segment in characters, for what has few spaces. */
const MOST_CHARACTERS = 400;

/**
 * The longest segment as it is spoken, in seconds, for what is long when it is read: digits, codes, addresses. A voice
 * takes some 0.2 s for it, in which others have to wait. Forty words of prose are spoken for 12 s.
 */
const MOST_SECONDS = 20;

/** How many words of the first sentence are spoken before the rest of it, where that has a clause to end with. */
const FIRST_WORDS = 12;

/** Fewer words than these are not worth a segment. */
const FEWEST_WORDS = 2;

/** What is looked at in one go: the service would do nothing else while it cuts up a longer paragraph. */
const PIECE = /.{1,20000}(?:\s|$)|.{1,20000}/gsu;

/**
 * Cuts text into segments: sentences, and parts of sentences where these are long.
 *
 * @param normalise brings a sentence into the form that the voice can read; an empty string leaves it out
 */
export async function* segments(
  text: string,
  normalise: (sentence: string) => string,
): AsyncGenerator<Segment, void, undefined> {
  let isFirst = true;
  for (const { piece, end } of pieces(text)) {
    const spoken = sentences(piece).map(normalise).filter(Boolean);
    for (const [index, sentence] of spoken.entries()) {
      yield* clauses(sentence, isFirst, index === spoken.length - 1 ? end : 'sentence');
      isFirst = false;
    }
    await turn(); // a text that nothing is left of is looked at to its end: others have their turn meanwhile
  }
}

/** Paragraphs, or parts of very long ones, and what their last sentence ends. */
function* pieces(text: string): Generator<{ piece: string; end: Segment['end'] }> {
  const paragraphs = text.trim().split(/\n\s*\n/u);
  for (const [number, paragraph] of paragraphs.entries()) {
    const parts = paragraph.match(PIECE) ?? [];
    for (const [index, piece] of parts.entries()) {
      const endsParagraph = index === parts.length - 1 && number < paragraphs.length - 1;
      yield { piece, end: endsParagraph ? 'paragraph' : 'sentence' };
    }
  }
}

function* clauses(sentence: string, isFirst: boolean, end: Segment['end']): Generator<Segment> {
  const words = cutWords(sentence, MOST_SECONDS);
  let isEarly = isFirst && words.length > FIRST_WORDS;
  for (let start = 0; start < words.length; ) {
    const next = words.slice(start, start + MOST_WORDS + 1);
    const most = fitting(next);
    const count = (isEarly && early(next, most)) || most;
    start += count;
    yield { text: next.slice(0, count).join(' '), end: start < words.length ? 'clause' : end };
    isEarly = false;
  }
}

/**
 * The first clauses, if they are worth it, so that the first sound comes early. Only between clauses: Flite lets its
 * voice fall at every end, by up to half an octave, and pauses: where a clause goes on, that is heard.
 */
function early(words: readonly string[], most: number): number | undefined {
  const soon = clauseWithin(words, Math.min(most, FIRST_WORDS));
  if (soon !== undefined) return soon;
  const later = words.findIndex(endsClause) + 1;
  return later > FIRST_WORDS && later <= (most * 2) / 3 ? later : undefined;
}

/** As many words as one segment takes, up to the end of a clause where there is one in the second half. */
function fitting(words: readonly string[]): number {
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

/** @returns the number of words up to the last end of a clause within the limit, if there is one */
function clauseWithin(words: readonly string[], limit: number): number | undefined {
  const index = words.slice(0, limit).findLastIndex(endsClause);
  return index + 1 >= FEWEST_WORDS ? index + 1 : undefined;
}

function endsClause(word: string): boolean {
  return /[,;:)\]—、，；：]["'”’]?$/u.test(word);
}
