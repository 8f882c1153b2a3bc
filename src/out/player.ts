import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { ExitCode, TtsError } from '../kit/error.ts';
import { unwritable } from '../kit/folders.ts';
import { Child } from '../kit/program.ts';
import { unlessAborted } from '../kit/wait.ts';
import { wav } from '../sound/encode/wav.ts';
import { counted, frameBytes, type PcmFormat, type Track } from '../sound/pcm.ts';
import { Gate, noProgress, type PipeOptions, writeTrack } from './pipe.ts';
import type { Sink } from './sink.ts';

const NEVER = new Promise<void>(() => {});

/**
 * A sink for a player that reads sound while it comes. A player that is closed is a reader that left; one that fails is an error.
 * @param start starts the player, before there is sound and again after each flush
 * @throws what `start` throws
 */
export async function liveSink(start: () => Promise<PlayerProcess>): Promise<Sink> {
  let player = await start();
  const { program, ended } = player;
  const hearing = new PlaybackClock(() => player.stdin.writableLength);
  const gate = new Gate();
  return {
    isLive: true,
    readerGone: ended.then((failure) => (failure ? NEVER : undefined)),
    played: () => hearing.played,
    idle: () => hearing.idle,
    pause(isPaused) {
      // A program that the player has started may go on to read.
      gate.isClosed = isPaused;
      hearing.pause(isPaused);
      player.pause(isPaused);
    },
    async write(track, signal) {
      track.drops?.listenFirst(() => hearing.flush());
      const sections = new Sections(track);
      const poured = noProgress();
      for (let section: Section | undefined = sections.first(); section; ) {
        const { flushed } = section;
        const heard = { track: hearing.of(section.track), flushed };
        const isComplete = await play(player, heard, { signal, poured, gate });
        if (isComplete) return { ...poured, player: program, readerLeft: !poured.isAll };
        section = await unlessAborted(sections.next(), signal);
        if (section) player = await start();
      }
      return { ...poured, player: program, readerLeft: false };
    },
    discard: () => stop(player),
  };
}

/**
 * @returns false if the sound was flushed: then it ends at once
 * @throws TtsError (output); what the track throws
 */
async function play(
  player: PlayerProcess,
  { track, flushed }: Section,
  pouring: Pick<PipeOptions, 'signal' | 'poured' | 'gate'>,
): Promise<boolean> {
  const { signal } = pouring;
  const silence = () => {
    player.kill();
    player.stdin.destroy();
  };
  if (flushed?.aborted) silence();
  flushed?.addEventListener('abort', silence, { once: true });
  const written = writeTrack(track, player.stdin, { ...pouring, name: player.name, encoding: wav });
  // An error after the player has ended does not matter.
  written.catch(() => {});
  try {
    await unlessAborted(Promise.race([written, player.ended]), signal);
    const failure = await unlessAborted(player.ended, signal);
    if (failure && !flushed?.aborted) throw failure;
    return !flushed?.aborted;
  } catch (error) {
    if (flushed?.aborted && !signal.aborted) return false;
    // The beginning of broken sound is played.
    await unlessAborted(player.ended, signal);
    throw error;
  } finally {
    flushed?.removeEventListener('abort', silence);
    await stop(player);
  }
}

async function stop(player: PlayerProcess): Promise<void> {
  player.stdin.destroy();
  await player.stop();
}

/** A sink for a player of files: it starts when its temporary file is complete. */
export function temporarySink(start: (file: string) => Promise<PlayerProcess>): Sink {
  const hearing = new PlaybackClock(undefined, Number.POSITIVE_INFINITY);
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
        const fd = openSync(file, 'wx+');
        const written = await wav
          .record({ fd, name: file, start: 0, path: file }, track, signal)
          .finally(() => closeSync(fd));
        player = await start(file);
        player.pause(isPaused);
        hearing.give(written.bytes, track.format);
        const failure = await unlessAborted(player.ended, signal);
        if (failure) throw failure;
        return { ...written, readerLeft: false, player: player.program };
      } finally {
        await player?.stop();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
      }
    },
    discard: async () => {},
  };
}

/** Players that end with 0 although they have played nothing, and what they print then. */
const UNHEARD: Readonly<Record<string, RegExp>> = { ffplay: /audio open failed/ };

export class PlayerProcess {
  readonly program: string;
  readonly name: string;
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  readonly #child: Child;

