import { FIRST_MARK, MARK } from '../text/marks/syntax.ts';

/** UTF-16 units. */
export const SIGHT = 40;

/** Emoji may stand after a sentence. */
const ENDED =
  /[\p{Sentence_Terminal}…]\p{P}*(?:[\s\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f|\u200d)*$/u;
const PAUSES = /[:;,،؛、，；：]$/u;

export function endsSentence(text: string): boolean {
  return ENDED.test(wordsOf(text).slice(-SIGHT));
}

/** For a heading, an item or a row without a sign at its end. Marks stay after the full stop. */
export function withFullStop(text: string): string {
  const words = wordsOf(text);
  if (words === '' || endsSentence(words) || PAUSES.test(words)) return text;
  return words + fullStopAfter(words) + text.slice(words.length);
}

/** It looks at a run of these characters only once. */
const MARKS_AT_END = new RegExp(`(?<![\\s${MARK}])[\\s${MARK}]+$`, 'v');

/** The text without the marks at its end. */
function wordsOf(text: string): string {
  const isMarked = (text.codePointAt(text.length - 2) ?? 0) >= FIRST_MARK;
  return isMarked ? text.replace(MARKS_AT_END, '') : text;
}

function fullStopAfter(text: string): string {
  const letter = text.slice(-SIGHT).match(/\p{L}/gu)?.at(-1) ?? '';
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(letter)) return '。';
  return /[\p{sc=Devanagari}\p{sc=Bengali}]/u.test(letter) ? '।' : '.';
}
