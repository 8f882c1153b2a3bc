import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { ExitCode, TtsError } from '../kit/error.ts';
import { unwritable } from '../kit/folders.ts';
import { Child, outputOf } from '../kit/program.ts';
import { unlessAborted } from '../kit/wait.ts';
import type { Written } from '../sound/encode/encoding.ts';
import { wav } from '../sound/encode/wav.ts';
import { counted, frameBytes, type PcmFormat, type Track } from '../sound/pcm.ts';
import { Gate, nothingPoured, type Poured, pour } from './pipe.ts';
import type { Sink } from './sink.ts';

/** Bytes that the pipe of a player holds, or more. */
const PIPE_BYTES = 256 * 1024;

/** What a player starts late, and what it and the device hold, is heard so much later. */
const LATENCY_MS = 500;

/**
 * How much of a track a player has played. No system tells it: what is in the pipe is not played yet, and a player plays
 * in real time. So the time counts since the player got sound, and stands still while it has none. A player that takes
 * more than that and the pipe can hold has played more.
 */
export class Hearing {
  readonly #pending: () => number;
  readonly #mostAhead: number;
  #bytesPerMs = 0;
  #given = 0;
  #played = 0;
  #at = 0;
  #isPaused = false;
  /** The time at which the last sound ended. It is `undefined` before, and while there is more. */
  #endedAt: number | undefined;

  /**
   * @param pending bytes that were given, but not written to the pipe yet
   * @param mostAhead bytes that the player can be ahead of what it plays
   */
  constructor(pending = () => 0, mostAhead = PIPE_BYTES) {
    this.#pending = pending;
    this.#mostAhead = mostAhead;
  }

