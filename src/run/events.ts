import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDescriptor, isReadOnly } from '../kit/descriptor.ts';
import type { Drops } from '../kit/drops.ts';
import { type TtsError, usageError } from '../kit/error.ts';
import { pathOf, unwritable } from '../kit/folders.ts';
import type { RunContext } from '../kit/host.ts';
import { openPipe } from '../out/open.ts';
import type { Delivery, Sink } from '../out/sink.ts';
import { frameBytes, type PcmFormat, secondsOf } from '../sound/pcm.ts';
import { Places } from '../text/places.ts';
import type { Segment } from '../text/segment.ts';
import { usualSeconds } from '../text/speaking-time.ts';
import { countCodePoints } from '../text/unicode.ts';
import type { FellBack } from '../voices/fallback.ts';
import type { Part } from './ahead.ts';
import type { Listener, RunEvent } from './run.ts';
import { spread, type WordAt, type WordTimes, wordsIn } from './words.ts';

/** A line of the event log. docs/events.schema.json describes all of them. */
export type EventLine = Readonly<Record<string, string | number | boolean>>;

interface EventsOptions {
  readonly write: (line: EventLine) => void;
  /** Returns the PCM bytes heard so far; without it, all sound that the output took counts as heard. */
  readonly heard: (() => number) | undefined;
  /** Finds the exact times of words in a segment; without it, times are in proportion to the characters. */
  readonly wordsOf?: (segment: Segment) => Promise<readonly WordAt[] | undefined>;
}

export type StopReason = 'interrupted' | 'dropped' | 'left' | 'failed';

/** A segment whose sound goes to the output, from one byte of the run's sound to another. */
interface SoundingSegment {
  readonly segment: Segment;
  readonly format: PcmFormat;
  readonly from: number;
  to: number;
  /** The size of its sound, if it is known before all of it has come. */
  readonly bytes: number | undefined;
  /** True if all its sound has come. */
  isEnded: boolean;
  /** True if some of its sound is missing. */
  isBroken: boolean;
  isPlaying: boolean;
  /** Set as soon as they are known. */
  words: readonly WordAt[] | undefined;
}

/** Milliseconds between two checks of how much has been heard. */
const POLL_MS = 20;

