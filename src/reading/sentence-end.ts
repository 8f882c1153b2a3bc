/** UTF-16 units. */
export const SIGHT = 40;

const ENDED = /[\p{Sentence_Terminal}…]\p{P}*$/u;
const PAUSES = /[:;,،؛、，；：]$/u;

export function endsSentence(text: string): boolean {
  return ENDED.test(text.slice(-SIGHT));
}

/** For a heading, an item or a row without a mark at its end. */
export function withFullStop(text: string): string {
  return text === '' || endsSentence(text) || PAUSES.test(text) ? text : text + fullStopAfter(text);
}

function fullStopAfter(text: string): string {
  const letter = text.slice(-SIGHT).match(/\p{L}/gu)?.at(-1) ?? '';
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(letter)) return '。';
  return /[\p{sc=Devanagari}\p{sc=Bengali}]/u.test(letter) ? '।' : '.';
}
