/** Decides how much of a text is complete while its writer pauses. */
import { goesOn, isListItem, lineBorders, startsLower } from './lines.ts';
import { endsInDoubt, endsLikeSentence, isFullLine, isListMarker, sentences } from './sentences.ts';
import { LONG_SENTENCE_MS, WAITS } from './stage.ts';
import { countCodePoints, hasWord } from './unicode.ts';

/**
 * Returns the length of the complete sentences and lines at the start of a text, in UTF-16 units; a longer wait completes
 * more.
 * @param idle milliseconds without new text
 */
export function completeLength(text: string, idle: number): number {
  if (!hasWord(text)) return 0;
  const isLong = idle >= (isDoubtful(text) ? WAITS.doubtful : WAITS.sentence);
  let complete = 0;
  let at = 0;
  for (const sentence of sentences(text)) {
    at += sentence.length;
    const space = sentence.slice(sentence.trimEnd().length);
    const isFollowed = isLong || at < text.length || space.includes('\n');
    if (/\n[^\S\n]*\n/u.test(space) || (isFollowed && isWhole(sentence.trim()))) complete = at;
  }
  const mayCarryMark = complete === text.length && /[^\S\n]$/u.test(text);
  const finished = idle >= WAITS.line ? finishedLength(text) : 0;
  return Math.max(mayCarryMark ? complete - 1 : complete, lastFullLine(text), finished);
}

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

function isWhole(sentence: string): boolean {
  return endsLikeSentence(sentence) && !isListMarker(sentence);
}

/** True if more text may belong to the last sentence, so that it must wait longer. */
function isDoubtful(text: string): boolean {
  return endsInDoubt(text.slice(-LOOKAROUND)) || isOpen(text);
}

const LOOKAROUND = 80;
/** The signs of each kind of quote. Languages differ in which sign opens: “…”, „…“, „…”, ”…”, «…», »…«. */
const QUOTES = [/"/g, /[“”„]/g, /[«»]/g] as const;

/** True if a quote or bracket is open at the end of the text. */
function isOpen(text: string): boolean {
  const count = (signs: RegExp) => text.match(signs)?.length ?? 0;
  const isQuoteOpen = QUOTES.some((signs) => count(signs) % 2 === 1);
  return isQuoteOpen || count(/\(/g) > count(/\)/g) || count(/\[/g) > count(/\]/g);
}

function finishedLength(text: string): number {
  if (/[^\s\d]\s?[:：]\s*$/u.test(text)) return text.length;
  const thai = [...text.matchAll(/\p{sc=Thai}\s+/gu)].at(-1);
  return Math.max(thai ? thai.index + thai[0].length : 0, finishedLines(text));
}

/** UTF-16 units of lines that were not just wrapped, as the line before or after shows. */
function finishedLines(text: string): number {
  const end = text.lastIndexOf('\n') + 1;
  const start = text.lastIndexOf('\n', end - 2) + 1;
  const line = text.slice(start, end).trim();
  const next = text.slice(end).trim();
  if (!hasWord(line) || isListMarker(line) || /[-‐]$/u.test(line)) return 0;
  if (line.endsWith('.') && !endsLikeSentence(line)) return 0;
  if (next !== '') return goesOn(line) || startsLower(next) ? 0 : end;
  const indent = text.slice(start).search(/\S/u);
  return isListItem(line) || lineBorders(text.trimEnd()).includes(start + indent) ? end : 0;
}

/** Code points. A shorter clause is not worth a segment. */
const SHORTEST_CLAUSE = 40;
const CLAUSE_ENDS = /(?<!\d)[,;:][”"')\]]*\s+|[，；：、][”」』）]*|\s[–—]\s+/gu;

/**
 * Returns the length of a long sentence up to its last clause end, in UTF-16 units; 0 if that would be too short.
 * @param idle milliseconds without new text
 * @param held milliseconds for which the text has been held
 */
export function clauseLength(text: string, idle: number, held: number): number {
  if (held < LONG_SENTENCE_MS) return 0;
  if (idle >= WAITS.sentence && /[\p{L}\p{M})”"][,;]\s*$/u.test(text.slice(-LOOKAROUND)))
    return longEnough(text);
  const last = [...text.matchAll(CLAUSE_ENDS)].findLast(({ 0: end, index }) =>
    hasWord(text.slice(index + end.length)),
  );
  return last ? longEnough(text.slice(0, last.index + last[0].length)) : 0;
}

function longEnough(clause: string): number {
  return countCodePoints(clause.trim()) < SHORTEST_CLAUSE ? 0 : clause.length;
}