/** Writes an event for each change of a segment: it compares the sound of a run with how much of it has been heard. */
export class Events implements Listener {
  readonly #options: EventsOptions;
  readonly #queued: Segment[] = [];
  readonly #sounding: SoundingSegment[] = [];
  #last: Segment | undefined;
  /** Characters of the input up to the last one that was heard. */
  #heardTo = 0;
  /** PCM bytes that the output has taken. */
  #taken = 0;
  #format: PcmFormat | undefined;
  #spoken = { seconds: 0, characters: 0 };
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** True after a drop, until there is sound again. */
  #isDropped = false;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  on(event: RunEvent): void {
    if (event.type === 'queued') this.#queue(event.segment);
    if (event.type === 'fallback') this.#fallBack(event.how);
    if (event.type === 'started') this.#begin(event.part, event.pauseFrames);
    if (event.type === 'sound') this.#hearMore(event.pcm.length);
    if (event.type === 'spoken') this.#endPart(event.isBroken);
  }

  #queue(segment: Segment): void {
    // A segment may be requested again.
    if (this.#isOver || this.#queued.some(({ index }) => index === segment.index)) return;
    this.#queued.push(segment);
    this.#tell('queued', segment);
  }

  #begin({ segment, speech }: Part, pauseFrames: number): void {
    const at = this.#queued.findIndex(({ index }) => index === segment.index);
    if (at >= 0) this.#queued.splice(0, at + 1);
    if (!speech) return;
    // Sound that was dropped unheard does not count in the positions of the run.
    if (this.#isDropped) this.#taken = this.#heard;
    this.#isDropped = false;
    this.#format = speech.format;
    this.#taken += pauseFrames * frameBytes(speech.format);
    const from = this.#taken;
    const { format, bytes } = speech;
    const state = { isEnded: false, isBroken: false, isPlaying: false, words: undefined };
    const sounding: SoundingSegment = { segment, format, bytes, from, to: from, ...state };
    this.#sounding.push(sounding);
    this.#options.wordsOf?.(segment).then(
      (words) => {
        sounding.words = words;
      },
      // The run was stopped.
      () => {},
    );
  }

  #hearMore(bytes: number): void {
    const last = this.#sounding.at(-1);
    this.#taken += bytes;
    if (last) last.to = this.#taken;
    this.#look();
  }

  #endPart(isBroken: boolean): void {
    const last = this.#sounding.at(-1);
    if (last) Object.assign(last, { isEnded: true, isBroken });
    this.#look();
  }

  #fallBack({ voice, error, from }: FellBack): void {
    this.#tell('fallback', from, { voice, error: error.message, exitCode: error.exitCode });
  }

  /** Ends the events of a run whose sound has all been heard. */
  finish(): void {
    this.#hear(this.#taken);
    this.#end();
  }

  /** Writes `stopped` and forgets all segments so far. Later ones count again. */
  drop(): void {
    this.#tellStop('dropped');
    this.#queued.length = 0;
    this.#sounding.length = 0;
    this.#isDropped = true;
    this.#look();
  }

  /** Writes `stopped` and ends the events. */
  stop(reason: StopReason): void {
    this.#tellStop(reason);
    this.#end();
  }

  #tellStop(reason: StopReason): void {
    if (this.#isOver) return;
    const heard = this.#heard;
    this.#hear(heard);
    const [current] = this.#sounding;
    const segment = current?.segment ?? this.#queued[0] ?? this.#last;
    const isBegun = current?.isPlaying === true;
    this.#heardTo = isBegun ? this.#charactersOf(current, heard) : this.#borderBefore(current);
    this.#tell('stopped', segment, {
      reason,
      heard: this.#heardTo,
      estimated: isBegun,
      at: this.#secondsAt(heard),
      ...(isBegun && this.#wordAt(current, heard)),
    });
  }

  get #heard(): number {
    return Math.min(this.#taken, this.#options.heard?.() ?? this.#taken);
  }

  #look(): void {
    if (this.#isOver) return;
    this.#hear(this.#heard);
    const isWaiting = this.#sounding.some(({ isEnded, isPlaying }) => isEnded || !isPlaying);
    if (isWaiting) this.#timer ??= setInterval(() => this.#look(), POLL_MS).unref();
    else this.#rest();
  }

  #hear(heard: number): void {
    for (let [first] = this.#sounding; first; [first] = this.#sounding) {
      const { segment, from, to, isEnded, isBroken, format } = first;
      const isHeard = isEnded && heard >= to;
      if (!first.isPlaying && (heard > from || isHeard)) {
        first.isPlaying = true;
        const { sampleRate, channels } = format;
        this.#tell('playing', segment, { at: this.#secondsAt(from), sampleRate, channels });
      }
      if (!isHeard) return;
      this.#last = segment;
      this.#sounding.shift();
      const at = this.#secondsAt(to);
      if (isBroken) {
        this.#heardTo = this.#charactersOf(first, to);
        const about = { at, heard: this.#heardTo, estimated: true, ...this.#wordAt(first, to) };
        this.#tell('broken', segment, about);
        continue;
      }
      this.#tell('spoken', segment, { at });
      this.#spoken.seconds += secondsOf(format, to - from);
      this.#spoken.characters += countCodePoints(segment.text);
      this.#heardTo = segment.span?.end ?? this.#heardTo;
    }
  }

  /** Estimates, from the share of a segment that was heard, up to which character of the input it was heard. */
  #charactersOf(sounding: SoundingSegment, heard: number): number {
    const { segment, from } = sounding;
    const { start, end } = segment.span ?? { start: 0, end: countCodePoints(segment.text) };
    const share = (heard - from) / (this.#wholeOf(sounding) - from);
    return start + Math.floor((end - start) * Math.min(1, share));
  }

  /** The byte at which the sound of a segment ends, or is expected to end. */
  #wholeOf({ segment, format, bytes, from, to, isEnded, isBroken }: SoundingSegment): number {
    if (isEnded && !isBroken) return to;
    const { seconds, characters } = this.#spoken;
    const guessed =
      characters > 0 ? (seconds / characters) * countCodePoints(segment.text) : usualSeconds(segment.text);
    return Math.max(to, from + (bytes ?? guessed * format.sampleRate * frameBytes(format)));
  }

  /** The last word that had begun at this byte. */
  #wordAt(sounding: SoundingSegment, heard: number): EventLine {
    const { segment, format, from, words: exact } = sounding;
    const seconds = secondsOf(format, heard - from);
    const words =
      exact ?? spread(wordsIn(segment.text), 0, secondsOf(format, this.#wholeOf(sounding) - from));
    const word = words.findLast(({ start }) => start <= seconds) ?? words[0];
    if (!word) return {};
    const wordAt = countCodePoints(segment.text.slice(0, word.at));
    return { word: word.text, wordAt, wordTimes: exact ? 'exact' : 'spread' };
  }

  /** The character at which the next segment begins, or up to which the last one was heard. */
  #borderBefore(current: SoundingSegment | undefined): number {
    const next = current?.segment ?? this.#queued[0];
    return next?.span?.start ?? this.#heardTo;
  }

  #secondsAt(bytes: number): number {
    return this.#format ? rounded(secondsOf(this.#format, bytes)) : 0;
  }

  #tell(event: string, segment: Segment | undefined, about: EventLine = {}): void {
    const place = segment && {
      index: segment.index,
      text: segment.text,
      ...segment.span,
      ...(segment.place.source !== '' && { file: segment.place.source }),
    };
    this.#options.write({ event, time: Date.now() / 1000, ...place, ...about });
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(): void {
    this.#rest();
    this.#isOver = true;
  }
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Where event lines are written. If its reader leaves or the disk is full, the log ends and the speech continues. */
export interface EventLog extends AsyncDisposable {
  write(line: EventLine): void;
}

