/** Finds the words that two versions of a text share. */

export interface Token {
  readonly text: string;
  readonly at: number;
}

export interface Match {
  /** The token in what is spoken. */
  readonly spoken: Token;
  /** The same token in what is written. */
  readonly written: Token;
}

/** The cost of a written token that is not spoken, before one that is. */
const GAP = 0.25;
/** The value of a matched sign; a matched word is worth its length. */
const SIGN = 0.4;

/** Spoken tokens that are aligned at once, and written ones: the memory for an alignment is their product. */
const MOST_SPOKEN = 1000;
const MOST_WRITTEN = 4 * MOST_SPOKEN;

/** Returns the tokens that both have, in order: by the alignment with the most equal words. */
export function sharedTokens(spoken: readonly Token[], written: readonly Token[]): readonly Match[] {
  const matches: Match[] = [];
  let next = 0;
  for (let at = 0; at < spoken.length; at += MOST_SPOKEN) {
    const part = spoken.slice(at, at + MOST_SPOKEN);
    const found = aligned(part, written.slice(next, next + MOST_WRITTEN));
    const last = found.at(-1);
    matches.push(...found);
    if (last) next = written.indexOf(last.written, next) + 1;
  }
  return matches;
}

/** Returns the shared tokens of the best alignment (Needleman and Wunsch, with free ends). */
function aligned(spoken: readonly Token[], written: readonly Token[]): readonly Match[] {
  const width = written.length + 1;
  const scores = scoresOf(spoken, written);
  const scoreAt = (row: number, column: number) => scores[row * width + column] ?? 0;
  const ends = scores.subarray(spoken.length * width);
  let column = ends.indexOf(ends.reduce((best, each) => Math.max(best, each)));
  const matches: Match[] = [];
  for (let row = spoken.length; row > 0 && column > 0; ) {
    const score = scoreAt(row, column);
    if (score === scoreAt(row - 1, column)) row -= 1;
    else if (score === Math.fround(scoreAt(row, column - 1) - GAP)) column -= 1;
    else {
      row -= 1;
      column -= 1;
      const [said, token] = [spoken[row], written[column]];
      if (said && token) matches.push({ spoken: said, written: token });
    }
  }
  return matches.reverse();
}

/** Scores the best alignment of every two prefixes; row n holds those of the first n spoken tokens. */
function scoresOf(spoken: readonly Token[], written: readonly Token[]): Float32Array {
  const width = written.length + 1;
  const scores = new Float32Array((spoken.length + 1) * width);
  const worth = written.map(({ text }) => (/[\p{L}\p{N}]/u.test(text) ? text.length : SIGN));
  for (let column = 1; column < width; column += 1) scores[column] = -GAP * column;
  for (const [row, { text }] of spoken.entries())
    for (let column = 1, at = (row + 1) * width + 1; column < width; column += 1, at += 1) {
      const without = Math.max(scores[at - width] ?? 0, (scores[at - 1] ?? 0) - GAP);
      const isSame = text === written[column - 1]?.text;
      scores[at] = isSame
        ? Math.max(without, (scores[at - width - 1] ?? 0) + (worth[column - 1] ?? 0))
        : without;
    }
  return scores;
}
