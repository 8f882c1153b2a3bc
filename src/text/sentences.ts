import { lineBorders } from './lines.ts';
import { endsLikeSentence, isFullLine, isSentenceBorder } from './sentence-border.ts';
import { hasWord, segmenterOf } from './unicode.ts';

/**
 * Intl.Segmenter takes time in proportion to the text times its segments (V8 12 and before: 14 s for 600,000
 * characters), so it is shown a window at a time.
 */
const WINDOW = 1024;

const segmenter = segmenterOf('sentence');

/**
 * Cuts a paragraph into sentences without loss: the pieces joined are the paragraph, and the white space between
 * two sentences belongs to the first. Single line breaks are white space, unless they set off a heading or the
 * items of a list (see {@link lineBorders}). Pieces without a letter or digit ("* * *", "!!!") stay with a neighbour.
 *
 * The base is Unicode UAX #29, of whose borders {@link isSentenceBorder} takes some back.
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

/**
 * How much of a text that is still being written is whole sentences, in UTF-16 units. A sentence is whole if it
 * ends like one and another one has begun, or a line break follows, whatever the next line begins with; at an empty line
 * whatever came before is whole.
 * @param isQuiet nothing more is coming for now: then its full stop is enough
 */
export function completeLength(text: string, isQuiet: boolean): number {
  if (!hasWord(text)) return 0;
  let complete = 0;
  let at = 0;
  for (const sentence of sentences(text)) {
    at += sentence.length;
    const space = sentence.slice(sentence.trimEnd().length);
    const isFollowed = isQuiet || at < text.length || space.includes('\n');
    if (/\n[^\S\n]*\n/u.test(space) || (isFollowed && endsLikeSentence(sentence.trimEnd()))) complete = at;
  }
  const mayCarryMark = complete === text.length && /[^\S\n]$/u.test(text);
  return Math.max(mayCarryMark ? complete - 1 : complete, lastFullLine(text));
}

/** Where the last line ends that ends like a sentence, its line break included; 0 if there is none. */
function lastFullLine(text: string): number {
  let next = '';
  for (let end = text.length; end > 0; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = text.slice(start, end).trim();
    if (end < text.length && line !== '' && isFullLine(line, next))
      return hasWord(text.slice(0, end)) ? end + 1 : 0;
    next = line || next;
    end = start - 1;
  }
  return 0;
}

/** The ends of all sentences, as offsets in UTF-16 units; the last is the end of the text. */
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

/**
 * The text as the Unicode rules should see it, every character still at its place: line breaks are spaces, an
 * ellipsis character ends a sentence like three full stops do, and a footnote mark closes like a bracket.
 */
function sameLengthPlain(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .replace(/…(?=["'”’»)\]]{0,9}\s)/gu, '.')
    .replace(/(?<=[.!?]["'”’»)]{0,9})(?:\[\d{1,3}\])+(?=\s)/gu, (mark) => ')'.repeat(mark.length));
}

/** The borders inside of the text by UAX #29, without its start and end. */
function* rawBorders(text: string): Generator<number> {
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

/** UAX #29 counts opening brackets as closing ones; without white space before them they would change sides. */
function beforeOpeningBrackets(text: string, border: number): number {
  const brackets = /[\p{Ps}\p{Pi}]{1,9}$/u.exec(text.slice(Math.max(0, border - 9), border));
  return border - (brackets?.[0].length ?? 0);
}
