import type { Ora } from 'ora';
import type { Host } from '../kit/host.ts';
import { cellsOf, countOf, duration, inOneLine, widthOf } from '../kit/words.ts';
import type { Part } from '../run/ahead.ts';
import type { Listener, RunEvent } from '../run/run.ts';
import type { RunText } from '../run/text.ts';
import { type Speech, secondsOf } from '../sound/pcm.ts';
import type { VoiceEvent } from '../sound/voice.ts';
import type { Heading } from '../text/piece.ts';
import type { Segment } from '../text/segment.ts';
import { countCodePoints } from '../text/unicode.ts';
import { isProgressWanted, type Notices } from './notices.ts';

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
    : fittingFields(fieldsOf(state), columns);
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

const STALLED_MS = 1000;

/** What is asked for and not answered yet is done to this share, taken together: some of it has not begun. */
const SHARE_OF_OPEN = 0.3;

/** What was asked for, ahead of what is heard. */
class Asked {
  /** Characters of open requests, by the index of their segment. */
  readonly #open = new Map<number, number>();
  #since: number | undefined;
  #answered = 0;

  note(event: VoiceEvent): void {
    if (event.type === 'request') {
      this.#since ??= performance.now();
      this.#open.set(event.index, countCodePoints(event.text));
    } else if (event.type === 'answer') {
      this.#answered += this.#open.get(event.index) ?? 0;
      this.#open.delete(event.index);
    }
  }

