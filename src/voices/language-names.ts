const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const codes = letters.flatMap((first) => letters.map((second) => first + second));
const display = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/**
 * The English name of each language with a code of two letters. Intl takes 10 ms to know the first one, so the build puts the
 * table in the place of this module: .config/finished.ts.
 */
export const LANGUAGE_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  codes.flatMap((code) => {
    const name = display.of(code);
    return name === undefined ? [] : [[code, name]];
  }),
);
