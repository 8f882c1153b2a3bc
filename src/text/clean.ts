import { EXTENDER, lazy } from './unicode.ts';

/** A part of a text as it is written, and what a service gets of it. */
export interface Cleaned {
  readonly written: string;
  readonly text: string;
}

/** What `cleaned` may change: most texts have none of it but line breaks. */
const UNCLEAN = /[^\S\t ]| {2}|\u00ad|[^\p{ASCII}\u0080-\u02ff]/u;

/** Typists put two spaces after a sentence. */
const WIDE_SPACE = /(?<=[.!?…:]["'”’»)\]]{0,3}) {2}(?=\S|$)/gu;

/** A space with a combining mark is a character. */
const gaps = lazy(
  () =>
    new RegExp(`(?<![ \\t])[ \\t]*[\\n\\v\\f\\r\\u0085\\u2028\\u2029][\\s--\\u00a0]*(?!${EXTENDER})`, 'gv'),
);
const BLANK_LINE = /\n[^\S\n]*\n/u;

/** Soft hyphens, zero-width characters, marks of direction, byte order marks. */
const INVISIBLE =
  /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Joiners shape words of Arabic and Indic scripts, and emoji. Elsewhere they do nothing. */
const idleJoiners = lazy(
  () => /(?<=^|[\s\p{P}\p{N}\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Han}])[\u200c\u200d]+/gu,
);

/**
 * Text as a service gets it: composed (NFC), without what is never heard, and without the white space around line breaks.
 */
export function cleaned(text: string): string {
  return UNCLEAN.test(text) ? spaced(visibleOnly(text)) : text;
}

function visibleOnly(text: string): string {
  return withoutInvisible(text).replace(idleJoiners(), '').normalize('NFC');
}

/** The rules of sentences and lines look at such a text: what nobody sees decides nothing. */
export function withoutInvisible(text: string): string {
  return UNCLEAN.test(text) ? text.replace(INVISIBLE, '') : text;
}

/** @returns where a part of a text begins, from where it begins without what is invisible */
export function invisibleSkipped(text: string, visible: number): number {
  let end = visible;
  for (const { 0: sign, index } of text.matchAll(INVISIBLE)) {
    if (index >= end) break;
    end += sign.length;
  }
  return end;
}

function spaced(text: string): string {
  return text.replace(WIDE_SPACE, ' ').replace(gaps(), (gap) => {
    if (BLANK_LINE.test(gap)) return '\n\n';
    return gap.includes('\n') ? '\n' : ' ';
  });
}
