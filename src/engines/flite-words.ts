/** Times of words from the phones of Flite, which reports when each phone ends, but not which word it belongs to. */

export interface Phone {
  readonly name: string;
  /** Seconds from the start of the sound. */
  readonly end: number;
}

/** A word as it was sent to the voice, with its start and end in seconds. */
export interface SpokenWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Flite's name for silence. */
const PAUSE = 'pau';

/** @param printed the output of `-psdur`, as `pau:0.119 hh:0.212` */
export function phonesOf(printed: string): readonly Phone[] {
  return [...printed.matchAll(/([a-z]+\d?):(\d+\.\d+)/gu)].map(([, name = '', end]) => ({
    name,
    end: Number(end),
  }));
}

/**
 * Assigns the phones of a text to its words, by comparison with each word spoken alone, whose phones are nearly the same.
 * @param alone returns the phones of a word that is spoken by itself
 */
export function spokenWords(
  text: string,
  phones: readonly Phone[],
  alone: (word: string) => readonly Phone[],
): readonly SpokenWord[] {
  const sounds = phones
    .map(({ name, end }, at) => ({ name, end, start: phones[at - 1]?.end ?? 0 }))
    .filter(({ name }) => name !== PAUSE);
  const words = text.split(' ').filter((word) => word !== '');
  const expected = words.flatMap((word, number) =>
    alone(word).flatMap(({ name }) => (name === PAUSE ? [] : [{ name, number }])),
  );
  const numbers = matched(
    expected,
    sounds.map(({ name }) => name),
  );
  const spoken = words.map((word) => ({ text: word, start: Infinity, end: -Infinity }));
  for (const [at, { start, end }] of sounds.entries()) {
    const word = spoken[numbers[at] ?? 0];
    if (!word) continue;
    word.start = Math.min(word.start, start);
    word.end = Math.max(word.end, end);
  }
  let last = sounds[0]?.start ?? 0;
  for (const word of spoken) {
    // A word without a phone has no length.
    if (word.start > word.end) word.start = word.end = last;
    last = word.end;
  }
  return spoken;
}

const VOWEL = /^[aeiou]/u;

/** The cost of replacing one phone by another; inserting and removing cost 1. */
function difference(one: string, other: string): number {
  if (one === other) return 0;
  return VOWEL.test(one) === VOWEL.test(other) ? 0.6 : 1.6;
}

/**
 * Finds the cheapest edit from the expected phones to the spoken ones (Wagner and Fischer).
 * @returns the word number of each spoken phone; one that was not expected belongs to the word before it
 */
function matched(
  expected: readonly { readonly name: string; readonly number: number }[],
  spoken: readonly string[],
): readonly number[] {
  const width = spoken.length + 1;
  const costs = new Float64Array((expected.length + 1) * width);
  /** The cost of editing the first `row` expected phones into the first `column` spoken ones. */
  const cost = (row: number, column: number) => costs[row * width + column] ?? 0;
  /** That cost if the last phone of the one is replaced by the last of the other. */
  const replacing = (row: number, column: number) =>
    cost(row - 1, column - 1) + difference(expected[row - 1]?.name ?? '', spoken[column - 1] ?? '');
  for (let row = 0; row <= expected.length; row += 1)
    for (let column = 0; column < width; column += 1)
      costs[row * width + column] =
        row === 0 || column === 0
          ? row + column
          : Math.min(replacing(row, column), cost(row - 1, column) + 1, cost(row, column - 1) + 1);
  const numbers: number[] = [];
  let row = expected.length;
  for (let column = spoken.length; column > 0; ) {
    if (row > 0 && cost(row, column) === cost(row - 1, column) + 1) {
      row -= 1;
      continue;
    }
    numbers[column - 1] = expected[Math.max(0, row - 1)]?.number ?? 0;
    if (row > 0 && cost(row, column) === replacing(row, column)) row -= 1;
    column -= 1;
  }
  return numbers;
}
