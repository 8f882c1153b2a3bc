import { Arrivals, yieldToEventLoop } from '../kit/wait.ts';

/**
 * Milliseconds without new text after which these count as complete: a sentence; a finished line or phrase; text whose last
 * full stop may belong to a number or a name, or which has an open quote or bracket.
 */
export const WAITS = { sentence: 500, line: 1000, doubtful: 2000 } as const;

/** Milliseconds after which a sentence counts as long: if nothing was spoken yet, its first clause is then spoken alone. */
export const LONG_SENTENCE_MS = 1500;

/** One step between a reader and the segments. Stages are synchronous: they never wait. */
export interface Stage<In, Out> {
  push(item: In): Iterable<Out>;
  /** Called once, after the last item. */
  end(): Iterable<Out>;
  /**
   * Yields what counts as complete because the writer pauses.
   * @param idleMs milliseconds without a new item
   * @param heldMs milliseconds for which the stage has held something
   */
  flush?(idleMs: number, heldMs?: number): Iterable<Out>;
  /** True while the stage holds text that can be heard. */
  readonly isHolding?: boolean;
}

/** Chains two stages into one. */
export function inTurn<In, Mid, Out>(first: Stage<In, Mid>, second: Stage<Mid, Out>): Stage<In, Out> {
  function* pushed(items: Iterable<Mid>): Generator<Out> {
    for (const item of items) yield* second.push(item);
  }
  return {
    push: (item) => pushed(first.push(item)),
    *end() {
      yield* pushed(first.end());
      yield* second.end();
    },
    *flush(idleMs, heldMs) {
      if (first.flush) yield* pushed(first.flush(idleMs, heldMs));
      if (second.flush) yield* second.flush(idleMs, heldMs);
    },
    get isHolding() {
      return first.isHolding === true || second.isHolding === true;
    },
  };
}

/** Puts a stage behind another one, if there is one. */
export function behind<In, Out>(first: Stage<In, In> | undefined, second: Stage<In, Out>): Stage<In, Out> {
  return first ? inTurn(first, second) : second;
}

/** Chains stages into one, skipping `undefined`; `undefined` if there is none. */
export function allInTurn<T>(stages: readonly (Stage<T, T> | undefined)[]): Stage<T, T> | undefined {
  return stages.reduce((before, next) => (next ? behind(before, next) : before), undefined);
}

const broken = new WeakMap<object, 'silent' | 'damaged'>();

/** Marks an error after which the text before it is still spoken: the writer fell silent, or a byte is damaged. */
export function breaksOff<E extends Error>(error: E, how: 'silent' | 'damaged'): E {
  broken.set(error, how);
  return error;
}

function howBroken(error: unknown): 'silent' | 'damaged' | undefined {
  return typeof error === 'object' && error !== null ? broken.get(error) : undefined;
}

/** Passes items through a stage, without flushing it while the source is slow. */
export function through<In, Out>(items: AsyncIterable<In>, stage: Stage<In, Out>): AsyncGenerator<Out> {
  return withTurns(toEnd(items, stage));
}

/**
 * Passes items through a stage, and flushes it while the source is slow. Without waits the result is that of `through()`.
 * Time that the consumer takes does not count as waiting.
 * @param isHeard true to speak the complete sentences before a damaged byte
 * @throws the signal's reason, at once, even while the source hangs
 */
export function whileArriving<In, Out>(
  items: AsyncIterable<In>,
  stage: Stage<In, Out>,
  signal: AbortSignal,
  isHeard = false,
): AsyncGenerator<Out> {
  return withTurns(asTheyCome(new Arrivals(items, signal), stage, isHeard));
}

/** UTF-16 units of work per tick of the event loop. */
const UNITS_BETWEEN_TURNS = 4096;
/** The cost of an item in addition to its text, in UTF-16 units. */
const UNITS_OF_ITEM = 32;

