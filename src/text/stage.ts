import { Arrivals, yieldToEventLoop } from '../kit/wait.ts';

/**
 * Milliseconds without text after which this counts as complete: a sentence; a finished line or phrase; a full stop that may
 * belong to a number, a name, or an open quote or bracket.
 */
export const WAITS = { sentence: 500, line: 1000, doubtful: 2000 } as const;

/**
 * Milliseconds after which a sentence counts as long. Where nothing has been said yet, an early clause is worth more than a
 * whole sentence.
 */
export const LONG_SENTENCE_MS = 1500;

/** One step from a reader to the segments. It works on what it is given, and never waits. */
export interface Stage<In, Out> {
  push(item: In): Iterable<Out>;
  /** Called once, when no item follows. */
  end(): Iterable<Out>;
  /**
   * Yields what is complete by now, while the writer waits.
   * @param idleMs milliseconds without an item
   * @param heldMs milliseconds for which it has held something
   */
  flush?(idleMs: number, heldMs?: number): Iterable<Out>;
  /** True while it holds something that can be heard. */
  readonly isHolding?: boolean;
}

/** Two stages as one. The first one has to be through with an item before the second one sees what comes of it. */
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

/** Stages as one; `undefined` if there is none. */
export function allInTurn<T>(stages: readonly (Stage<T, T> | undefined)[]): Stage<T, T> | undefined {
  return stages.reduce(
    (before, next) => (before && next ? inTurn(before, next) : (before ?? next)),
    undefined,
  );
}

const broken = new WeakMap<object, 'silent' | 'damaged'>();

/** Marks an error after which the text before it is still spoken: its writer fell silent, or a byte is damaged. */
export function breaksOff<E extends Error>(error: E, how: 'silent' | 'damaged'): E {
  broken.set(error, how);
  return error;
}

function howBroken(error: unknown): 'silent' | 'damaged' | undefined {
  return typeof error === 'object' && error !== null ? broken.get(error) : undefined;
}

/** Passes items through a stage; it waits for each. */
export function through<In, Out>(items: AsyncIterable<In>, stage: Stage<In, Out>): AsyncGenerator<Out> {
  return withTurns(toEnd(items, stage));
}

/**
 * Passes items that may come slowly through a stage, and flushes it while they do. Without waits the result is that of
 * `through()`. Time that the reader takes does not count as waiting.
 * @param isHeard true if complete sentences in front of a damaged byte are to be spoken
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

/** UTF-16 units of work in one tick of the event loop. */
const UNITS_BETWEEN_TURNS = 4096;
/** The work on an item besides its text, in UTF-16 units. */
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

/** A second error must not hide the first one. */
function* quietly<Out>(outs: Iterable<Out>): Generator<Out> {
  try {
    yield* outs;
  } catch {
    // The first error is thrown.
  }
}

/** Milliseconds between two flushes while the source writes. */
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
      yield leftBehind(error, stage, isHeard);
      throw error;
    }
    if (arrival?.done) break;
    watch.pass(performance.now() - startedAt, { due, isHolding, isArrival: arrival !== undefined });
    if (arrival) yield stage.push(arrival.value);
    if (!watch.isLookDue) continue;
    yield stage.flush?.(watch.idle, watch.held) ?? [];
    watch.look();
  }
  yield stage.end();
}

/** What is still spoken of a text that broke off: all of it, or its complete sentences. */
function leftBehind<In, Out>(error: unknown, stage: Stage<In, Out>, isHeard: boolean): Iterable<Out> {
  const how = howBroken(error);
  if (how === 'silent') return quietly(stage.end());
  return how === 'damaged' && isHeard ? quietly(stage.flush?.(WAITS.sentence, 0) ?? []) : [];
}

/** Counts how long a stage and its source wait, in milliseconds, and says when the next flush is due. */
class FlushTimer {
  /** Time without an item. */
  idle = 0;
  /** Time in which the stage has held something. */
  held = 0;
  #sinceLook = 0;
  #isNew = false;

  /** How long to wait for the next item; undefined if a further flush would give nothing more. */
  get due(): number | undefined {
    if (this.#isNew) return Math.max(1, FLUSH_AFTER_MS - this.#sinceLook);
    const next = Object.values(WAITS).find((each) => each > this.idle) ?? Number.POSITIVE_INFINITY;
    const long = this.held < LONG_SENTENCE_MS ? LONG_SENTENCE_MS - this.held : Number.POSITIVE_INFINITY;
    const due = Math.min(next - this.idle, long);
    return due < Number.POSITIVE_INFINITY ? due : undefined;
  }

  get isLookDue(): boolean {
    return !this.#isNew || this.#sinceLook >= FLUSH_AFTER_MS;
  }

  pass(
    elapsed: number,
    { due, isHolding, isArrival }: { due: number | undefined; isHolding: boolean; isArrival: boolean },
  ): void {
    this.held = isHolding ? this.held + elapsed : 0;
    if (due !== undefined) this.#sinceLook += elapsed;
    this.idle = isArrival ? 0 : this.idle + Math.max(due ?? 0, elapsed);
    this.#isNew = isArrival;
  }

  look(): void {
    this.#sinceLook = 0;
    this.#isNew = false;
  }
}
