const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const pairs = letters.flatMap((first) => letters.map((second) => first + second));
const codes = [...pairs, ...pairs.flatMap((pair) => letters.map((third) => pair + third))];
const display = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

/**
 * The English name of each language that has one, by its shortest code of two or three letters. Intl takes 10 ms for the
 * first name, so the build replaces this module by the finished table: .config/finished.ts.
 */
export const LANGUAGE_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  codes.flatMap((code) => {
    const name = Intl.getCanonicalLocales(code)[0] === code ? display.of(code) : undefined;
    return name === undefined ? [] : [[code, name]];
  }),
);
