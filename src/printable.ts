/** The longest piece of somebody else's text that is shown, in characters. */
const LONGEST = 500;

/**
 * Text from outside, fit for a terminal: in one line, without control and format characters (escape sequences,
 * direction overrides), cut at 500 characters.
 */
export function printable(text: string): string {
  const clean = text
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(clean.slice(0, 2 * LONGEST + 2));
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : clean;
}
