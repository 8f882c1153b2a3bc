import { withoutEscapes } from '../printable.ts';

/** UTF-16 units that wait for their end. */
const LONGEST_SEQUENCE = 1024;

/** An incomplete sequence at the end (ECMA-48, section 5). */
const INCOMPLETE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /(?:(?:\x1b[P\]X^_k]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*\x1b?|(?:\x1b\[|\x9b)[ -?]*|\x1b[ -/]*)$/;

/** Without tab, line ends and page ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/** As of a coloured log. The result does not depend on the pieces. */
export async function* withoutControls(text: AsyncIterable<string>): AsyncGenerator<string> {
  let held = '';
  for await (const piece of text) {
    const all = held + piece;
    held = incompleteEnd(all);
    const clean = cleaned(all.slice(0, all.length - held.length));
    if (clean !== '') yield clean;
  }
  if (held !== '') yield cleaned(held);
}

function incompleteEnd(text: string): string {
  const tail = text.slice(-LONGEST_SEQUENCE);
  const at = tail.search(INCOMPLETE);
  return at < 0 ? '' : tail.slice(at);
}

export function hasControls(text: string): boolean {
  return text.search(CONTROLS) >= 0;
}

function cleaned(text: string): string {
  return !hasControls(text) ? text : withoutEscapes(text).replace(CONTROLS, '');
}
