/** Cells that a text takes in a terminal. */
export function widthOf(text: string): number {
  return Array.from(text, cellsOf).reduce((sum, cells) => sum + cells, 0);
}

/** Of one code point. Hangul and everything from the symbols on (U+2300) counts as wide: better cut too early than wrapped. */
export function cellsOf(character: string): number {
  const point = character.codePointAt(0) ?? 0;
  return point >= 0x2300 || (point >= 0x1100 && point < 0x1160) ? 2 : 1;
}