/** Bytes that are buffered for a slow reader. One that is further behind gets no more lines. */
const MOST_BEHIND = 8 * 1024 * 1024;

/** Milliseconds that a slow reader has at the end of the run to read the rest. */
const LAST_MS = 1000;

/**
 * @param where a descriptor that the caller has opened, from 3 on, or a file: a new one is private, an old one is extended
 * @param onLost is called once, with the reason, when a file takes no more lines
 * @throws TtsError (output) for a file that cannot be written
 */
export async function openEventLog(
  where: string,
  cwd: string,
  signal: AbortSignal,
  onLost: (error: TtsError) => void,
): Promise<EventLog> {
  const failure = (error: unknown) => unwritable(where, error, 'name another file with --events');
  const lost = (error: unknown) => onLost(failure(error));
  if (isDescriptor(where)) return logOf(Number(where), fstatSync(Number(where)), lost);
  const path = pathOf(cwd, where);
  try {
    const fd = isPipe(path) ? await openPipe(path, signal) : openSync(path, 'a', 0o600);
    return logOf(fd, fstatSync(fd), lost);
  } catch (error) {
    signal.throwIfAborted();
    throw failure(error);
  }
}

/**
 * Refuses a descriptor that the caller has not opened. To be called before the run opens files, which would get such numbers.
 * @param where as in {@link openEventLog}
 * @throws TtsError (usage)
 */
