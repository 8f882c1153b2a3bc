import { hasWord, unitsAt } from '../../text/unicode.ts';

/** Stands for what has left of a long paragraph: the parser sees the rest in its place. A noncharacter. */
export const LEFT = '\uFDD0';

/**
 * What is new in a block that was spoken in part before.
 * @param given what was spoken, of this block and perhaps of the next ones. Marks and spaces may differ: a full stop that
 *   closed an item is not in an item that goes on
 */
export function withoutSpoken(
  block: string,
  given: string,
): { readonly rest: string; readonly left: string } {
  if (given === '' && !block.includes(LEFT)) return { rest: block, left: '' };
  const text = block.replaceAll(LEFT, '');
  const start = afterSpace(given, 0);
  if (given.startsWith(text, start)) return { rest: '', left: given.slice(start + text.length) };
  let [at, told] = [0, 0];
  while (told < given.length) {
    const next = afterSpace(text, at);
    told = afterSpace(given, told);
    const [mine, other] = [characterAt(text, next), characterAt(given, told)];
    if (other === '') break;
    if (mine === '') return { rest: '', left: given.slice(told) };
    const isSame = mine === other;
    // A number that was spoken alone may have become the mark of an item.
    const isMark = !isSame && (!hasWord(other) || /\d/u.test(other));
    if (!isMark) at = next + mine.length;
    if (isMark || isSame || hasWord(mine)) told += other.length;
  }
  return { rest: text.slice(at), left: '' };
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/u.test(text.charAt(at))) at += 1;
  return at;
}

function characterAt(text: string, at: number): string {
  return text.slice(at, at + unitsAt(text, at));
}
