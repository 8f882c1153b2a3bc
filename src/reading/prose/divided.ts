import type { TextFacts } from './facts.ts';

/** First parts of compounds that are written with a hyphen. */
const FIRST = /^(?:well|half|self|vice|quasi|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)$/iu;
/** Last parts of such compounds. */
const LAST =
  /^(?:haired|eyed|minded|hearted|headed|handed|faced|looking|tempered|natured|shaped|coloured|colored|known|made|bred|worn)\b/iu;
/** The hyphen of "two- and threefold" belongs to the first word. */
const ALONE = /^(?:and|or|nor|to|und|oder|bis|et|ou|y|o)$/iu;

/**
 * Puts a word together that a line end divides. The words of the text decide; without them, known parts of compounds.
 * @returns the word, or `undefined` if these are two
 */
export function joinedWord(
  first: string,
  second: string,
  facts: Pick<TextFacts, 'countOf' | 'prefersHyphens'>,
): string | undefined {
  if (ALONE.test(second)) return undefined;
  const [one, two] = [first + second, `${first}-${second}`];
  if (/[-‐]/u.test(first) || !/^\p{Ll}/u.test(second)) return two;
  const [asOne, asTwo] = [facts.countOf(one), facts.countOf(two)];
  if (asOne !== asTwo) return asOne > asTwo ? one : two;
  return FIRST.test(first) || LAST.test(second) || facts.prefersHyphens ? two : one;
}
