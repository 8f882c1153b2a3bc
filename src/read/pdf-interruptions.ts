/** Finds running heads and feet that `pdftotext` writes between the columns of a page, in the middle of its text. */
import { FEWEST_PAGES, isPageNumber, keyOfLine, TWO_PAGES } from './prose-facts.ts';

/** The share of the pages on which a running line occurs: left and right pages may differ. */
const SHARE = 0.4;
const GOES_ON = /[\p{Ll},;-]$/u;
const CONTINUES = /^["'“‘(]?\p{Ll}/u;

/**
 * Leaves out lines that occur once on many pages, and on one of them inside a sentence. The heading of a part that each
 * page has, such as "Ingredients", interrupts no sentence.
 */
export function withoutInterruptions(text: string): string {
  const pages = text.split('\f').map((page) => page.split('\n'));
  const repeated = repeatedIn(pages);
  if (repeated.size === 0) return text;
  const gaps = pages.map((page) => [...gapsIn(page, repeated)]);
  const interrupting = new Set(gaps.flat().flatMap(({ keys, isInSentence }) => (isInSentence ? keys : [])));
  return pages
    .map((page, at) => {
      const lines: (string | undefined)[] = [...page];
      for (const { start, end, keys, isInSentence } of gaps[at] ?? [])
        if (keys.every((key) => interrupting.has(key)))
          lines.fill(undefined, start, end).splice(start, 1, isInSentence ? undefined : '');
      return lines.filter((line) => line !== undefined).join('\n');
    })
    .join('\f');
}

function repeatedIn(pages: readonly (readonly string[])[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const page of pages) for (const key of singleKeysOf(page)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const written = pages.filter((page) => page.some((line) => line.trim() !== '')).length;
  const fewest = written === TWO_PAGES ? TWO_PAGES : Math.max(FEWEST_PAGES, SHARE * written);
  return new Set([...counts].filter(([, count]) => count >= fewest).map(([key]) => key));
}

/** Returns the keys of lines that occur once on a page. */
function singleKeysOf(page: readonly string[]): ReadonlySet<string> {
  const [once, all] = [new Set<string>(), new Set<string>()];
  for (const line of page) {
    const key = keyOfLine(line);
    if (all.has(key)) once.delete(key);
    else if (key !== '') once.add(key);
    all.add(key);
  }
  return once;
}

interface Gap {
  readonly start: number;
  readonly end: number;
  readonly keys: readonly string[];
  /** True between two parts of a sentence. */
  readonly isInSentence: boolean;
}

/** Yields the repeated lines between two lines of text, with the empty lines around them. */
function* gapsIn(page: readonly string[], repeated: ReadonlySet<string>): Generator<Gap> {
  const single = singleKeysOf(page);
  let before = -1;
  let keys: string[] = [];
  for (const [at, line] of page.entries()) {
    const key = keyOfLine(line);
    if (line.trim() === '' || isPageNumber(line)) continue;
    if (repeated.has(key) && single.has(key)) {
      keys.push(key);
      continue;
    }
    if (keys.length > 0 && before >= 0) {
      const isInSentence = GOES_ON.test((page[before] ?? '').trimEnd()) && CONTINUES.test(line.trimStart());
      yield { start: before + 1, end: at, keys, isInSentence };
    }
    keys = [];
    before = at;
  }
}
