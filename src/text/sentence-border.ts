import { beforeNumber, neverLast, ORDINAL_CONTEXT, openers, sometimesLast } from './abbreviations.ts';
import { EXTENDER } from './extender.ts';
import { late } from './late.ts';

/** How far the rules look to both sides of a border, in UTF-16 units. */
const SIGHT = 80;
const CLOSERS = `["'”’»›)\\]\\p{Pe}\\p{Pf}\\p{Pi}]`;

/**
 * Whether a sentence ends at a border that the Unicode rules found: not after abbreviations, initials, ordinals and
 * the numbers of a list, nor inside of addresses, nor between direct speech and its "he said".
 * @param text with spaces for its line breaks
 * @param start where the line begins that the border is in; wrapped lines are one
 */
export function isSentenceBorder(text: string, at: number, start: number): boolean {
  const before = text.slice(Math.max(start, at - SIGHT), at);
  const after = text.slice(at, at + SIGHT);
  if (insideCluster().test(after)) return false;
  if (!/\s$/u.test(before)) return endsWithoutSpace().test(before);
  return !(isListNumber(text, at, start) || isAbbreviation(before, after) || isSpeechGoingOn(before, after));
}

const insideCluster = late(() => new RegExp(`^${EXTENDER}`, 'u'));
/** Only scripts that set no space after a sentence end one there: "。" does, the full stop in "example.com" does not. */
const endsWithoutSpace = late(() => new RegExp(`[^\\p{ASCII}\\s…]${CLOSERS}*$`, 'u'));

const LIST_NUMBER = /^\s*\(?(?:\d{1,3}|[ivxlc]{1,5}|\p{L})[.)]\s*$/iu;

/** "1." at the start of a line belongs to what it counts. */
function isListNumber(text: string, at: number, start: number): boolean {
  return at - start < 12 && LIST_NUMBER.test(text.slice(start, at));
}

function isAbbreviation(before: string, after: string): boolean {
  const token = lastToken(before);
  if (token === undefined) return false;
  if (neverLast().has(token)) return true;
  if (/^\p{N}/u.test(after)) return beforeNumber().has(token);
  if (ORDINAL_CONTEXT.test(before)) return true;
  if (/^\p{L}$/u.test(token) && /^\p{L}\./u.test(after)) return true;
  return (isLetters(before) || sometimesLast().has(token)) && !startsSentence(after);
}

/** The word before a full stop and white space, in lower case. */
function lastToken(before: string): string | undefined {
  return /([^\s("'“‘«[\-–—/]+)\.\s+$/u.exec(before)?.[1]?.toLowerCase();
}

/** "J. ", "U.S. ", "z. B. " */
function isLetters(before: string): boolean {
  return /(?:^|[^\p{L}\p{M}\p{N}.])(?:[\p{Lu}\p{Lo}]\p{M}*|(?:\p{L}\.)+\p{L}|\p{L}\.\s\p{L})\.\s+$/u.test(
    before,
  );
}

function startsSentence(after: string): boolean {
  const first = /^["'“‘«(]*(\p{Lu}\p{L}*)(?=[\s,’'])/u.exec(after)?.[1];
  return first !== undefined && openers().has(first.toLowerCase());
}

const endsSpeech = late(() => new RegExp(`${CLOSERS}\\s+$`, 'u'));

/** "What?" he asked. — Стой! — крикнул он. */
function isSpeechGoingOn(before: string, after: string): boolean {
  return /^[-–—]\s+\p{Ll}/u.test(after) || (/^\p{Ll}/u.test(after) && endsSpeech().test(before));
}

const terminated = late(() => new RegExp(`[\\p{Sentence_Terminal}…]${CLOSERS}*$`, 'u'));

/** Whether a text ends with the end of a sentence, as far as can be told without the text that follows. */
export function endsLikeSentence(sentence: string): boolean {
  return terminated().test(sentence) && !neverLast().has(lastToken(`${sentence.slice(-SIGHT)} `) ?? '');
}

/** Whether a line is a sentence of its own, or the end of one, whatever letter the next line begins with. */
export function isFullLine(line: string, next: string): boolean {
  if (!endsLikeSentence(line) || LIST_NUMBER.test(line)) return false;
  return !isAbbreviation(`${line.slice(-SIGHT)} `, next.slice(0, SIGHT));
}
