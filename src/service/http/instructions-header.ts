import { wellFormedStart } from './well-formed.ts';

/** Longest value and longest phrase of it, in characters: clients bear about 8 KiB of headers in all. */
const LONGEST = 2_000;
const LONGEST_PHRASE = 100;

/** What was not understood, as a header can carry it: percent-encoded, separated by a comma and a space. */
export function ignoredHeader(ignored: readonly string[]): string {
  let header = '';
  for (const phrase of ignored) {
    const encoded = encodeURIComponent(wellFormedStart(phrase, LONGEST_PHRASE));
    const longer = header === '' ? encoded : `${header}, ${encoded}`;
    if (longer.length > LONGEST) break;
    header = longer;
  }
  return header;
}