  private constructor(program: string, child: Child) {
    this.program = program;
    this.name = basename(program);
    this.#child = child;
    this.ended = this.#end();
  }

  /** @throws the system's error */
  static async start(
    program: string,
    args: readonly string[],
    { stdin, env }: { readonly stdin: 'pipe' | 'ignore'; readonly env: NodeJS.ProcessEnv },
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

  /** Ends the sound at once. */
  kill(): void {
    this.#child.end();
  }

  /** Resolves when the player is gone, or cannot be stopped. */
  stop(): Promise<void> {
    return this.#child.stop();
  }

  async #end(): Promise<TtsError | undefined> {
    const { status, signal } = await this.#child.spoken();
    if (status === 0 && !UNHEARD[this.name]?.test(this.#child.said)) return undefined;
    const reason = this.#child.lastWords || (signal ?? `exit status ${status}`);
    return new TtsError(`the player ${this.name} failed: ${reason}`, {
      exitCode: ExitCode.output,
      hint: 'choose another player with --player, or write a file with -o; tts doctor checks the player',
    });
  }
}

/** The sound between two flushes. */
export interface Section {
  readonly track: Track;
  /** Aborts at the flush that ends the section. */
  readonly flushed: AbortSignal | undefined;
}

/** The sections of a track. The next one begins behind the `Flush` that ended the last one. */
export class Sections {
  readonly #track: Track;
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** A piece that was asked for, and that no section has got yet. */
  #pending: Promise<IteratorResult<Uint8Array>> | undefined;

  constructor(track: Track) {
    this.#track = track;
    this.#pieces = track.pcm[Symbol.asyncIterator]();
  }

  first(): Section {
    const flushed = this.#track.drops?.signal;
    return { flushed, track: flushed ? { ...this.#track, pcm: this.#until(flushed) } : this.#track };
  }

  /** Waits for sound. It is `undefined` at the end of the track. */
  async next(): Promise<Section | undefined> {
    const { drops } = this.#track;
    let passed: Uint8Array | undefined;
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return undefined;
      // Another flush may have come since.
      if (passed === drops?.flush && value.length > 0) break;
      if (value === drops?.flush) passed = value;
      this.#pending = undefined;
    }
    const { track, flushed } = this.first();
    return { track: { ...track, bytes: undefined }, flushed };
  }

  #next(): Promise<IteratorResult<Uint8Array>> {
    this.#pending ??= this.#pieces.next();
    return this.#pending;
  }

  async *#until(flushed: AbortSignal): AsyncGenerator<Uint8Array> {
    let isLeft = true;
    try {
      for (;;) {
        const next = await unlessFlushed(this.#next(), flushed);
        isLeft = next?.done !== true && !flushed.aborted;
        if (!next || next.done || flushed.aborted) return;
        this.#pending = undefined;
        if (next.value.length > 0) yield next.value;
      }
    } finally {
      if (isLeft && !flushed.aborted) await this.#pieces.return?.();
    }
  }
}

async function unlessFlushed<T>(pending: Promise<T>, flushed: AbortSignal): Promise<T | undefined> {
  return unlessAborted(pending, flushed).catch((error) => {
    if (flushed.aborted) return undefined;
    throw error;
  });
}

/** Bytes that the pipe of a player holds, or more. */
const PIPE_BYTES = 256 * 1024;

/** Sound is heard so much later than it is given: the start of the player, its buffer and that of the device. */
const LATENCY_MS = 500;

/**
 * How much of a track a player has played. No system tells it: what is in the pipe is not played yet, and a player plays
 * in real time. So the time counts since the player got sound, and stands still while it has none. A player that takes
 * more than that and the pipe can hold has played more.
 */
export class PlaybackClock {
  readonly #pending: () => number;
  readonly #mostAhead: number;
  #bytesPerMs = 0;
  #given = 0;
  #played = 0;
  #at = 0;
  #isPaused = false;
  /** When the last sound ended, in milliseconds of the clock; `undefined` before, and while there is more. */
  #endedAt: number | undefined;

  /**
   * @param pending bytes that were given, but not written to the pipe yet
   * @param mostAhead bytes that the player can be ahead of what it plays
   */
  constructor(pending = () => 0, mostAhead = PIPE_BYTES) {
    this.#pending = pending;
    this.#mostAhead = mostAhead;
  }

  /** PCM bytes. */
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

  /** Seconds since the last sound was heard, at least. */
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

  /** What is not played yet will not be played. */
  flush(): void {
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
