import { withoutEscapes } from '../printable.ts';
import type { Stage } from '../text/live.ts';

/** UTF-16 units of a sequence that may wait for its end. */
const LONGEST_SEQUENCE = 1024;

/** A sequence at the end that is not complete (ECMA-48, section 5). */
const INCOMPLETE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /(?:(?:\x1b[P\]X^_k]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*\x1b?|(?:\x1b\[|\x9b)[ -?]*|\x1b[ -/]*)$/;

/** Tab, line ends and page ends are not among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/** Takes control sequences out, such as those of a coloured log. The result does not depend on the pieces. */
export class Controls implements Stage<string, string> {
  #held = '';

  *push(text: string): Generator<string> {
    const all = this.#held + text;
    this.#held = incompleteEnd(all);
    const clean = cleaned(all.slice(0, all.length - this.#held.length));
    if (clean !== '') yield clean;
  }

  *end(): Generator<string> {
    if (this.#held !== '') yield cleaned(this.#held);
  }
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