  /** Before the first answer nothing is known of the pace. */
  get work(): ProgressState['work'] {
    if (this.#since === undefined || this.#answered === 0) return undefined;
    const open = [...this.#open.values()].reduce((sum, each) => sum + each, 0);
    const characters = this.#answered + SHARE_OF_OPEN * open;
    return { characters, seconds: (performance.now() - this.#since) / 1000 };
  }
}

export class ProgressCount implements Listener {
  total: Total | undefined;
  readonly #safe: (text: string) => string;
  readonly #isLive: boolean;
  readonly #started = performance.now();
  #segments = 0;
  #characters = 0;
  #audioSeconds = 0;
  /** The share that was heard goes from 0 to 1. */
  #current: { readonly segment: Segment; readonly speech: Speech; share: number } | undefined;
  #hasAsked = false;
  readonly #asked = new Asked();
  #pause: { readonly reason: string; readonly until: number } | undefined;
  #lastSound = Number.NEGATIVE_INFINITY;
  #heading: Heading | undefined;
  #chapters = 0;

  /** @param isLive true where the sound is heard while it comes, which takes as long as the sound */
  constructor(safe: (text: string) => string, isLive = false) {
    this.#safe = safe;
    this.#isLive = isLive;
  }

  get hasSound(): boolean {
    return this.#audioSeconds > 0;
  }

  on(event: RunEvent): void {
    if (event.type === 'voice') this.#note(event.event);
    if (event.type === 'started') this.#begin(event.part);
    if (event.type === 'sound') this.#hear(event.bytes);
    if (event.type === 'spoken') this.#end();
  }

  #note(event: VoiceEvent): void {
    if (event.type === 'request') this.#hasAsked = true;
    this.#asked.note(event);
    if (event.type !== 'retry') return;
    const { retry, message } = event.error;
    const status = retry?.status === undefined ? '' : ` (${retry.status})`;
    const reason = retry?.after === undefined ? this.#safe(message) : `the service asks for a pause${status}`;
    this.#pause = { reason, until: performance.now() + event.seconds * 1000 };
  }

  #begin({ segment, speech }: Part): void {
    if (speech) this.#current = { segment, speech, share: 0 };
    if (segment.chapter !== undefined && segment.chapter !== this.#heading) this.#chapters += 1;
    this.#heading = segment.chapter;
  }

  #hear(length: number): void {
    if (!this.#current) return;
    const { format, bytes } = this.#current.speech;
    this.#audioSeconds += secondsOf(format, length);
    if (bytes) this.#current.share = Math.min(1, this.#current.share + length / bytes);
    this.#lastSound = performance.now();
  }

  #end(): void {
    if (!this.#current) return;
    this.#segments += 1;
    this.#characters += countCodePoints(this.#current.segment.text);
    this.#current = undefined;
  }

  get state(): ProgressState {
    const current = this.#current;
    const spoken = current ? countCodePoints(current.segment.text) * current.share : 0;
    return {
      waiting: this.#waiting(),
      chapter: this.#heading && { number: this.#chapters, title: this.#safe(this.#heading.title ?? '') },
      segments: this.#segments,
      characters: this.#characters + spoken,
      total: this.total,
      work: this.#isLive ? undefined : this.#asked.work,
      audioSeconds: this.#audioSeconds,
      seconds: (performance.now() - this.#started) / 1000,
    };
  }

  #waiting(): Waiting | undefined {
    const now = performance.now();
    if (this.#pause && now < this.#pause.until && now - this.#lastSound > STALLED_MS)
      return { reason: this.#pause.reason, secondsLeft: (this.#pause.until - now) / 1000 };
    if (this.hasSound) return undefined;
    const reason = this.#hasAsked ? 'waiting for the first sound' : 'waiting for the text';
    return { reason, secondsLeft: undefined };
  }
}

/** Milliseconds. ora loads after the first request was sent. */
const PATIENCE_MS = 150;

/** The cursor and the spinner need these columns. The last one stays free, since some terminals wrap after it. */
const RESERVED_COLUMNS = 4;

const LEAST_COLUMNS = 12;

export interface LineOptions {
  readonly host: Pick<Host, 'stderr' | 'env'>;
  readonly notices: Notices;
}

/**
 * Only the frames are ora's: its drawing leaves pieces behind in a narrower window, and sets up stdout, which belongs to the
 * sound.
 */
export class ProgressLine implements Disposable {
  readonly #options: LineOptions;
  readonly #render: (columns: number) => string;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(options: LineOptions, render: (columns: number) => string) {
    this.#options = options;
    this.#render = render;
    this.#timer = setTimeout(() => void this.#show(), PATIENCE_MS);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.notices.erase();
  }

  async #show(): Promise<void> {
    const { default: ora } = await import('ora');
    if (this.#isOver) return;
    const { host } = this.#options;
    const spinner = ora({
      stream: host.stderr.stream,
      color: host.env.NO_COLOR ? false : 'cyan',
      isEnabled: false,
      discardStdin: false,
    });
    this.#timer = setInterval(() => this.#draw(spinner), spinner.interval);
    this.#draw(spinner);
  }

  #draw(spinner: Ora): void {
    const { host, notices } = this.#options;
    const columns = host.stderr.columns ?? 0;
    if (columns < LEAST_COLUMNS) return;
    spinner.text = this.#render(columns - RESERVED_COLUMNS);
    notices.draw(` ${spinner.frame()}`);
  }
}

/** The progress of one run: a line on a terminal, and a note from time to time elsewhere. */
export class Progress implements Disposable {
  readonly count: ProgressCount;
  readonly isDrawn: boolean;
  readonly #total: (signal: AbortSignal) => Promise<Total | undefined>;
  readonly #over = new AbortController();
  readonly #shown: Disposable;
  #counting: Promise<void> | undefined;

  constructor(
    total: (signal: AbortSignal) => Promise<Total | undefined>,
    options: LineOptions,
    isLive: boolean,
  ) {
    const { host, notices } = options;
    this.#total = total;
    this.count = new ProgressCount((text) => inOneLine(notices.redact(text)), isLive);
    this.isDrawn = isProgressWanted(host, notices);
    this.#shown = this.isDrawn
      ? new ProgressLine(options, (columns) => {
          void this.#countAll();
          return renderProgress(this.count.state, columns);
        })
      : new ProgressNotes(notices, async () => {
          await this.#countAll();
          return renderProgress(this.count.state, Number.POSITIVE_INFINITY);
        });
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#shown[Symbol.dispose]();
  }

  /** The text is read a second time once there is sound, so that it does not delay that. */
  async #countAll(): Promise<void> {
    if (this.count.hasSound) this.#counting ??= this.#readAll();
    await this.#counting;
  }

  async #readAll(): Promise<void> {
    this.count.total = await this.#total(this.#over.signal);
  }
}

/** Bytes. It would take seconds to read more text twice. */
const LARGEST_BYTES = 16 * 2 ** 20;

export async function totalOf(
  text: RunText,
  isLive: boolean,
  signal: AbortSignal,
): Promise<Total | undefined> {
  const total = { segments: 0, characters: 0 };
  const headings = new Set<object>();
  if (!text.canBeReadAgain || text.knownSize > LARGEST_BYTES) return undefined;
  try {
    for await (const segment of text.segments(isLive, signal)) {
      if (segment.kind === 'rest') continue;
      total.segments += 1;
      total.characters += countCodePoints(segment.text);
      if (segment.chapter !== undefined) headings.add(segment.chapter);
    }
  } catch {
    return undefined;
  }
  return headings.size > 0 ? { ...total, chapters: headings.size } : total;
}

/** A shorter run says nothing off a terminal. */
export const LONG_RUN_MS = 10_000;
const BETWEEN_NOTES_MS = 30_000;

/** Says from time to time how far a long run is. */
export class ProgressNotes implements Disposable {
  readonly #notices: Pick<Notices, 'note'>;
  readonly #text: () => Promise<string>;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(notices: Pick<Notices, 'note'>, text: () => Promise<string>) {
    this.#notices = notices;
    this.#text = text;
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => void this.#say(), BETWEEN_NOTES_MS).unref();
      void this.#say();
    }, LONG_RUN_MS).unref();
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  async #say(): Promise<void> {
    const text = await this.#text();
    if (!this.#isOver) this.#notices.note(text);
  }
}

/** @returns `undefined` where a progress line is drawn, and where notes are not wanted */
export function notesFor(options: LineOptions, text: () => Promise<string>): ProgressNotes | undefined {
  const { host, notices } = options;
  return isProgressWanted(host, notices) || isSilent(notices) ? undefined : new ProgressNotes(notices, text);
}

/**
 * @param isHeard true for a run whose sound is played: it gets no notes
 * @returns `undefined` where it is not wanted
 */
export function showProgress(
  total: (signal: AbortSignal) => Promise<Total | undefined>,
  options: LineOptions,
  { isLive = false, isHeard = false } = {},
): Progress | undefined {
  const { host, notices } = options;
  const isOff = !isProgressWanted(host, notices) && (isHeard || isSilent(notices));
  return isOff ? undefined : new Progress(total, options, isLive || isHeard);
}

function isSilent({ quiet, verbose, json }: Notices): boolean {
  return quiet || verbose || json;
}
