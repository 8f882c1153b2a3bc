import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

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

/** Rejects with the signal's reason if the signal aborts first. */
export async function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** @returns true if the promise resolved within this time */
export async function resolvesWithin(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(milliseconds, false, { signal: over.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    over.abort();
  }
}

/** Applies back-pressure: resolves when a stream has room for more, or takes nothing any more. Its error is left to others. */
export async function drained(stream: Writable): Promise<void> {
  if (!stream.writableNeedDrain) return;
  const over = new AbortController();
  const waits = ['drain', 'close'].map((event) =>
    once(stream, event, { signal: over.signal }).catch(() => {}),
  );
  await Promise.race(waits);
  over.abort();
}

/** Returns a function that loads something at its first call, for all callers. After a failure, the next call tries again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

export async function* singleItem<T>(item: T): AsyncGenerator<T> {
  yield item;
}

/**
 * Yields items that were already taken from a source, and then its rest. Closes the source when the reader stops.
 * @param taken is reversed and emptied
 */
export async function* chained<T>(taken: T[], rest?: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    // In a long list, `shift` takes time by its length.
    taken.reverse();
    while (taken.length > 0) yield taken.pop() as T;
    for (let next = await rest?.next(); next && !next.done; next = await rest?.next()) yield next.value;
  } finally {
    await rest?.return?.();
  }
}

/** Yields the items of a source, and replaces its error. */
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
  /** True if the source has no more pieces. */
  readonly isWhole: boolean;
  /** The whole source, including the pieces in `held`. */
  readonly all: AsyncGenerator<T>;
}

/** Reads ahead until the pieces have this total length. */
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

/** Yields the items of a source. The reader chooses how long to wait for each; a late item goes to the next wait. */
export class Arrivals<T> implements Disposable {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  #pending: Promise<IteratorResult<T>> | undefined;

  constructor(source: AsyncIterable<T>, signal: AbortSignal) {
    this.#iterator = source[Symbol.asyncIterator]();
    this.#signal = signal;
  }

  /**
   * @param timeoutMs no limit by default
   * @returns `undefined` after the timeout
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

  /** Closes the source without waiting for it. */
  [Symbol.dispose](): void {
    this.#pending?.catch(() => {});
    this.#iterator.return?.().catch(() => {});
  }
}

/** Yields the items of a source, and throws if one does not come in time. */
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
    // An item that came while the process was busy counts as in time.
    const giveUp = () => setImmediate(() => resolve(undefined));
    if (timeoutMs !== undefined) timer = setTimeout(giveUp, timeoutMs).unref();
  });
  return { reached, timer };
}

export class IdleError extends Error {
  override readonly name = 'IdleError';
}

/** The number of checks within the limit of a timer. */
const CHECKS = 8;

/** Fires if nothing restarts it within the limit. A pause of the whole process counts as one check only. */
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

/** Yields pieces while the timer counts the time of the source, but not of a slow reader. Stops the timer at the end. */
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

/** Entries after which older ones may be forgotten. Every row of a batch may have a voice with other instructions. */
const MOST_REMEMBERED = 1000;

/**
 * A cache that forgets entries that were not set for a long time. Two maps take turns: an entry that is deleted and set
 * again at each use would leave 200 bytes among the old objects of V8, which are collected late.
 */
export class Recent<T> {
  #younger = new Map<string, T>();
  #older = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#younger.get(key) ?? this.#older.get(key);
  }

  /** Sets an entry, which counts as use. */
  set(key: string, item: T): void {
    this.#younger.set(key, item);
    if (this.#younger.size < MOST_REMEMBERED) return;
    this.#older = this.#younger;
    this.#younger = new Map();
  }
}
