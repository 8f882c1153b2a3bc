import { beforeNumber, neverLast, openers, ordinalContext, sometimesLast } from './abbreviations.ts';
import { extender } from './extender.ts';
import { segmenterOf } from './intl.ts';
import { lineBorders } from './lines.ts';

/** How far the rules look to both sides of a border, in UTF-16 units. */
const sight = 80;
/**
 * Intl.Segmenter takes time in proportion to the text times its segments (V8 12 and before: 14 s for 600,000
 * characters), so it is shown a window at a time.
 */
const window = 1024;

const segmenter = segmenterOf('sentence');
const word = /[\p{L}\p{N}]/u;
const closers = `["'”’»›)\\]\\p{Pe}\\p{Pf}\\p{Pi}]`;

/**
 * Cuts a paragraph into sentences without loss: the pieces joined are the paragraph, and the white space between
 * two sentences belongs to the first. Single line breaks are white space, unless they set off a heading or the
 * items of a list (see {@link lineBorders}). Pieces without a letter or digit ("* * *", "!!!") stay with a neighbour.
 *
 * The base is Unicode UAX #29; its borders are taken back after abbreviations, initials and ordinals, inside of
 * addresses, and between direct speech and its "he said".
 */
export function sentences(paragraph: string): string[] {
  const pieces: string[] = [];
  let wordless = true;
  let start = 0;
  for (const end of borders(paragraph)) {
    const piece = paragraph.slice(start, end);
    const hasWord = word.test(piece);
    if (pieces.length > 0 && (wordless || !hasWord)) pieces.push(pieces.pop() + piece);
    else pieces.push(piece);
    wordless &&= !hasWord;
    start = end;
  }
  return pieces;
}

/**
 * How much of a text that is still being written is whole sentences, in UTF-16 units. A sentence is whole if it
 * ends like one and another one has begun, or a line break follows; at an empty line whatever came before is whole.
 * @param isQuiet nothing more is coming for now: then its full stop is enough
 */
export function completeLength(text: string, isQuiet: boolean): number {
  if (!word.test(text)) return 0;
  let complete = 0;
  let at = 0;
  for (const sentence of sentences(text)) {
    at += sentence.length;
    const space = sentence.slice(sentence.trimEnd().length);
    const isFollowed = isQuiet || at < text.length || space.includes('\n');
    if (/\n[^\S\n]*\n/u.test(space) || (isFollowed && endsLikeSentence(sentence.trimEnd()))) complete = at;
  }
  return complete;
}

const terminated = new RegExp(`[\\p{Sentence_Terminal}…]${closers}*$`, 'u');

function endsLikeSentence(sentence: string): boolean {
  return terminated.test(sentence) && !neverLast.has(lastToken(`${sentence.slice(-sight)} `) ?? '');
}

/** The ends of all sentences, as offsets in UTF-16 units; the last is the end of the text. */
function* borders(text: string): Generator<number> {
  const plain = sameLengthPlain(text);
  let start = 0;
  for (const end of [...lineBorders(text), text.length]) {
    for (const border of rawBorders(plain.slice(start, end))) {
      const at = beforeOpeningBrackets(plain, start + border);
      if (at > start && isBorder(plain, at, start)) yield at;
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
  let size = window;
  while (start < text.length) {
    const end = start + size;
    const found = [...segmenter().segment(text.slice(start, end))].map(({ index }) => start + index);
    const inner = found.slice(1);
    yield* inner;
    if (end >= text.length) return;
    size = inner.length > 0 ? window : size * 2;
    start = inner.at(-1) ?? start;
  }
}

/** UAX #29 counts opening brackets as closing ones; without white space before them they would change sides. */
function beforeOpeningBrackets(text: string, border: number): number {
  const brackets = /[\p{Ps}\p{Pi}]{1,9}$/u.exec(text.slice(Math.max(0, border - 9), border));
  return border - (brackets?.[0].length ?? 0);
}

function isBorder(text: string, at: number, start: number): boolean {
  const before = text.slice(Math.max(start, at - sight), at);
  const after = text.slice(at, at + sight);
  if (insideCluster.test(after)) return false;
  if (!/\s$/u.test(before)) return endsWithoutSpace.test(before);
  return !(isListNumber(text, at, start) || isAbbreviation(before, after) || isSpeechGoingOn(before, after));
}

const insideCluster = new RegExp(`^${extender}`, 'u');
/** Only scripts that set no space after a sentence end one there: "。" does, the full stop in "example.com" does not. */
const endsWithoutSpace = new RegExp(`[^\\p{ASCII}\\s…]${closers}*$`, 'u');

/** "1." at the start of a line belongs to what it counts. */
function isListNumber(text: string, at: number, start: number): boolean {
  return at - start < 12 && /^\s*\(?(?:\d{1,3}|[ivxlc]{1,5}|\p{L})[.)]\s+$/iu.test(text.slice(start, at));
}

function isAbbreviation(before: string, after: string): boolean {
  const token = lastToken(before);
  if (token === undefined) return false;
  if (neverLast.has(token)) return true;
  if (/^\p{N}/u.test(after)) return beforeNumber.has(token);
  if (ordinalContext.test(before)) return true;
  if (/^\p{L}$/u.test(token) && /^\p{L}\./u.test(after)) return true;
  return (isLetters.test(before) || sometimesLast.has(token)) && !startsSentence(after);
}

/** The word before a full stop and white space, in lower case. */
function lastToken(before: string): string | undefined {
  return /([^\s("'“‘«[\-–—/]+)\.\s+$/u.exec(before)?.[1]?.toLowerCase();
}

/** "J. ", "U.S. ", "z. B. " */
const isLetters = /(?:^|[^\p{L}\p{M}\p{N}.])(?:[\p{Lu}\p{Lo}]\p{M}*|(?:\p{L}\.)+\p{L}|\p{L}\.\s\p{L})\.\s+$/u;

function startsSentence(after: string): boolean {
  const first = /^["'“‘«(]*(\p{Lu}\p{L}*)(?=[\s,’'])/u.exec(after)?.[1];
  return first !== undefined && openers.has(first.toLowerCase());
}

const endsSpeech = new RegExp(`${closers}\\s+$`, 'u');

/** "What?" he asked. — Стой! — крикнул он. */
function isSpeechGoingOn(before: string, after: string): boolean {
  return /^[-–—]\s+\p{Ll}/u.test(after) || (/^\p{Ll}/u.test(after) && endsSpeech.test(before));
}
