import { sentences } from '../../text/sentences.ts';
import { cutWords } from './words.ts';

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

/** How many words of the first sentence may be spoken before the rest of it, so that the first sound comes early. */
const FIRST_WORDS = 12;

/** Fewer words than these are not worth a segment. */
const FEWEST_WORDS = 3;

/**
 * Cuts text into segments: sentences, and parts of sentences where these are long.
 *
 * @param normalise brings a sentence into the form that the voice can read; an empty string leaves it out
 */
export function* segments(text: string, normalise: (sentence: string) => string): Generator<Segment> {
  let isFirst = true;
  const paragraphs = text.trim().split(/\n\s*\n/u);
  for (const [number, paragraph] of paragraphs.entries()) {
    const last = number < paragraphs.length - 1 ? 'paragraph' : 'sentence';
    const spoken = sentences(paragraph).map(normalise).filter(Boolean);
    for (const [index, sentence] of spoken.entries()) {
      const end = index === spoken.length - 1 ? last : 'sentence';
      yield* clauses(sentence, isFirst, end);
      isFirst = false;
    }
  }
}

function* clauses(sentence: string, isFirst: boolean, end: Segment['end']): Generator<Segment> {
  let words = cutWords(sentence);
  let isEarly = isFirst && words.length > FIRST_WORDS;
  while (words.length > 0) {
    const most = fitting(words);
    const count = (isEarly && clauseWithin(words, Math.min(most, FIRST_WORDS))) || most;
    yield { text: words.slice(0, count).join(' '), end: count < words.length ? 'clause' : end };
    words = words.slice(count);
    isEarly = false;
  }
}

/** As many words as one segment takes, up to the end of a clause where there is one in the second half. */
function fitting(words: readonly string[]): number {
  let characters = 0;
  const limit = words.findIndex((word, index) => {
    characters += word.length + 1;
    return index === MOST_WORDS || characters > MOST_CHARACTERS;
  });
  if (limit < 0) return words.length;
  const clause = clauseWithin(words, limit) ?? 0;
  return clause >= limit / 2 ? clause : Math.max(1, limit);
}

/** @returns the number of words up to the last end of a clause within the limit, if there is one */
function clauseWithin(words: readonly string[], limit: number): number | undefined {
  const index = words.slice(0, limit).findLastIndex((word) => /[,;:)\]—、，；：]["'”’]?$/u.test(word));
  return index + 1 >= FEWEST_WORDS ? index + 1 : undefined;
}