export function assertOpenedByCaller(where: string): void {
  if (!isDescriptor(where)) return;
  const fd = Number(where);
  if (fd < 3)
    throw usageError(
      `--events ${fd}: events cannot go to ${['stdin', 'stdout', 'stderr'][fd]}`,
      'use a descriptor from 3 on (tts --events 3 3>events.jsonl), or name a file',
    );
  try {
    const stats = fstatSync(fd);
    if (!isOfThisProgram(fd, stats) && !isReadOnly(fd)) return;
  } catch {
    // The error below tells what to do.
  }
  throw usageError(
    `--events ${fd}: descriptor ${fd} is not open for writing`,
    `open it where tts is started: tts --events ${fd} ${fd}>events.jsonl; a file with this name is ./${fd}`,
  );
}

/** True for a descriptor that Node uses itself, where no event may go. Only Linux shows this. */
function isOfThisProgram(fd: number, stats: Stats): boolean {
  const targetOf = (name: number | string) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return undefined;
    }
  };
  const target = targetOf(fd);
  if (target === undefined || !stats.isFIFO()) return target?.startsWith('anon_inode:') ?? false;
  // This process holds both ends of a pipe that Node made for itself.
  const others = readdirSync('/proc/self/fd').filter(
    (name) => Number(name) !== fd && targetOf(name) === target,
  );
  return others.some((name) => isReadOnly(Number(name)));
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

function logOf(fd: number, stats: Stats, onLost: (error: unknown) => void): EventLog {
  return stats.isFIFO() || stats.isSocket() ? pipeLog(fd) : fileLog(fd, onLost);
}

/** Each line is in the file when `write` returns. */
function fileLog(fd: number, onLost: (error: unknown) => void): EventLog {
  let isOpen = true;
  return {
    write(line) {
      try {
        if (isOpen) writeFileSync(fd, textOf(line));
      } catch (error) {
        isOpen = false;
        onLost(error);
      }
    },
    async [Symbol.asyncDispose]() {
      closeSync(fd);
    },
  };
}

/** Writes without blocking: a reader that is slow, or gone, must not delay the speech. */
function pipeLog(fd: number): EventLog {
  const stream = new Socket({ fd, readable: false, writable: true });
  stream.on('error', () => {});
  return {
    write(line) {
      if (stream.writableLength < MOST_BEHIND) stream.write(textOf(line), () => {});
      else stream.destroy();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => void stream.once('close', resolve));
      stream.end(() => stream.destroy());
      if (!stream.closed) await Promise.race([closed, sleep(LAST_MS, undefined, { ref: false })]);
      stream.destroy();
    },
  };
}

function textOf(line: EventLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The events of a run. Disposing them reports that the run failed, unless its end was reported before. */
export interface RunEvents extends AsyncDisposable {
  readonly listener: Events;
  readonly places: Places;
  end(delivery: Delivery | undefined): void;
}

type EventsContext = Pick<RunContext, 'host' | 'signal' | 'notices'> & {
  readonly drops: Drops | undefined;
  readonly words: WordTimes | undefined;
};

/**
 * @param where the value of `--events`
 * @throws TtsError (usage) for a descriptor that is not open, (output) for a file that cannot be written
 */
export async function openEvents(
  where: string,
  { played }: Sink,
  { host, signal, notices, drops, words }: EventsContext,
): Promise<RunEvents> {
  const log = await openEventLog(where, host.cwd, signal, ({ message }) =>
    notices.warn(`${message}; the rest of the events is missing`),
  );
  const write = (line: EventLine) => log.write(line);
  const listener = new Events({
    write,
    heard: played,
    // Only playback can stop in the middle of a word that somebody heard.
    ...(played && words && { wordsOf: (segment) => words.exactOf(segment) }),
  });
  const interrupt = () => listener.stop('interrupted');
  signal.addEventListener('abort', interrupt, { once: true });
  drops?.listen(() => listener.drop());
  return {
    listener,
    places: new Places(),
    end(delivery) {
      if (delivery?.readerLeft) listener.stop('left');
      else if (!delivery?.failure) listener.finish();
    },
    async [Symbol.asyncDispose]() {
      signal.removeEventListener('abort', interrupt);
      listener.stop('failed');
      await log[Symbol.asyncDispose]();
    },
  };
}
