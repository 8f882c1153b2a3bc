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

/** Milliseconds. A shorter run prints no progress and no closing note unless stderr is a terminal. */
export const LONG_RUN_MS = 10_000;

const BETWEEN_NOTES_MS = 30_000;

/** Milliseconds before the first line is drawn, so that ora is loaded only after the first request was sent. */
const FIRST_DRAW_MS = 150;
const FRAME_MS = 80;

/** Columns for the cursor and the spinner, and the last column, after which some terminals wrap. */
const RESERVED_COLUMNS = 4;

const LEAST_COLUMNS = 12;

/** The progress of one run. */
export interface Progress extends Disposable {
  readonly count: ProgressCount;
  /** False if the progress is shown by notes from time to time. */
  readonly isDrawn: boolean;
}

interface ShowOptions {
  readonly host: Pick<Host, 'stderr' | 'env'>;
  readonly notices: Notices;
}

/**
 * @param readTotal reads the text a second time. It is called once there is sound, which it would delay
 * @param how `isLive`: the sound is heard as it comes, so that the run takes as long as the sound; `isHeard`: the sound is
 * played, and no notes are printed
 * @returns `undefined` if no progress is wanted
 */
export function showProgress(
  readTotal: (signal: AbortSignal) => Promise<Total | undefined>,
  options: ShowOptions,
  { isLive = false, isHeard = false } = {},
): Progress | undefined {
  const { host, notices } = options;
  const count = new ProgressCount((text) => inOneLine(notices.redact(text)), isLive || isHeard);
  const over = new AbortController();
  let reading: Promise<void> | undefined;
  const look = async () => {
    if (count.hasSound)
      reading ??= readTotal(over.signal).then((total) => {
        count.total = total;
      });
    await reading;
  };
  const shown = showWhile((columns) => renderProgress(count.state, columns), options, {
    look,
    mayNote: !isHeard,
  });
  return (
    shown && {
      count,
      isDrawn: isProgressWanted(host, notices),
      [Symbol.dispose]() {
        over.abort();
        shown[Symbol.dispose]();
      },
    }
  );
}

/**
 * Shows a text until the result is disposed: as a line on a terminal, otherwise as a note from time to time.
 * @param how `look` gets the data for the text; only notes wait for it
 * @returns `undefined` if neither is wanted
 */
export function showWhile(
  render: (columns: number) => string,
  { host, notices }: ShowOptions,
  { look = async () => {}, mayNote = true }: { look?: () => Promise<void>; mayNote?: boolean } = {},
): Disposable | undefined {
  const isDrawn = isProgressWanted(host, notices);
  const { quiet, verbose, json } = notices;
  if (!isDrawn && (!mayNote || quiet || verbose || json)) return undefined;
  let isOver = false;
  let spinner: Promise<Ora> | undefined;
  const draw = async () => {
    void look();
    spinner ??= loadSpinner(host);
    const drawn = await spinner;
    const columns = host.stderr.columns ?? 0;
    if (isOver || columns < LEAST_COLUMNS) return;
    drawn.text = render(columns - RESERVED_COLUMNS);
    notices.draw(` ${drawn.frame()}`);
  };
  const note = async () => {
    await look();
    if (!isOver) notices.note(render(Number.POSITIVE_INFINITY));
  };
  const ticking = isDrawn
    ? repeat(draw, FIRST_DRAW_MS, FRAME_MS)
    : repeat(note, LONG_RUN_MS, BETWEEN_NOTES_MS);
  return {
    [Symbol.dispose]() {
      isOver = true;
      ticking[Symbol.dispose]();
      notices.erase();
    },
  };
}

/**
 * Loads ora for its frames only: its drawing leaves remains in a narrower window, and sets up stdout, which belongs to the
 * sound.
 */
async function loadSpinner({ stderr, env }: ShowOptions['host']): Promise<Ora> {
  const { default: ora } = await import('ora');
  const color = env.NO_COLOR ? false : 'cyan';
  return ora({ stream: stderr.stream, color, isEnabled: false, discardStdin: false });
}

/** Calls `act` after `firstMs`, and then each `everyMs`, until the result is disposed. Keeps no process alive. */
function repeat(act: () => Promise<void>, firstMs: number, everyMs: number): Disposable {
  let timer = setTimeout(() => {
    timer = setInterval(() => void act(), everyMs).unref();
    void act();
  }, firstMs).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Most bytes of a text that is read twice. Reading more would take seconds. */
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
      if (segment.kind === 'silence') continue;
      total.segments += 1;
      total.characters += countCodePoints(segment.text);
      if (segment.chapter !== undefined) headings.add(segment.chapter);
    }
  } catch {
    return undefined;
  }
  return headings.size > 0 ? { ...total, chapters: headings.size } : total;
}

/** Milliseconds without sound after which the progress line shows that a retry is waited for. */
const STALLED_MS = 1000;

/** Share of the work of all open requests that counts as done: some of them have not begun. */
const SHARE_OF_OPEN = 0.3;

/** Percent done before the remaining time is shown: earlier, a slow start would turn a minute into hours. */
const LEAST_TELLING_PERCENT = 1;

export interface ProgressState {
  readonly waiting: { readonly reason: string; readonly secondsLeft: number | undefined } | undefined;
  /** The chapter that is heard, counted from 1. */
  readonly chapter?: { readonly number: number; readonly title: string } | undefined;
  readonly segments: number;
  readonly characters: number;
  readonly total: Total | undefined;
  readonly audioSeconds: number;
  readonly seconds: number;
  /** The characters spoken so far, including prefetched ones, and the time that they took. */
  readonly work?: { readonly characters: number; readonly seconds: number } | undefined;
}

