/**
 * What the tools of `tts mcp` make of a text: runs of this program, each in a process of its own. So they wait for their turn, are
 * stopped and fail like all other runs, and a text that takes long to read holds up no answer.
 */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import type { Host } from '../kit/host.ts';
import { ConcurrencyLimiter } from '../kit/limit.ts';
import { Child } from '../kit/program.ts';
import { countOf } from '../kit/words.ts';

/** From the folder of the built program. */
const PROGRAM = '../bin/tts.cjs';

/** Texts of one session that wait, or are spoken or saved. */
const MOST_RUNS = 100;

/** Files that are made at once. */
const MADE_AT_ONCE = 2;

type RunHost = Pick<Host, 'env' | 'execPath' | 'askToEnd'>;

/** What a run has printed with `--json`. */
export interface Printed {
  readonly warnings?: readonly string[];
  readonly [field: string]: unknown;
}

interface OwnRun {
  /** Options and words. */
  readonly args: readonly string[];
  /** What is spoken, as UTF-8 on stdin. */
  readonly text?: string;
  /** @param characters of the text, up to where it has been spoken */
  readonly onSpoken?: (characters: number) => void;
}

/** A text on its way to the ear. */
export interface Speech {
  readonly id: number;
  /** Texts of this session in front of it. */
  readonly ahead: number;
  /** @throws what the run throws; the reason of a stop */
  readonly heard: Promise<Printed | undefined>;
}

/** All that one session has asked for. */
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
   * The text is spoken behind those that were given before.
   * @throws TtsError where too many wait
   */
  speak(run: OwnRun): Speech {
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
   * @param id all texts without it
   * @returns how many are not heard any more
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
      `${countOf(MOST_RUNS, 'text')} of this session wait already`,
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

/** Why a text is not heard any more. */
export class Stopped extends TtsError {
  constructor(id: number) {
    super(`speech ${id} was stopped`, { exitCode: ExitCode.terminated });
  }
}

/**
 * @returns what it printed; `undefined` where it had nothing to say, or was silenced by `tts stop`
 * @throws TtsError with the words of its error; the reason of the signal
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
  const end = () => void endOf(child, host);
  signal.addEventListener('abort', end, { once: true });
  try {
    child.stdin.end(spoken);
    if (onSpoken) void follow(child.pipe(3), onSpoken);
    const [printed, { status }] = await Promise.all([text(child.stdout), child.closed]);
    signal.throwIfAborted();
    if (status !== ExitCode.ok && status !== ExitCode.partial) throw errorIn(child);
    return objectIn(lastLine(printed));
  } catch (error) {
    // Its outputs may break off where it is ended.
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Milliseconds in which a run lets go of its player and its file. */
const PATIENCE_MS = 1_500;

async function endOf(child: Child, host: RunHost): Promise<void> {
  const isGone = new AbortController();
  void child.exited.then(() => isGone.abort());
  try {
    if (child.pid !== undefined && child.isRunning) host.askToEnd(child.pid);
    await sleep(PATIENCE_MS, undefined, { signal: isGone.signal });
    child.end();
  } catch {
    // It has ended.
  }
}

/** Reads the lines of `--events`. */
async function follow(pipe: Readable, onSpoken: (characters: number) => void): Promise<void> {
  pipe.on('error', () => {});
  for await (const line of createInterface({ input: pipe })) {
    const { event, end } = objectIn(line) ?? {};
    if (event === 'spoken' && typeof end === 'number') onSpoken(end);
  }
}

function lastLine(said: string): string {
  return said.trimEnd().split('\n').at(-1) ?? '';
}

function errorIn(child: Child): TtsError {
  const { error } = (objectIn(lastLine(child.said)) ?? {}) as {
    error?: { message: string; hint?: string; exitCode: ExitCode };
  };
  if (error) return new TtsError(error.message, error);
  return new TtsError(`tts ended before its end: ${child.lastWords || 'it said nothing'}`, {
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
