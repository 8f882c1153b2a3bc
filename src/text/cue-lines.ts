/** Divides text into subtitle cues, and cues into lines. */
import { sentences } from './sentences.ts';
import { countCodePoints, lazy, segmenters, UNSPACED } from './unicode.ts';

/** A cue has at most two lines of 42 columns, as is usual in broadcasting; a wide character takes two columns. */
const LINE = 42;
const LINES = 2;

/** Most seconds of one cue: a little less than 7, as spaces between cues are not counted. */
const LONGEST = 6.8;

export function withoutBreaks(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** @returns the lines of a cue, each of at most 42 columns */
export function linesOf(text: string): string[] {
  const lines = divided(unitsOf(text), () => {
    let columns = 0;
    return (unit) => {
      const fits = columns + unit.columns <= LINE;
      columns += unit.columns + unit.space;
      return fits ? (columns - unit.space) / LINE : undefined;
    };
  });
  return lines.map((line) => line.trim());
}

/**
 * Divides a text that is too long for one cue: between sentences if possible, otherwise at punctuation or between words.
 * @param seconds the duration of its sound
 */
export function cueTexts(text: string, seconds: number): string[] {
  const most = seconds > LONGEST ? Math.floor((countCodePoints(text) * LONGEST) / seconds) : Infinity;
  const begin = () => cueRoom(most);
  const fits = (part: string) => {
    const room = begin();
    return unitsOf(part).every((unit) => room(unit) !== undefined);
  };
  if (fits(text)) return [text];
  const parts = sentences(text).flatMap((sentence) =>
    fits(sentence) ? [sentence] : divided(unitsOf(sentence), begin),
  );
  return joined(parts, fits);
}

function joined(parts: readonly string[], fits: (part: string) => boolean): string[] {
  const all: string[] = [];
  for (const part of parts) {
    const longer = `${all.at(-1) ?? ''}${part}`;
    if (all.length > 0 && fits(longer)) all[all.length - 1] = longer;
    else all.push(part);
  }
  return all.map(withoutBreaks).filter((part) => part !== '');
}

/** Text that is never divided, such as a word. */
interface Unit {
  /** The text with the space after it. */
  readonly text: string;
  readonly columns: number;
  /** Columns of the space. */
  readonly space: number;
  /** True if a clause ends with it. */
  readonly endsClause: boolean;
}

/** Adds the next unit to a part. @returns how full the part then is, up to 1; `undefined` if the unit does not fit */
type Capacity = (unit: Unit) => number | undefined;

/** @param most code points */
function cueRoom(most: number): Capacity {
  let [characters, lines, columns] = [0, 1, 0];
  return (unit) => {
    if (columns > 0 && columns + unit.columns > LINE) {
      lines += 1;
      columns = 0;
    }
    columns += unit.columns + unit.space;
    const size = countCodePoints(unit.text);
    characters += size;
    if (lines > LINES || characters - unit.space > most) return undefined;
    return Math.max(((lines - 1) * LINE + columns) / (LINES * LINE), characters / most);
  };
}

/** Costs to minimise: each part, so that there are few, and bad borders. A full part costs up to 1 more. */
const COSTS = { part: 10, inClause: 0.15, lastWordAlone: 0.5 } as const;

/**
 * Divides units into as few parts as possible, of about the same length, that preferably end where clauses end.
 * @returns parts; joined, they are the whole text with its spaces
 */
function divided(units: readonly Unit[], begin: () => Capacity): string[] {
  const costs = new Float64Array(units.length + 1).fill(Number.POSITIVE_INFINITY);
  const starts = new Uint32Array(units.length + 1);
  costs[0] = 0;
  for (let start = 0; start < units.length; start += 1) {
    for (const { end, cost } of partsFrom(start, units, begin())) {
      const all = (costs[start] ?? 0) + cost;
      if (all >= (costs[end] ?? 0)) continue;
      costs[end] = all;
      starts[end] = start;
    }
  }
  const parts: string[] = [];
  for (let end = units.length; end > 0; end = starts[end] ?? 0) {
    const part = units.slice(starts[end], end);
    parts.push(part.map(({ text }) => text).join(''));
  }
  return parts.reverse();
}

/** Yields all parts that begin at a unit. The unit alone is a part even if it does not fit. */
function* partsFrom(
  start: number,
  units: readonly Unit[],
  room: Capacity,
): Generator<{ readonly end: number; readonly cost: number }> {
  for (let end = start + 1; end <= units.length; end += 1) {
    const unit = units[end - 1] as Unit;
    const isFirst = end === start + 1;
    const isLast = end === units.length;
    const full = room(unit) ?? (isFirst ? 1 : undefined);
    if (full === undefined) return;
    const border = isLast || unit.endsClause ? 0 : COSTS.inClause;
    const alone = isLast && isFirst && start > 0 ? COSTS.lastWordAlone : 0;
    yield { end, cost: COSTS.part + full ** 2 + border + alone };
  }
}

/** Scripts without spaces between words, and their punctuation. */
const unspaced = lazy(() => new RegExp(`[${UNSPACED}\\u3000-\\u303f]`, 'u'));

/** Splits text into units. Runs of 1000 characters without a space are cut: word segmentation is slower than linear. */
function unitsOf(text: string): Unit[] {
  return (text.match(/\S{1,1000}\s*/gu) ?? []).flatMap((word) =>
    unspaced().test(word) || columnsOf(word) > LINE ? piecesOf(word).map(unitOf) : [unitOf(word)],
  );
}

function unitOf(text: string): Unit {
  const visible = text.trimEnd();
  return {
    text,
    columns: columnsOf(visible),
    space: text.length - visible.length,
    endsClause: CLAUSE_END.test(visible),
  };
}

const CLAUSE_END = /[.!?…,;:。！？、，；：؟،।—–]["'”’»)\]」』）】〉》]{0,4}$/u;

/** Characters that do not begin a line, by typographic convention. */
const BEGINS_NO_LINE =
  /^[\p{Pe}\p{Pf}\p{Po}\u30fc\u3005\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\s]/u;
/** Characters that do not end a line. */
const ENDS_NO_LINE = /[\p{Ps}\p{Pi}]$/u;

/** Splits text without spaces into words, and words longer than a line into pieces. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of segmenters.word().segment(text)) {
    const before = pieces.at(-1);
    const belongs = before !== undefined && (BEGINS_NO_LINE.test(segment) || ENDS_NO_LINE.test(before));
    if (belongs && columnsOf(before + segment) <= LINE) pieces[pieces.length - 1] = before + segment;
    else pieces.push(...(columnsOf(segment.trimEnd()) > LINE ? chopped(segment) : [segment]));
  }
  return pieces;
}

/** Cuts a word into pieces of about the same length, each at most one line. */
function chopped(word: string): string[] {
  const count = Math.ceil(columnsOf(word) / LINE);
  const most = Math.min(LINE, Math.ceil(columnsOf(word) / count) + 1);
  const pieces: string[] = [];
  let room = 0;
  for (const { segment } of segmenters.grapheme().segment(word)) {
    const columns = columnsOf(segment);
    if (columns > room) {
      pieces.push('');
      room = most;
    }
    pieces[pieces.length - 1] += segment;
    room -= columns;
  }
  return pieces;
}

/** Wide and full-width characters of UAX #11 that occur in texts. */
const wide = lazy(
  () =>
    /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u,
);
const combining = lazy(() => /[\p{Mn}\p{Me}\u200d]/u);

function columnsOf(text: string): number {
  if (/^[\0-\u02ff]*$/u.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += combining().test(character) ? 0 : wide().test(character) ? 2 : 1;
  return columns;
}