async function* withTurns<Out>(steps: AsyncIterable<Iterable<Out>>): AsyncGenerator<Out> {
  let units = 0;
  for await (const outs of steps)
    for (const out of outs) {
      yield out;
      units += UNITS_OF_ITEM + lengthOf(out);
      if (units < UNITS_BETWEEN_TURNS) continue;
      await yieldToEventLoop();
      units = 0;
    }
}

function lengthOf(item: unknown): number {
  const text = typeof item === 'string' ? item : (item as { readonly text?: string }).text;
  return text?.length ?? 0;
}

async function* toEnd<In, Out>(
  items: AsyncIterable<In>,
  stage: Stage<In, Out>,
): AsyncGenerator<Iterable<Out>> {
  try {
    for await (const item of items) yield stage.push(item);
  } catch (error) {
    if (howBroken(error)) yield quietly(stage.end());
    throw error;
  }
  yield stage.end();
}

/** Swallows errors: a second one must not hide the first, which the caller throws. */
function* quietly<Out>(outs: Iterable<Out>): Generator<Out> {
  try {
    yield* outs;
  } catch {
    // The first error is thrown.
  }
}

/** Milliseconds between two flushes while items arrive. */
const FLUSH_AFTER_MS = 75;

async function* asTheyCome<In, Out>(
  arrivals: Arrivals<In>,
  stage: Stage<In, Out>,
  isHeard: boolean,
): AsyncGenerator<Iterable<Out>> {
  using _closing = arrivals;
  const watch = new FlushTimer();
  for (;;) {
    const { isHolding = false } = stage;
    const due = isHolding ? watch.due : undefined;
    const startedAt = performance.now();
    let arrival: IteratorResult<In> | undefined;
    try {
      arrival = await arrivals.next(due);
    } catch (error) {
      yield salvaged(error, stage, isHeard);
      throw error;
    }
    if (arrival?.done) break;
    watch.pass(performance.now() - startedAt, { due, isHolding, isArrival: arrival !== undefined });
    if (arrival) yield stage.push(arrival.value);
    if (!watch.isFlushDue) continue;
    yield stage.flush?.(watch.idle, watch.held) ?? [];
    watch.flushed();
  }
  yield stage.end();
}

/** Returns what is still spoken of a text that broke off: all of it, or its complete sentences. */
function salvaged<In, Out>(error: unknown, stage: Stage<In, Out>, isHeard: boolean): Iterable<Out> {
  const how = howBroken(error);
  if (how === 'silent') return quietly(stage.end());
  return how === 'damaged' && isHeard ? quietly(stage.flush?.(WAITS.sentence, 0) ?? []) : [];
}

/** Measures how long a stage and its source wait, in milliseconds, and decides when the next flush is due. */
class FlushTimer {
  /** Milliseconds without an item. */
  idle = 0;
  /** Milliseconds for which the stage has held something. */
  held = 0;
  #sinceFlush = 0;
  #hasArrival = false;

  /** Milliseconds to wait for the next item before a flush; `undefined` if a flush would yield nothing more. */
  get due(): number | undefined {
    if (this.#hasArrival) return Math.max(1, FLUSH_AFTER_MS - this.#sinceFlush);
    const next = Object.values(WAITS).find((each) => each > this.idle) ?? Number.POSITIVE_INFINITY;
    const long = this.held < LONG_SENTENCE_MS ? LONG_SENTENCE_MS - this.held : Number.POSITIVE_INFINITY;
    const due = Math.min(next - this.idle, long);
    return due < Number.POSITIVE_INFINITY ? due : undefined;
  }

  get isFlushDue(): boolean {
    return !this.#hasArrival || this.#sinceFlush >= FLUSH_AFTER_MS;
  }

  pass(
    elapsed: number,
    { due, isHolding, isArrival }: { due: number | undefined; isHolding: boolean; isArrival: boolean },
  ): void {
    this.held = isHolding ? this.held + elapsed : 0;
    if (due !== undefined) this.#sinceFlush += elapsed;
    this.idle = isArrival ? 0 : this.idle + Math.max(due ?? 0, elapsed);
    this.#hasArrival = isArrival;
  }

  flushed(): void {
    this.#sinceFlush = 0;
    this.#hasArrival = false;
  }
}
