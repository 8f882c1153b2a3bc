/** Lets other work of the process run first. */
export { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Rejects with the signal's reason if the signal aborts first. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

export async function* singleItem<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/**
 * Gives items that were taken from a source already, and then the rest of it, which ends with its reader.
 * @param taken is emptied on the way
 */
export async function* chained<T>(taken: T[], rest?: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    while (taken.length > 0) yield taken.shift() as T;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}

/** Gives the items of a source, and puts another error in the place of its own. */
export async function* mapErrors<T>(
  items: AsyncIterable<T>,
  errorFor: (error: unknown) => unknown,
): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw errorFor(error);
  }
}

interface Peeked<T> {
  /** The first pieces, and their length. */
  readonly held: readonly T[];
  readonly length: number;
  /** True where they are all of the source. */
  readonly isWhole: boolean;
  /** All of the source, from its start. */
  readonly all: AsyncGenerator<T>;
}

/** Takes the first pieces of a source, until they have this length together. */
export async function peek<T extends { readonly length: number }>(
  source: AsyncIterable<T>,
  enough: number,
): Promise<Peeked<T>> {
  const rest = source[Symbol.asyncIterator]();
  const held: T[] = [];
  let [length, isWhole] = [0, false];
  while (!isWhole && length < enough) {
    const next = await rest.next();
    if (next.done) isWhole = true;
    else {
      held.push(next.value);
      length += next.value.length;
    }
  }
  return { held, length, isWhole, all: chained(held, rest) };
}

/** Closes something after a run. An error becomes a warning: it must not hide the outcome of the run. */
export async function closeQuietly(
  close: () => Promise<void>,
  notices: { warn(text: string): void },
): Promise<void> {
  try {
    await close();
  } catch (error) {
    notices.warn(`closing failed: ${error instanceof Error ? error.message : error}`);
  }
}

/** Gives the items of a source. The reader chooses how long to wait for each. A late item goes to the next wait. */
export class Arrivals<T> implements Disposable {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  #pending: Promise<IteratorResult<T>> | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /**
   * @param timeoutMs without it, there is no limit
   * @returns undefined if the time is over
   * @throws the source's error, or the signal's reason, at once, even while the source hangs
   */
  async next(timeoutMs?: number): Promise<IteratorResult<T> | undefined> {
    this.#signal.throwIfAborted();
    this.#pending ??= this.#iterator.next();
    const limit = after(timeoutMs);
    try {
      const arrival = await unlessAborted(Promise.race([this.#pending, limit.reached]), this.#signal);
      if (arrival !== undefined) this.#pending = undefined;
      return arrival;
    } finally {
      clearTimeout(limit.timer);
    }
  }

  /** Ends the source, and does not wait for it. */
  [Symbol.dispose](): void {
    this.#pending?.catch(() => {});
    this.#iterator.return?.().catch(() => {});
  }
}

/** Gives the items of a source, and throws an error where one does not come in time. */
export async function* inTime<T>(
  source: AsyncIterable<T>,
  limit: { readonly milliseconds: number | undefined; late(): Error },
  signal: AbortSignal,
): AsyncGenerator<T> {
  using arrivals = new Arrivals(source, signal);
  for (;;) {
    const next = await arrivals.next(limit.milliseconds);
    if (!next) throw limit.late();
    if (next.done) return;
    yield next.value;
  }
}

function after(timeoutMs: number | undefined) {
  let timer: NodeJS.Timeout | undefined;
  const reached = new Promise<undefined>((resolve) => {
    // An item that comes while the process is busy counts as in time.
    const giveUp = () => setImmediate(() => resolve(undefined));
    if (timeoutMs !== undefined) timer = setTimeout(giveUp, timeoutMs).unref();
  });
  return { reached, timer };
}

export class IdleError extends Error {
  override readonly name = 'IdleError';
}

/** A timer checks so often within its limit. */
const CHECKS = 8;

/** Fires when nothing has restarted it for a time. A pause of the process counts as one check only. */
export class IdleTimer {
  readonly #limitMs: number;
  readonly #onIdle: (error: IdleError) => void;
  #timer: NodeJS.Timeout | undefined;
  #wasRestarted = false;
  #checksLeft = CHECKS;

  constructor(limitMs: number, onIdle: (error: IdleError) => void) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
    this.restart();
  }

  restart(): void {
    this.#wasRestarted = true;
    this.#checksLeft = CHECKS;
    if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => this.#check(), this.#limitMs / CHECKS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** After a pause of the process, waiting bytes get one turn of the event loop first. */
  #check(): void {
    this.#wasRestarted = false;
    setImmediate(() =>
      setImmediate(() => {
        if (this.#timer === undefined || this.#wasRestarted) return;
        this.#checksLeft -= 1;
        if (this.#checksLeft === 0) this.#onIdle(new IdleError('idle'));
        else this.#timer.refresh();
      }),
    );
  }
}

/** Only the time that the source takes counts, not that of a resting reader. The timer is stopped at the end. */
export async function* watched<T>(
  pieces: AsyncIterable<T> | Iterable<T>,
  timer: Pick<IdleTimer, 'restart' | 'stop'>,
): AsyncGenerator<T> {
  try {
    for await (const piece of pieces) {
      timer.stop();
      yield piece;
      timer.restart();
    }
  } finally {
    timer.stop();
  }
}

/** The number of different voices after which older ones are forgotten. Instructions may differ in every row of a batch. */
const MOST_REMEMBERED = 1000;

/**
 * Forgets what was not used for a long time. Two maps take turns, since an entry that is deleted and set again at each use leaves
 * 200 bytes among the old objects of V8, which are collected late.
 */
export class Recent<T> {
  #younger = new Map<string, T>();
  #older = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#younger.get(key) ?? this.#older.get(key);
  }

  /** This counts as use. */
  set(key: string, item: T): void {
    this.#younger.set(key, item);
    if (this.#younger.size < MOST_REMEMBERED) return;
    this.#older = this.#younger;
    this.#younger = new Map();
  }
}
