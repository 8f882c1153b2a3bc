import { sentences } from '../../text/sentences.ts';
import { countCodePoints } from '../../text/unicode.ts';

/** A cue has at most two lines of 42 characters, as broadcasters have it. */
const LINE = 42;
const LINES = 2;

/** Seconds of one cue: a little less than 7, as the spaces between cues take no time. */
const LONGEST = 6.8;

/** Characters. Pieces of about the same length may differ by this. */
const UNEVEN = 8;

export function withoutBreaks(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** @returns the lines of a cue, each of at most 42 characters */
export function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const word of wordsOf(text)) {
    const longer = `${lines.at(-1) ?? ''}${word}`;
    if (lines.length > 0 && countCodePoints(longer.trimEnd()) <= LINE) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => line.trim());
}

/**
 * Divides a text that is too long for one cue: between sentences if that is enough, and otherwise between words.
 * @param seconds of its sound
 */
export function cueTexts(text: string, seconds: number): string[] {
  const most = seconds > LONGEST ? Math.floor((countCodePoints(text) * LONGEST) / seconds) : Infinity;
  const fits = (part: string) => countCodePoints(part) <= most && linesOf(part).length <= LINES;
  if (fits(text)) return [text];
  const parts = sentences(text)
    .map(withoutBreaks)
    .filter((sentence) => sentence !== '')
    .flatMap((sentence) => (fits(sentence) ? [sentence] : divided(sentence, fits)));
  return joined(parts, ' ', fits);
}

/** The pieces have about the same length. */
function divided(sentence: string, fits: (part: string) => boolean): string[] {
  const words = wordsOf(sentence);
  const pieces = joined(words, '', fits);
  const even = Math.ceil(countCodePoints(sentence) / pieces.length) + UNEVEN;
  const evenly = joined(words, '', (part) => fits(part) && countCodePoints(part) <= even);
  return (evenly.length === pieces.length ? evenly : pieces).map(withoutBreaks);
}

function joined(parts: readonly string[], between: string, fits: (part: string) => boolean): string[] {
  const all: string[] = [];
  for (const part of parts) {
    const longer = `${all.at(-1)}${between}${part}`;
    if (all.length > 0 && fits(longer.trimEnd())) all[all.length - 1] = longer;
    else all.push(part);
  }
  return all;
}

/** Words with the spaces after them. What is longer than a line is cut, as text without spaces is. */
function wordsOf(text: string): string[] {
  return (text.match(/\S+\s*/gu) ?? []).flatMap((word) => {
    const characters = Array.from(word);
    if (characters.length <= LINE) return [word];
    const count = Math.ceil(characters.length / LINE);
    return Array.from({ length: count }, (_, at) => characters.slice(at * LINE, (at + 1) * LINE).join(''));
  });
}
