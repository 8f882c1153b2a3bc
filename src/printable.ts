import stripAnsi from 'strip-ansi';

/** Characters. */
const LONGEST = 500;

/** Makes text from outside fit for a terminal: one line, without control and format characters, of at most 500 characters. */
export function printable(text: string): string {
  const clean = text
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(clean.slice(0, 2 * LONGEST + 2));
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : clean;
}

/**
 * Makes a name or value fit for a terminal. Control and format characters become escapes of JSON. Joiners stay: emoji need
 * them.
 */
export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return text.replace(/(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** Makes lines of text fit for a terminal: of what is no text, only line ends, tabs and joiners stay. */
export function printableLines(text: string): string {
  return withoutEscapes(text)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/(?![\t\n\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}]/gu, '');
}

export function inOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '));
}

/** Takes linear time, unlike Node's `stripVTControlCharacters`. */
export function withoutEscapes(text: string): string {
  return stripAnsi(text);
}

/** Makes a name or value fit for a sentence on a terminal. */
export function quoted(text: string): string {
  return `"${visible(text)}"`;
}
