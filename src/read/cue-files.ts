/** Parses subtitle files as programs write them: SubRip, WebVTT (W3C), and the scripts of SubStation Alpha (ASS, SSA). */
import { withoutInvisible } from '../text/unicode.ts';
import { characterOf } from './html-parse.ts';

/** A subtitle with its times. */
export interface FilmCue {
  /** The position among the film's cues, from 1. */
  readonly number: number;
  /** Seconds. */
  readonly start: number;
  readonly end: number;
  /** Who speaks, if the file says so. */
  readonly name: string | undefined;
  /** Without markup. */
  readonly lines: readonly string[];
  /** The line in the file that holds the times, from 1. */
  readonly line: number;
}

type UnnumberedCue = Omit<FilmCue, 'number'>;

/** @returns the cues by start time, and in file order if the times are equal */
export function readCues(text: string): FilmCue[] {
  const lines = text.replace(/^\ufeff/u, '').split('\n');
  const cues = isScript(lines) ? scriptCues(lines) : timedCues(lines);
  const inOrder = withoutAnimation(withoutRepeats(cues.toSorted((a, b) => a.start - b.start)));
  return inOrder.map((cue, at) => ({ ...cue, number: at + 1 }));
}

function isScript(lines: readonly string[]): boolean {
  return lines.some((line) => /^\[(?:Script Info|Events|V4\+? Styles)\]/iu.test(line));
}

const CLOCK = '(?:(\\d{1,3})\\s?:\\s?)?(\\d{1,2})\\s?:\\s?(\\d{1,2})(?:\\s?[.,:]\\s?(\\d{1,3}))?';
/** Programs also write full stops instead of commas, omit hours, and insert spaces. */
const TIMES = new RegExp(`^\\s{0,20}${CLOCK}\\s{0,20}--?>\\s{0,20}${CLOCK}(?:\\s|$)`, 'u');

function seconds([hours = '0', minutes = '0', whole = '0', part = '0']: readonly (
  | string
  | undefined
)[]): number {
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(whole) + Number(`0.${part}`);
}

/** Reads SubRip and WebVTT: a line with times, then text up to the next such line. */
function timedCues(lines: readonly string[]): UnnumberedCue[] {
  const isVtt = /^WEBVTT/u.test(lines[0] ?? '');
  const heads = lines.flatMap((line, at) => {
    const times = TIMES.exec(line);
    return times ? [{ at, start: seconds(times.slice(1, 5)), end: seconds(times.slice(5, 9)) }] : [];
  });
  const isRolling = isVtt && lines.some((line) => /<\d{2}:[\d:.]{3,12}><c/u.test(line));
  let shown: ReadonlySet<string> = new Set();
  return heads.map(({ at, start, end }, number) => {
    const written = isVtt ? vttLines(lines, at) : srtLines(lines, at, heads[number + 1]?.at ?? lines.length);
    const { name, lines: all } = withoutTags(written, isVtt);
    // YouTube captions repeat each line above the next one.
    const isShown = (line: string) => line === '' || (isRolling && shown.has(line));
    const fresh = all.filter((line) => !isShown(line));
    shown = new Set(all);
    return { start, end: Math.max(start, end), name, lines: fresh, line: at + 1 };
  });
}

/** Returns a cue's lines up to an empty one. YouTube captions have lines with a single space. */
function vttLines(lines: readonly string[], head: number): readonly string[] {
  let end = head + 1;
  while (end < lines.length && lines[end] !== '' && !TIMES.test(lines[end] ?? '')) end += 1;
  return lines.slice(head + 1, end);
}

/** Returns a cue's lines, which may include blank ones, without the number of the next cue. */
function srtLines(lines: readonly string[], head: number, next: number): readonly string[] {
  const text = lines.slice(head + 1, next);
  const isLast = next === lines.length;
  if (!isLast && /^\s*\d{1,7}\s*$/u.test(text.at(-1) ?? '')) text.pop();
  return text;
}

/** Markup of both formats. Anything else between these signs is text, such as "x < 3". */
const TAG =
  /<\/?(?:i|b|u|s|c|v|em|strong|font|span|lang|ruby|p|div)(?:[.\s][^<>]{0,500})?\/?>|<\d{1,3}:[\d:.]{2,12}>|\{\\[^{}]{0,500}\}|\{[a-z]:[^{}]{0,100}\}|\{\/?[ibus]\d?\}/giu;
/** Line breaks and spaces of ASS, which converters leave in other formats. They do not match in a Windows path. */
const ESCAPE = /(?<!\b[A-Za-z]:\S{0,100})\\[Nh]/gu;
/** The name of a speaker in WebVTT. */
const VOICE = /<v(?:\.[^\s<>]{1,100})?\s([^<>]{1,200})>/giu;
const READING = /<rp>[^<]{0,100}(?:<\/rp>)?|<rt>[^<]{0,500}(?:<\/rt>)?/giu;

