import { EXTENDER } from './extender.ts';
import { hasWord } from './has-word.ts';
import { late } from './late.ts';

const blankLine = late(() => new RegExp(`\\n[^\\S\\n]*\\n\\s*(?!${EXTENDER})`, 'gu'));
const spaceWithMark = late(() => new RegExp(`^[^\\n\\r]${EXTENDER}`, 'u'));

/**
 * Where the second paragraph of a text begins, or undefined if it is not there yet. A paragraph ends at an empty
 * line (which may hold spaces); one without a letter or digit ("* * *") counts as part of its neighbour, since
 * there is nothing in it to say. What comes behind the offset changes nothing about it.
 */
export function secondParagraph(text: string): number | undefined {
  let start = 0;
  let isFound = false;
  for (const { 0: gap, index } of text.matchAll(blankLine())) {
    const isSpoken = hasWord(text.slice(start, index));
    if (isSpoken && isFound) return start;
    isFound ||= isSpoken;
    start = index + gap.length;
  }
  return isFound && hasWord(text.slice(start)) && start > 0 ? start : undefined;
}

/**
 * The length of the white space before the first character, or undefined while there is none. A space that
 * carries a combining mark is a character.
 */
export function leadingSpace(text: string): number | undefined {
  const first = text.search(/\S/u);
  if (first < 0) return undefined;
  const carriesMark = first > 0 && spaceWithMark().test(text.slice(first - 1, first + 2));
  return carriesMark ? first - 1 : first;
}

export function countLineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
