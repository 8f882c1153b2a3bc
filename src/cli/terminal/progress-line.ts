import { cellsOf, countOf, widthOf } from './style.ts';

export interface ProgressState {
  readonly waiting: Waiting | undefined;
  /** The one that is heard. It is counted from 1. */
  readonly chapter?: { readonly number: number; readonly title: string } | undefined;
  readonly segments: number;
  readonly characters: number;
  readonly total: Total | undefined;
  readonly audioSeconds: number;
  readonly seconds: number;
  /** What was spoken so far, also ahead of its turn, and the time that it took. */
  readonly work?: { readonly characters: number; readonly seconds: number } | undefined;
}

interface Total {
  readonly segments: number;
  readonly characters: number;
  readonly chapters?: number;
}

export interface Waiting {
  readonly reason: string;
  readonly secondsLeft: number | undefined;
}

export function renderProgress(state: ProgressState, columns: number): string {
  return state.waiting
    ? shorten(waitingText(state.waiting, state.seconds), columns)
    : soundText(state, columns);
}

function waitingText({ reason, secondsLeft }: Waiting, seconds: number): string {
  if (secondsLeft !== undefined) return `waiting ${Math.ceil(secondsLeft)} s: ${reason}`;
  return seconds < 1 ? reason : `${reason}  ${duration(seconds)}`;
}

interface Field {
  readonly text: string;
  /** The field with the highest rank is left out first. */
  readonly rank: number;
}

function soundText(state: ProgressState, columns: number): string {
  return fittingFields(fieldsOf(state), columns);
}

export interface RowProgress {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
  readonly seconds: number;
}

/** Draws `120/300 rows  40 %  2 failed  1 min 10 s left`. */
export function renderRows({ done, failed, total, seconds }: RowProgress, columns: number): string {
  const left = (seconds / done) * (total - done);
  const fields = [
    { rank: 0, text: `${done}/${countOf(total, 'row')}` },
    { rank: 3, text: `${Math.floor((done * 100) / total)} %` },
    ...(failed > 0 ? [{ rank: 1, text: `${failed} failed` }] : []),
    ...(done > 0 ? [{ rank: 2, text: `${duration(left)} left` }] : []),
  ];
  return fittingFields(fields, columns);
}

function fittingFields(fields: Field[], columns: number): string {
  while (fields.length > 1 && widthOf(line(fields)) > columns) fields.splice(leastOf(fields), 1);
  return shorten(line(fields), columns);
}

function line(fields: readonly Field[]): string {
  return fields.map(({ text }) => text).join('  ');
}

function leastOf(fields: readonly Field[]): number {
  const ranks = fields.map(({ rank }) => rank);
  return ranks.indexOf(Math.max(...ranks));
}

/** Columns for the title of a chapter. */
const TITLE_COLUMNS = 24;

function chapterField({ chapter, total }: Pick<ProgressState, 'chapter' | 'total'>): Field[] {
  if (chapter === undefined) return [];
  const of = total?.chapters === undefined ? '' : `/${total.chapters}`;
  const title = chapter.title === '' ? '' : `: ${shorten(chapter.title, TITLE_COLUMNS)}`;
  return [{ rank: 2.5, text: `chapter ${chapter.number}${of}${title}` }];
}

/** Before, the start of the run counts too much: hours would be left of a minute. */
const LEAST_TELLING_PERCENT = 1;

function secondsLeft({ total, work, characters, seconds }: ProgressState): number | undefined {
  const done = work ?? { characters, seconds };
  if (!total || done.characters * 100 < total.characters * LEAST_TELLING_PERCENT) return undefined;
  const left = total.characters - Math.max(characters, done.characters);
  return (done.seconds / done.characters) * Math.max(0, left);
}

function fieldsOf(state: ProgressState): Field[] {
  const { segments, characters, total, audioSeconds, seconds } = state;
  const percent =
    total && total.characters > 0 ? Math.min(100, (characters * 100) / total.characters) : undefined;
  const left = secondsLeft(state);
  return [
    ...chapterField(state),
    { rank: 0, text: segmentCount(segments, total?.segments) },
    ...(percent === undefined ? [] : [{ rank: 1, text: `${Math.floor(percent)} %` }]),
    { rank: 3, text: `${duration(audioSeconds)} of audio` },
    { rank: 4, text: `${(audioSeconds / seconds).toFixed(1)}x real time` },
    { rank: 5, text: `${Math.round(characters / seconds)} characters/s` },
    ...(left === undefined ? [] : [{ rank: 2, text: `${duration(left)} left` }]),
  ];
}

function segmentCount(segments: number, of: number | undefined): string {
  return of === undefined ? countOf(segments, 'segment') : `${segments}/${countOf(of, 'segment')}`;
}

export interface Closing {
  readonly name: string;
  readonly audioSeconds: number;
  readonly sampleRate: number;
  readonly segments: number;
  readonly fromCache: number;
  readonly seconds: number;
}

/** Writes `out.wav  3 min 12 s  22050 Hz  41 segments  in 4.0 s`. */
export function closingLine(closing: Closing): string {
  const { name, audioSeconds, sampleRate, segments, fromCache, seconds } = closing;
  const cached = fromCache > 0 ? ` (${fromCache} cached)` : '';
  const count = `${segmentCount(segments, undefined)}${cached}`;
  return `${name}  ${duration(audioSeconds)}  ${sampleRate} Hz  ${count}  in ${duration(seconds)}`;
}

/** Writes `9.8 s`, `41 s`, `3 min 12 s` or `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function shorten(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let room = columns - 1;
  for (const character of text) {
    room -= cellsOf(character);
    if (room < 0) break;
    kept += character;
  }
  return `${kept}…`;
}
