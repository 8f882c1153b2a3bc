import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import { ExitCode, TtsError } from '../kit/error.ts';
import { unwritable, writing } from '../kit/folders.ts';
import { Child } from '../kit/program.ts';
import { unlessAborted } from '../kit/wait.ts';
import { wav } from '../sound/encode/wav.ts';
import { counted, frameBytes, type PcmFormat, type Track } from '../sound/pcm.ts';
import { Gate, noProgress, type PipeOptions, writeTrack } from './pipe.ts';
import type { Sink } from './sink.ts';

const NEVER = new Promise<void>(() => {});

/**
 * Makes a sink for a player that reads sound as it arrives. If the user closes the player, the reader left; a failure is an
 * error.
 * @param start starts the player: at once, before there is sound, and again after each flush
 * @throws what `start` throws
 */
export async function liveSink(start: () => Promise<PlayerProcess>): Promise<Sink> {
  let player = await start();
  const { program, ended } = player;
  const clock = new PlaybackClock(() => player.stdin.writableLength);
  const gate = new Gate();
  return {
    isLive: true,
    readerGone: ended.then((failure) => (failure ? NEVER : undefined)),
    played: () => clock.played,
    idle: () => clock.idle,
    pause(isPaused) {
      // Pausing the player is not enough: a program that it has started may continue to read.
      gate.pause(isPaused);
      clock.pause(isPaused);
      player.pause(isPaused);
    },
    async write(track, signal) {
      track.drops?.listenFirst(() => clock.flush());
      const sections = new Sections(track);
      const progress = noProgress();
      for (let section: Section | undefined = sections.first(); section; ) {
        const { flushed } = section;
        const heard = { track: clock.of(section.track), flushed };
        const isComplete = await play(player, heard, { signal, progress, gate });
        if (isComplete) return { ...progress, player: program, readerLeft: !progress.isAllWritten };
        section = await unlessAborted(sections.next(), signal);
        if (section) player = await start();
      }
      return { ...progress, player: program, readerLeft: false };
    },
    discard: () => stop(player),
  };
}

/**
 * Plays a section.
 * @returns false if the sound was flushed, which ends it at once
 * @throws TtsError (output); what the track throws
 */
