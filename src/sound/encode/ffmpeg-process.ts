import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode, TtsError } from '../../kit/error.ts';
import type { Host } from '../../kit/host.ts';
import { Child } from '../../kit/program.ts';

export interface FfmpegOptions {
  /** The path of the program. */
  readonly program: string;
  readonly env: Host['env'];
  /** Milliseconds that ffmpeg may neither read nor write. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

const QUIET = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-nostats', '-y'];

/** Messages of failed writes: on a full disk, ffmpeg 5 exits with 0 without having written the end of its file. */
const UNWRITTEN = /\bError (?:closing|writing)\b/;
/** Lines that follow the actual reason, and say nothing. */
const UNHELPFUL = /^Error initializing output stream|^Conversion failed!|^ *Last message repeated/;

/** One run of ffmpeg with the sound on stdin. Descriptor 3 reports progress; further inputs use those from 4 on. */
export class Ffmpeg {
  readonly #child: Child;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  #progress = '';

  private constructor(child: Child, { timeoutMs, signal }: FfmpegOptions) {
    this.#child = child;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
    child.pipe(3).on('error', () => {});
    child.pipe(3).on('data', (text: Buffer) => {
      this.#progress = (this.#progress + text.toString('latin1')).slice(-4096);
    });
  }

  /**
   * @param inputs sent through the pipes from descriptor 4 on
   * @throws TtsError (output)
   */
  static async start(
    args: readonly string[],
    { stdout, inputs = [] }: { stdout: 'pipe' | 'ignore'; inputs?: readonly (string | Uint8Array)[] },
    options: FfmpegOptions,
  ): Promise<Ffmpeg> {
    const { program, env, signal } = options;
    const child = new Child(program, [...QUIET, '-progress', 'pipe:3', ...args], {
      env,
      signal,
      stdin: 'pipe',
      stdout,
      pipes: 1 + inputs.length,
    });
    await child.started.catch((cause) => {
      throw failed(`it cannot be started: ${cause.message}`, cause);
    });
    inputs.forEach((input, at) => {
      const pipe = child.pipe(4 + at);
      // ffmpeg closes the pipe once it has enough; a failure shows in its exit status.
      pipe.on('error', () => {});
      pipe.end(input);
    });
    return new Ffmpeg(child, options);
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  /**
   * Writes a piece, and waits if ffmpeg is slower.
   * @throws TtsError (output) if ffmpeg has ended or hangs
   */
  async write(piece: Uint8Array): Promise<void> {
    const { stdin, exited } = this.#child;
    if (this.#child.isRunning && stdin.writable && stdin.write(piece)) return;
    const over = new AbortController();
    // If ffmpeg has closed the pipe, stdin emits an error.
    const drained = once(stdin, 'drain', { signal: over.signal }).then(
      () => true,
      () => false,
    );
    try {
      const isTaken =
        stdin.writable && (await this.#within(Promise.race([drained, exited.then(() => false)])));
      if (!isTaken) throw await this.#failure('it ended before the sound did');
    } finally {
      over.abort();
    }
  }

  /**
   * Waits for the end of the output.
   * @returns the seconds of sound that ffmpeg reports, if it does
   * @throws TtsError (output) if ffmpeg failed, hangs or ended early
   */
  async end(): Promise<number | undefined> {
    this.#child.stdin.end();
    const { status } = await this.#within(this.#child.exited);
    await this.#child.spoken();
    if (status !== 0) throw await this.#failure('it failed');
    if (UNWRITTEN.test(this.#child.lastWords)) throw await this.#failure('it did not write all of it');
    if (!/progress=end\s*$/.test(this.#progress)) throw await this.#failure('it ended before it was done');
    const [, microseconds] = /.*out_time_(?:us|ms)=(\d+)/s.exec(this.#progress) ?? [];
    return microseconds === undefined ? undefined : Number(microseconds) / 1e6;
  }

  /** Kills ffmpeg if it is still running. */
  stop(): void {
    this.#child.end();
  }

  /** Limits a wait to the timeout. The clock stops while ffmpeg's output waits for a reader. */
  async #within<T>(happening: Promise<T>): Promise<T> {
    const over = new AbortController();
    const { signal } = over;
    try {
      for (;;) {
        const late = sleep(this.#timeoutMs, 'late' as const, { signal });
        late.catch(() => {});
        const first = await Promise.race([happening.then((value) => ({ value })), late]);
        this.#signal.throwIfAborted();
        if (first !== 'late') return first.value;
        if ((this.#child.stdout?.readableLength ?? 0) > 0) continue;
        throw failed(`it did nothing for ${this.#timeoutMs / 1000} seconds`);
      }
    } finally {
      over.abort();
    }
  }

  async #failure(why: string): Promise<TtsError> {
    await this.#child.closedSoon();
    this.#signal.throwIfAborted();
    const { status, signal } = this.#child.isRunning
      ? { status: null, signal: null }
      : await this.#child.exited;
    const how = signal ?? (status ? `it ended with status ${status}` : '');
    return failed(this.#child.lastWordsBesides(UNHELPFUL) || how || why);
  }
}

export function failed(why: string, cause?: unknown): TtsError {
  return new TtsError(`ffmpeg failed: ${why}`, {
    exitCode: ExitCode.output,
    hint: 'the same command goes on from what is in the cache; -o FILE.mp3 and .wav need no ffmpeg',
    cause,
  });
}