  /** It counts PCM bytes. */
  get played(): number {
    // Not `performance`, which takes 2 ms to load.
    const now = Date.now();
    const taken = Math.max(0, this.#given - this.#pending());
    const passed = this.#isPaused ? 0 : Math.max(0, now - this.#at);
    const inTime = Math.min(taken, this.#played + this.#bytesPerMs * passed);
    const left = this.#given - this.#played;
    this.#played = Math.max(this.#played, inTime, taken - this.#mostAhead);
    if (this.#played === this.#given && this.#bytesPerMs > 0)
      this.#endedAt ??= Math.min(now, this.#at + left / this.#bytesPerMs);
    this.#at = now;
    return Math.floor(this.#played);
  }

  /** Seconds for which nothing has been heard since the last sound, at least. */
  get idle(): number {
    void this.played;
    return this.#endedAt === undefined ? 0 : Math.max(0, Date.now() - this.#endedAt - LATENCY_MS) / 1000;
  }

  /** The same track, whose sound is counted as it is given to the player. */
  of(track: Track): Track {
    const { pcm, format } = track;
    return { ...track, pcm: counted(pcm, (bytes) => this.give(bytes, format)) };
  }

  pause(isPaused: boolean): void {
    // The time until now counts.
    void this.played;
    this.#isPaused = isPaused;
  }

  /** What was given and is not played yet will not be played. */
  drop(): void {
    this.#played = this.played;
    this.#given = this.#played;
  }

  give(bytes: number, format: PcmFormat): void {
    this.#bytesPerMs = (format.sampleRate * frameBytes(format)) / 1000;
    // The time counts only while there is sound.
    void this.played;
    this.#given += bytes;
    this.#endedAt = undefined;
  }
}

/** What players say that end with 0 and have played nothing. */
const UNHEARD: Readonly<Record<string, RegExp>> = { ffplay: /audio open failed/ };

export class PlayerProcess {
  readonly program: string;
  readonly name: string;
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  failure: TtsError | undefined;
  readonly #child: Child;

  private constructor(program: string, child: Child) {
    this.program = program;
    this.name = basename(program);
    this.#child = child;
    this.ended = this.#end();
  }

  /**
   * @param stdin a descriptor, or what to make
   * @throws the system's error
   */
  static async start(
    program: string,
    args: readonly string[],
    stdin: 'pipe' | 'ignore' | number,
    env: NodeJS.ProcessEnv,
  ): Promise<PlayerProcess> {
    const child = new Child(program, args, { env, stdin, stdout: 'ignore' });
    await child.started;
    return new PlayerProcess(program, child);
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  /** Sound that the device has is still heard, for a moment. */
  pause(isPaused: boolean): void {
    this.#child.hold(isPaused);
  }

  /** Silence is worth more than a player that ends well. */
  kill(): void {
    this.#child.end();
  }

  /** Resolves when the player is gone, or cannot be stopped. */
  stop(): Promise<void> {
    return this.#child.stop();
  }

  async #end(): Promise<TtsError | undefined> {
    const { status, signal } = await this.#child.spoken();
    const isUnheard = UNHEARD[this.name]?.test(this.#child.said);
    if (status !== 0 || isUnheard) this.failure = this.#failed(signal ?? `exit status ${status}`);
    return this.failure;
  }

  #failed(how: string): TtsError {
    return new TtsError(`the player ${this.name} failed: ${this.#child.lastWords || how}`, {
      exitCode: ExitCode.output,
      hint: 'choose another player with --player, or write a file with -o',
    });
  }
}

export interface Take {
  readonly track: Track;
  /** It aborts at the drop that ends the take. */
  readonly dropped: AbortSignal | undefined;
}

/** The sound of a track in takes: each ends at a drop, and the next one begins behind the `Flush` of that drop. */
export class Takes {
  readonly #track: Track;
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** A piece that was asked for, and that no take has got yet. */
  #coming: Promise<IteratorResult<Uint8Array>> | undefined;

  constructor(track: Track) {
    this.#track = track;
    this.#pieces = track.pcm[Symbol.asyncIterator]();
  }

  first(): Take {
    const dropped = this.#track.drops?.signal;
    return { dropped, track: dropped ? { ...this.#track, pcm: this.#until(dropped) } : this.#track };
  }

  /** It waits for sound. It is `undefined` at the end of the track. */
  async next(): Promise<Take | undefined> {
    const { drops } = this.#track;
    let passed: Uint8Array | undefined;
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return undefined;
      // Another drop may have come since.
      if (passed === drops?.flush && value.length > 0) break;
      if (value === drops?.flush) passed = value;
      this.#coming = undefined;
    }
    const { track, dropped } = this.first();
    return { track: { ...track, bytes: undefined }, dropped };
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#coming ??= this.#pieces.next();
    return this.#coming;
  }

  async *#until(dropped: AbortSignal): AsyncGenerator<Uint8Array> {
    let isLeft = true;
    try {
      for (;;) {
        const next = await unlessDropped(this.#next(), dropped);
        isLeft = next?.done !== true && !dropped.aborted;
        if (!next || next.done || dropped.aborted) return;
        this.#coming = undefined;
        if (next.value.length > 0) yield next.value;
      }
    } finally {
      if (isLeft && !dropped.aborted) await this.#pieces.return?.();
    }
  }
}

async function unlessDropped<T>(coming: Promise<T>, dropped: AbortSignal): Promise<T | undefined> {
  return unlessAborted(coming, dropped).catch((error) => {
    if (dropped.aborted) return undefined;
    throw error;
  });
}

export interface LiveSink extends Sink {
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  readonly failure: TtsError | undefined;
}

export const NEVER = new Promise<void>(() => {});

/** A player, and the pipe that it reads. */
export interface Running {
  readonly player: PlayerProcess;
  readonly input: Writable;
}

/**
 * A closed player is a reader that left; a failed one is an error at once.
 * @param again starts the player once more, for what comes after a drop
 */
export function liveSink(first: Running, again: () => Promise<Running>): LiveSink {
  const { ended } = first.player;
  first.input.on('error', () => {});
  let running = first;
  const hearing = new Hearing(() => running.input.writableLength);
  const gate = new Gate();
  return {
    isLive: true,
    ended,
    readerGone: ended.then((failure) => (failure ? NEVER : undefined)),
    played: () => hearing.played,
    idle: () => hearing.idle,
    pause(isPaused) {
      // A program that the player has started may go on to read.
      gate.isClosed = isPaused;
      hearing.pause(isPaused);
      running.player.pause(isPaused);
    },
    get failure() {
      return first.player.failure;
    },
    async write(track, signal) {
      track.drops?.listenFirst(() => hearing.drop());
      const takes = new Takes(track);
      const poured = nothingPoured();
      for (let take: Take | undefined = takes.first(); take; ) {
        const { dropped } = take;
        const heard = { track: hearing.of(take.track), dropped };
        const isHeard = await play(running, heard, { signal, poured, gate });
        if (isHeard) return { ...poured, player: first.player.program, readerLeft: !poured.isAll };
        take = await unlessAborted(takes.next(), signal);
        if (take) running = await again();
      }
      return { ...poured, player: first.player.program, readerLeft: false };
    },
    discard: () => stop(running),
  };
}

interface Playing {
  readonly signal: AbortSignal;
  readonly poured: Poured;
  readonly gate: Gate;
}

/**
 * @returns false if the sound was dropped: then it ends at once
 * @throws TtsError (output); what the track throws
 */
async function play(
  { player, input }: Running,
  { track, dropped }: Take,
  { signal, poured, gate }: Playing,
): Promise<boolean> {
  const silence = () => {
    player.kill();
    input.destroy();
  };
  input.on('error', () => {});
  if (dropped?.aborted) silence();
  dropped?.addEventListener('abort', silence, { once: true });
  const pouring = pour(track, input, { name: player.name, encoding: wav, signal, poured, gate });
  // An ended player needs no more sound.
  pouring.catch(() => {});
  try {
    await unlessAborted(Promise.race([pouring, player.ended]), signal);
    const failure = await unlessAborted(player.ended, signal);
    if (failure && !dropped?.aborted) throw failure;
    return !dropped?.aborted;
  } catch (error) {
    if (dropped?.aborted && !signal.aborted) return false;
    // The beginning of broken sound is played.
    await unlessAborted(player.ended, signal);
    throw error;
  } finally {
    dropped?.removeEventListener('abort', silence);
    await stop({ player, input });
  }
}

async function stop({ player, input }: Running): Promise<void> {
  input.destroy();
  await player.stop();
}

/** The program is taken from here, whatever `PATH` says. */
const SYSTEM = '/usr/bin:/bin:/run/current-system/sw/bin';

/** Milliseconds. */
const MKFIFO_MS = 5000;

/** Node's own pipe for children is a socket, which `/dev/stdin` cannot open. */
export interface Pipe {
  readonly read: number;
  readonly write: number;
  /** The writer of the pipe may have left. */
  readonly wake: () => void;
  readonly remove: () => void;
}

/** @throws the system's error */
export async function makePipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), 'tts-'));
  const name = join(folder, 'pipe');
  const open = () => openSync(name, constants.O_WRONLY | constants.O_NONBLOCK);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await outputOf('mkfifo', [name], { env: { PATH: SYSTEM }, signal: AbortSignal.timeout(MKFIFO_MS) });
    // Each end waits for the other.
    const both = openSync(name, 'r+');
    const read = openSync(name, constants.O_RDONLY);
    const write = open();
    closeSync(both);
    return { read, write, wake: () => touch(open), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** No reader waits. */
function touch(open: () => number): void {
  try {
    closeSync(open());
  } catch {}
}

export type StartPlayer = (file: string) => Promise<PlayerProcess>;

/** A sink for players of files. */
export function temporarySink(start: StartPlayer): Sink {
  const hearing = new Hearing(undefined, Number.POSITIVE_INFINITY);
  let isPaused = false;
  let player: PlayerProcess | undefined;
  return {
    isLive: false,
    played: () => hearing.played,
    pause(now) {
      isPaused = now;
      hearing.pause(now);
      player?.pause(now);
    },
    async write(track, signal) {
      const folder = await mkdtemp(join(tmpdir(), 'tts-')).catch((error) => {
        throw unwritable(tmpdir(), error);
      });
      try {
        const file = join(folder, 'speech.wav');
        const written = await save(track, file, signal);
        player = await start(file);
        player.pause(isPaused);
        hearing.give(written.bytes, track.format);
        await playFile(player, signal);
        return { ...written, readerLeft: false, player: player.program };
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
      }
    },
    discard: async () => {},
  };
}

async function save(track: Track, file: string, signal: AbortSignal): Promise<Written> {
  const fd = openSync(file, 'wx+');
  try {
    return await wav.record({ fd, name: file, start: 0, path: file }, track, signal);
  } finally {
    closeSync(fd);
  }
}

async function playFile(player: PlayerProcess, signal: AbortSignal): Promise<void> {
  try {
    const failure = await unlessAborted(player.ended, signal);
    if (failure) throw failure;
  } finally {
    await player.stop();
  }
}