function withoutTags(lines: readonly string[], isVtt: boolean): Pick<FilmCue, 'name' | 'lines'> {
  const all = lines
    .join('\n')
    .replace(/<br\s{0,3}\/?>/giu, '\n')
    .replace(ESCAPE, (sign) => (sign === '\\h' ? ' ' : '\n'));
  const names = [...all.matchAll(VOICE)].map(([, name = '']) => name.trim());
  const several = new Set(names).size > 1;
  // If several people speak in one cue, each name precedes what the person says.
  const named = several ? all.replace(VOICE, '\n$1: ') : all;
  const text = named
    .replace(READING, '')
    .replace(TAG, '')
    .replace(isVtt ? /<[^<>\n]{1,500}>/gu : /(?!)/u, '');
  return {
    name: several ? undefined : names[0] && withEntities(names[0]),
    lines: withEntities(text).split('\n').map(tidied),
  };
}

/** Replaces HTML entities. Control characters become spaces, and marks of direction are dropped. */
function withEntities(text: string): string {
  return text.replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/giu, (entity) =>
    withoutInvisible(characterOf(entity)).replace(/[\p{Cc}\ufffd]/u, ' '),
  );
}

function tidied(line: string): string {
  return line.replace(/[^\S\u3000]+/gu, ' ').trim();
}

/** Fields of an event; programs write 10. */
const MOST_FIELDS = 64;
/** The default fields of an ASS event, for files without a `Format` line. */
const FIELDS = fieldsOf('layer,start,end,style,name,marginl,marginr,marginv,effect,text');

function fieldsOf(format: string): readonly string[] {
  return format.split(',', MOST_FIELDS).map((field) => field.trim().toLowerCase());
}

function scriptCues(lines: readonly string[]): UnnumberedCue[] {
  let section = '';
  let fields = FIELDS;
  const cues: UnnumberedCue[] = [];
  for (const [at, line] of lines.entries()) {
    section = /^\[([^\]]{1,100})\]/u.exec(line)?.[1]?.toLowerCase() ?? section;
    const [, kind = '', content = ''] = /^(Format|Dialogue)\s{0,5}:(.*)$/iu.exec(line) ?? [];
    if (section !== 'events' || kind === '') continue;
    if (kind.toLowerCase() === 'format') fields = fieldsOf(content);
    else {
      const cue = scriptCue(content, fields, at + 1);
      if (cue) cues.push(cue);
    }
  }
  return cues;
}

/** Parses an event. The text is the last field, and may contain commas. */
function scriptCue(content: string, fields: readonly string[], line: number): UnnumberedCue | undefined {
  const cells = content.split(',');
  const cellOf = (field: string) => cells[fields.indexOf(field)]?.trim();
  const [start, end] = [cellOf('start'), cellOf('end')].map((time) => {
    const clock = new RegExp(`^${CLOCK}$`, 'u').exec(time ?? '');
    return clock ? seconds(clock.slice(1)) : undefined;
  });
  const text = cells.slice(fields.length - 1).join(',');
  // Skips drawings, and the copies that templates make for each syllable.
  if (start === undefined || end === undefined || cellOf('effect') === 'fx') return undefined;
  if (/\{[^{}]*\\p[1-9]/u.test(text)) return undefined;
  const spoken = text.replace(/\{[^{}]*\}/gu, '').replaceAll('\\h', ' ');
  const name = (cellOf('name') ?? cellOf('actor')) || undefined;
  const lines = spoken
    .split(/\\[nN]/u)
    .map(tidied)
    .filter((each) => each !== '');
  return { start, end: Math.max(start, end), name, lines, line };
}

/** Drops repeated cues: layers show one text several times at once, for its shadow and outline. */
function withoutRepeats(cues: readonly UnnumberedCue[]): UnnumberedCue[] {
  const seen = new Set<string>();
  return cues.filter(({ start, end, lines }) => {
    const key = JSON.stringify([start, end, lines]);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Seconds. Nothing can be said in a shorter cue, so it is a frame of an animation. */
const FRAME_SECONDS = 0.2;
/** Seconds between two frames of an animation. */
const FRAME_GAP = 0.05;

/** Merges the frames of an animation, which repeat one text, into one cue. */
function withoutAnimation(cues: readonly UnnumberedCue[]): UnnumberedCue[] {
  const kept: UnnumberedCue[] = [];
  const last = new Map<string, { readonly at: number; readonly cue: UnnumberedCue }>();
  for (const cue of cues) {
    const key = JSON.stringify(cue.lines);
    const before = last.get(key);
    const isFrame = (each: UnnumberedCue) => each.end - each.start < FRAME_SECONDS;
    const continues =
      before && (isFrame(cue) || isFrame(before.cue)) && Math.abs(cue.start - before.cue.end) <= FRAME_GAP;
    const at = continues ? before.at : kept.length;
    kept[at] = continues ? { ...(kept[at] as UnnumberedCue), end: cue.end } : cue;
    last.set(key, { at, cue });
  }
  return kept;
}