async function play(
  player: PlayerProcess,
  { track, flushed }: Section,
  options: Pick<PipeOptions, 'signal' | 'progress' | 'gate'>,
): Promise<boolean> {
  const { signal } = options;
  const silence = () => {
    player.kill();
    player.stdin.destroy();
  };
  if (flushed?.aborted) silence();
  flushed?.addEventListener('abort', silence, { once: true });
  const written = writeTrack(track, player.stdin, { ...options, name: player.name, encoding: wav });
  // An error after the player has ended does not matter.
  written.catch(() => {});
  try {
    await unlessAborted(Promise.race([written, player.ended]), signal);
    const failure = await unlessAborted(player.ended, signal);
    if (failure && !flushed?.aborted) throw failure;
    return !flushed?.aborted;
  } catch (error) {
    if (flushed?.aborted && !signal.aborted) return false;
    // Sound before the error is still played.
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

/** Makes a sink for a player that needs a file: it starts when a temporary file is complete. */
export function temporarySink(start: (file: string) => Promise<PlayerProcess>): Sink {
  const clock = new PlaybackClock(undefined, Number.POSITIVE_INFINITY);
  let isPaused = false;
  let player: PlayerProcess | undefined;
  return {
    isLive: false,
    played: () => clock.played,
    pause(now) {
      isPaused = now;
      clock.pause(now);
      player?.pause(now);
    },
    async write(track, signal) {
      const folder = await mkdtemp(join(tmpdir(), 'tts-')).catch((error) => {
        throw unwritable(tmpdir(), error);
      });
      try {
        const file = join(folder, 'speech.wav');
        const fd = writing(file, () => openSync(file, 'wx+'));
        const written = await wav
          .record({ fd, name: file, start: 0, path: file }, track, signal)
          .finally(() => closeSync(fd));
        player = await start(file);
        player.pause(isPaused);
        clock.give(written.bytes, track.format);
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

/** Players that exit with status 0 without playing, and the message that they print then. */
const SILENT_FAILURES: Readonly<Record<string, RegExp>> = { ffplay: /audio open failed/ };

export class PlayerProcess {
  readonly program: string;
  readonly name: string;
  /** Resolves when the player has ended, with its error if it failed. */
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

  /** Pauses or resumes. Sound that the device has buffered is still heard for a moment. */
  pause(isPaused: boolean): void {
    this.#child.hold(isPaused);
  }

  /** Ends the sound at once. */
  kill(): void {
    this.#child.end();
  }

  /** Stops the player. Resolves when it is gone, or cannot be stopped. */
  stop(): Promise<void> {
    return this.#child.stop();
  }

  async #end(): Promise<TtsError | undefined> {
    const { status, signal } = await this.#child.spoken();
    if (status === 0 && !SILENT_FAILURES[this.name]?.test(this.#child.said)) return undefined;
    const reason = this.#child.lastWords || (signal ?? `exit status ${status}`);
    return new TtsError(`the player ${this.name} failed: ${reason}`, {
      exitCode: ExitCode.output,
      hint: 'choose another player with --player, or write a file with -o; tts doctor checks the player',
    });
  }
}

/** The part of a track between two flushes. */
export interface Section {
  readonly track: Track;
  /** Aborts at the flush that ends the section. */
  readonly flushed: AbortSignal | undefined;
}

/** Divides a track into sections. Each begins after the `Flush` piece that ended the one before. */
export class Sections {
  readonly #track: Track;
  readonly #pieces: AsyncIterator<Uint8Array>;
  /** A piece that was requested, but not yet yielded by a section. */
  #pending: Promise<IteratorResult<Uint8Array>> | undefined;

  constructor(track: Track) {
    this.#track = track;
    this.#pieces = track.pcm[Symbol.asyncIterator]();
  }

  first(): Section {
    const flushed = this.#track.drops?.signal;
    return { flushed, track: flushed ? { ...this.#track, pcm: this.#until(flushed) } : this.#track };
  }

  /** Waits for the sound after a flush. @returns `undefined` at the end of the track */
  async next(): Promise<Section | undefined> {
    const { drops } = this.#track;
    let passed: Uint8Array | undefined;
    for (;;) {
      const { done, value } = await this.#next();
      if (done) return undefined;
      // Sound counts only after the latest flush, as another one may have come since.
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
    try {
      for (;;) {
        const next = await unlessFlushed(this.#next(), flushed);
        if (!next || next.done || flushed.aborted) return;
        this.#pending = undefined;
        if (next.value.length > 0) yield next.value;
      }
    } finally {
      if (!flushed.aborted) await this.#pieces.return?.();
    }
  }
}

async function unlessFlushed<T>(pending: Promise<T>, flushed: AbortSignal): Promise<T | undefined> {
  return unlessAborted(pending, flushed).catch((error) => {
    if (flushed.aborted) return undefined;
    throw error;
  });
}

/** Most bytes that the pipe of a player holds. */
const PIPE_BYTES = 256 * 1024;

/** Delay between giving sound and clock it: the start of the player, its buffer and the device's. */
const LATENCY_MS = 500;

/**
 * Estimates how much of a track a player has played, as no system reports it. Sound in the pipe is not played yet, and a
 * player plays in real time: so the clock runs from the first sound, and stops while the player has none. If the player has
 * taken more than the clock and a full pipe explain, it has played more.
 */
export class PlaybackClock {
  readonly #pending: () => number;
  readonly #mostAhead: number;
  #bytesPerMs = 0;
  #given = 0;
  #played = 0;
  #at = 0;
  #isPaused = false;
  /** When the last sound ended, by `Date.now()`; `undefined` before that, and while there is more. */
  #endedAt: number | undefined;

  /**
   * @param pending returns the bytes that were given, but not written to the pipe yet
   * @param mostAhead most bytes that the player can have taken but not played
   */
  constructor(pending = () => 0, mostAhead = PIPE_BYTES) {
    this.#pending = pending;
    this.#mostAhead = mostAhead;
  }

  /** PCM bytes that were played. Updates the clock. */
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

  /** Least seconds since the last sound was heard. */
  get idle(): number {
    void this.played;
    return this.#endedAt === undefined ? 0 : Math.max(0, Date.now() - this.#endedAt - LATENCY_MS) / 1000;
  }

  /** Returns the same track, and counts its sound as it is given to the player. */
  of(track: Track): Track {
    const { pcm, format } = track;
    return { ...track, pcm: counted(pcm, (bytes) => this.give(bytes, format)) };
  }

  pause(isPaused: boolean): void {
    // Update the clock before it stops or continues.
    void this.played;
    this.#isPaused = isPaused;
  }

  /** Drops the sound that was not played yet. */
  flush(): void {
    this.#played = this.played;
    this.#given = this.#played;
  }

  give(bytes: number, format: PcmFormat): void {
    this.#bytesPerMs = (format.sampleRate * frameBytes(format)) / 1000;
    // Update the clock first: it counts only while there is sound.
    void this.played;
    this.#given += bytes;
    this.#endedAt = undefined;
  }
}
