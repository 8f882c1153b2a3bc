/**
 * The runs of this program that the tools of `tts mcp` start, each in a process of its own. They wait for their turn, are
 * stopped and fail like all other runs, and a text that takes long to read delays no answer.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { ConcurrencyLimiter } from '../kit/limit.ts';
import { Child } from '../kit/program.ts';
import { countOf } from '../kit/words.ts';

/** Path of the program, relative to the built file. */
const PROGRAM = '../bin/tts.cjs';

/** Most texts of one session that are waiting, spoken or saved. */
const MOST_RUNS = 100;

/** Files that are made at the same time. */
const MADE_AT_ONCE = 2;

type RunHost = Pick<Host, 'env' | 'execPath'>;

/** The object that a run prints with `--json`. */
export interface Printed {
  readonly warnings?: readonly string[];
  readonly [field: string]: unknown;
}

/** A run of this program. */
interface OwnRun {
  /** Command, options and words. */
  readonly args: readonly string[];
  /** The text to speak, sent as UTF-8 on stdin. */
  readonly text?: string;
  /** @param characters of the text that have been spoken */
  readonly onSpoken?: (characters: number) => void;
}

/** A text that waits to be heard, or is heard. */
export interface QueuedSpeech {
  readonly id: number;
  /** Texts of this session that are heard before it. */
  readonly ahead: number;
  /** @throws what the run throws; the reason of a stop */
  readonly heard: Promise<Printed | undefined>;
}

/** All runs of one session. */
export class Runs {
  readonly #host: RunHost;
  readonly #speaking = new ConcurrencyLimiter(1);
  readonly #making = new ConcurrencyLimiter(MADE_AT_ONCE);
  readonly #speeches = new Map<number, AbortController>();
  readonly #open = new Set<Promise<unknown>>();
  readonly #over: AbortSignal;
  #last = 0;
  #order = 0;

  /** @param over ends all runs */
  constructor(host: RunHost, over: AbortSignal) {
    this.#host = host;
    this.#over = over;
  }

  /**
   * Queues a text to be spoken after the earlier ones.
   * @throws TtsError where too many wait
   */
  speak(run: OwnRun): QueuedSpeech {
    this.#assertRoom();
    this.#last += 1;
    const [id, ahead, stopping] = [this.#last, this.#speeches.size, new AbortController()];
    this.#speeches.set(id, stopping);
    const heard = this.#inTurn(this.#speaking, run, stopping.signal);
    const forget = () => this.#speeches.delete(id);
    heard.then(forget, forget);
    return { id, ahead, heard };
  }

  /**
   * @param id `undefined` stops all texts
   * @returns the number of texts that were stopped
   * @throws TtsError (usage) for a text that was never given
   */
  stop(id: number | undefined): number {
    if (id !== undefined && id > this.#last)
      throw usageError(`there is no speech ${id}`, 'without an id, all that this session speaks is stopped');
    const stopped = [...this.#speeches].filter(([each]) => id === undefined || each === id);
    for (const [each, stopping] of stopped) {
      this.#speeches.delete(each);
      stopping.abort(new Stopped(each));
    }
    return stopped.length;
  }

  /** @throws TtsError where too many wait; what the run throws */
  async make(run: OwnRun, signal: AbortSignal): Promise<Printed | undefined> {
    this.#assertRoom();
    return this.#inTurn(this.#making, run, signal);
  }

  /** Resolves when no run is left. It never throws. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#open);
  }

  #assertRoom(): void {
    if (this.#open.size < MOST_RUNS) return;
    throw usageError(
      `${countOf(MOST_RUNS, 'text')} of this session are waiting already`,
      'wait until some have been spoken, or call stop',
    );
  }

  #inTurn(limiter: ConcurrencyLimiter, run: OwnRun, signal: AbortSignal): Promise<Printed | undefined> {
    const until = AbortSignal.any([signal, this.#over]);
    this.#order += 1;
    const turn = limiter.enter(this.#order, until);
    const done = turn.then((slot) => runOfTts(run, this.#host, until).finally(() => slot.leave()));
    this.#open.add(done);
    const forget = () => this.#open.delete(done);
    done.then(forget, forget);
    return done;
  }
}

/** The error of a text that was stopped. */
export class Stopped extends TtsError {
  constructor(id: number) {
    super(`speech ${id} was stopped`, { exitCode: ExitCode.terminated });
  }
}

/**
 * Runs this program.
 * @returns what the run printed; `undefined` if it had nothing to say, or `tts stop` silenced it
 * @throws TtsError with the message of the run's own error; the reason of the signal
 */
async function runOfTts(
  { args, text: spoken = '', onSpoken }: OwnRun,
  host: RunHost,
  signal: AbortSignal,
): Promise<Printed | undefined> {
  signal.throwIfAborted();
  const program = fileURLToPath(new URL(PROGRAM, import.meta.url));
  const events = onSpoken ? ['--events', '3'] : [];
  const child = new Child(host.execPath, [program, ...args, '--json', ...events], {
    env: host.env,
    isOwn: true,
    stdin: 'pipe',
    stdout: 'pipe',
    pipes: onSpoken ? 1 : 0,
  });
  await child.started;
  const end = () => void child.stop(GRACE_MS);
  signal.addEventListener('abort', end, { once: true });
  try {
    child.stdin.end(spoken);
    if (onSpoken) void follow(child.pipe(3), onSpoken);
    const [printed, { status }] = await Promise.all([text(child.stdout), child.closed]);
    signal.throwIfAborted();
    if (status !== ExitCode.ok && status !== ExitCode.partial) throw errorIn(child);
    return objectIn(lastLine(printed));
  } catch (error) {
    // A run that was ended may break off its outputs, which is no error.
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** How long a run gets to release its player and its file before it is killed. */
const GRACE_MS = 1_500;

/** Reads the lines of `--events`. */
async function follow(pipe: Readable, onSpoken: (characters: number) => void): Promise<void> {
  pipe.on('error', () => {});
  for await (const line of createInterface({ input: pipe })) {
    const { event, end } = objectIn(line) ?? {};
    if (event === 'spoken' && typeof end === 'number') onSpoken(end);
  }
}

function lastLine(printed: string): string {
  return printed.trimEnd().split('\n').at(-1) ?? '';
}

function errorIn(child: Child): TtsError {
  const { error } = (objectIn(lastLine(child.said)) ?? {}) as {
    error?: { message: string; hint?: string; exitCode: ExitCode };
  };
  if (error) return new TtsError(error.message, error);
  return new TtsError(`tts ended too early: ${child.lastWords || 'it said nothing'}`, {
    exitCode: ExitCode.defect,
    hint: 'tts doctor looks for what is wrong',
  });
}

function objectIn(line: string): Printed | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