interface Total {
  readonly segments: number;
  readonly characters: number;
  readonly chapters?: number;
}

export class ProgressCount implements Listener {
  total: Total | undefined;
  readonly #safe: (text: string) => string;
  readonly #isLive: boolean;
  readonly #started = Date.now();
  #segments = 0;
  #characters = 0;
  #audioSeconds = 0;
  /** `share` is the part of the sound that was heard, from 0 to 1. */
  #current: { readonly segment: Segment; readonly speech: Speech; share: number } | undefined;
  /** Characters of open requests, by the index of their segment. */
  readonly #open = new Map<number, number>();
  #answered = 0;
  #firstRequest: number | undefined;
  #pause: { readonly reason: string; readonly until: number } | undefined;
  #lastSound = Number.NEGATIVE_INFINITY;
  #heading: Heading | undefined;
  #chapters = 0;

  /** @param isLive true if the sound is heard as it comes, so that the run takes as long as the sound */
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
    if (event.type === 'sound') this.#hear(event.pcm.length);
    if (event.type === 'spoken') this.#end();
  }

  #note(event: VoiceEvent): void {
    if (event.type === 'request') {
      this.#firstRequest ??= Date.now();
      this.#open.set(event.index, countCodePoints(event.text));
    } else if (event.type === 'answer') {
      this.#answered += this.#open.get(event.index) ?? 0;
      this.#open.delete(event.index);
    } else if (event.type === 'retry') {
      const { retry, message } = event.error;
      const status = retry?.status === undefined ? '' : ` (${retry.status})`;
      const reason =
        retry?.after === undefined ? this.#safe(message) : `the service asks for a pause${status}`;
      this.#pause = { reason, until: Date.now() + event.seconds * 1000 };
    }
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
    this.#lastSound = Date.now();
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
      work: this.#work(),
      audioSeconds: this.#audioSeconds,
      seconds: (Date.now() - this.#started) / 1000,
    };
  }

  #waiting(): ProgressState['waiting'] {
    const now = Date.now();
    if (this.#pause && now < this.#pause.until && now - this.#lastSound > STALLED_MS)
      return { reason: this.#pause.reason, secondsLeft: (this.#pause.until - now) / 1000 };
    if (this.hasSound) return undefined;
    const what = this.#firstRequest === undefined ? 'text' : 'first sound';
    return { reason: `waiting for the ${what}`, secondsLeft: undefined };
  }

  /** Returns `undefined` before the first answer, when the pace is not known. */
  #work(): ProgressState['work'] {
    if (this.#isLive || this.#firstRequest === undefined || this.#answered === 0) return undefined;
    const open = [...this.#open.values()].reduce((sum, each) => sum + each, 0);
    const characters = this.#answered + SHARE_OF_OPEN * open;
    return { characters, seconds: (Date.now() - this.#firstRequest) / 1000 };
  }
}

export function renderProgress(state: ProgressState, columns: number): string {
  const { waiting, chapter, segments, characters, total, audioSeconds, seconds } = state;
  if (waiting?.secondsLeft !== undefined)
    return shortened(`waiting ${Math.ceil(waiting.secondsLeft)} s: ${waiting.reason}`, columns);
  if (waiting) return shortened(waiting.reason + (seconds < 1 ? '' : `  ${duration(seconds)}`), columns);
  const percent = total?.characters && Math.min(100, (characters * 100) / total.characters);
  const left = secondsLeft(state);
  const of = (count: number | undefined) => (count === undefined ? '' : `/${count}`);
  const title = chapter?.title && `: ${shortened(chapter.title, TITLE_COLUMNS)}`;
  return fitting(
    [
      [2.5, chapter && `chapter ${chapter.number}${of(total?.chapters)}${title}`],
      [0, total ? `${segments}/${countOf(total.segments, 'segment')}` : countOf(segments, 'segment')],
      [1, percent !== undefined && `${Math.floor(percent)} %`],
      [3, `${duration(audioSeconds)} of audio`],
      [4, `${(audioSeconds / seconds).toFixed(1)}x real time`],
      [5, `${Math.round(characters / seconds)} characters/s`],
      [2, left !== undefined && `${duration(left)} left`],
    ],
    columns,
  );
}

/** Columns for the title of a chapter. */
const TITLE_COLUMNS = 24;

function secondsLeft({ total, work, characters, seconds }: ProgressState): number | undefined {
  const done = work ?? { characters, seconds };
  if (!total || done.characters * 100 < total.characters * LEAST_TELLING_PERCENT) return undefined;
  const left = total.characters - Math.max(characters, done.characters);
  return (done.seconds / done.characters) * Math.max(0, left);
}

export interface RowProgress {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
  readonly seconds: number;
}

/** Returns `120/300 rows  40 %  2 failed  1 min 10 s left`. */
export function renderRows({ done, failed, total, seconds }: RowProgress, columns: number): string {
  return fitting(
    [
      [0, `${done}/${countOf(total, 'row')}`],
      [3, `${Math.floor((done * 100) / total)} %`],
      [1, failed > 0 && `${failed} failed`],
      [2, done > 0 && `${duration((seconds / done) * (total - done))} left`],
    ],
    columns,
  );
}

/** A part of a line. In a narrow window, the field with the highest rank is left out first. */
type Field = readonly [rank: number, text: string | false | undefined];

function fitting(fields: readonly Field[], columns: number): string {
  const shown = fields.filter(([, text]) => text);
  const line = shown.map(([, text]) => text).join('  ');
  if (shown.length === 1 || widthOf(line) <= columns) return shortened(line, columns);
  const last = Math.max(...shown.map(([rank]) => rank));
  return fitting(
    shown.filter(([rank]) => rank !== last),
    columns,
  );
}

function shortened(text: string, columns: number): string {
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
