import { lineBorders } from './lines.ts';
import { isOneSentence, isSentenceBorder } from './sentence-border.ts';
import { hasWord, segmenterOf } from './unicode.ts';

/** UTF-16 units. Intl.Segmenter takes 14 s for 600,000 (V8 12 and before). */
const WINDOW = 1024;

const segmenter = segmenterOf('sentence');

/**
 * Joined, they are the paragraph. Line breaks are white space, except before headings and items. Pieces without a letter or
 * digit stay with a neighbour. UAX #29, corrected by {@link isSentenceBorder}.
 */
export function sentences(paragraph: string): string[] {
  const pieces: string[] = [];
  let wordless = true;
  let start = 0;
  for (const end of borders(paragraph)) {
    const piece = paragraph.slice(start, end);
    const isWordless = !hasWord(piece);
    if (pieces.length > 0 && (wordless || isWordless)) pieces.push(pieces.pop() + piece);
    else pieces.push(piece);
    wordless &&= isWordless;
    start = end;
  }
  return pieces;
}

/** UTF-16 units; the last one is the end. */
function* borders(text: string): Generator<number> {
  const plain = sameLengthPlain(text);
  let start = 0;
  for (const end of [...lineBorders(text), text.length]) {
    for (const border of rawBorders(plain.slice(start, end))) {
      const at = beforeOpeningBrackets(plain, start + border);
      if (at > start && isSentenceBorder(plain, at, start)) yield at;
    }
    if (end > start) yield end;
    start = end;
  }
}

/** Equal offsets: line breaks become spaces, "…" a full stop, a footnote mark a closing bracket. */
function sameLengthPlain(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .replace(/…(?=["'”’»)\]]{0,9}\s)/gu, '.')
    .replace(/(?<=[.!?]["'”’»)]{0,9})(?:\[\d{1,3}\])+(?=\s)/gu, (mark) => ')'.repeat(mark.length));
}

function* rawBorders(text: string): Generator<number> {
  if (isOneSentence(text)) return;
  let start = 0;
  let size = WINDOW;
  while (start < text.length) {
    const end = start + size;
    const found = [...segmenter().segment(text.slice(start, end))].map(({ index }) => start + index);
    const inner = found.slice(1);
    yield* inner;
    if (end >= text.length) return;
    size = inner.length > 0 ? WINDOW : size * 2;
    start = inner.at(-1) ?? start;
  }
}

/** UAX #29 counts opening brackets without a space before them as closing ones. */
function beforeOpeningBrackets(text: string, border: number): number {
  const brackets = /[\p{Ps}\p{Pi}]{1,9}$/u.exec(text.slice(Math.max(0, border - 9), border));
  return border - (brackets?.[0].length ?? 0);
}
