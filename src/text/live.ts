import { Arrivals, yieldToEventLoop } from '../async.ts';
import { WAITS } from './complete.ts';

/** One step on the way of a text. It works on what it is given, and never waits. */
export interface Stage<In, Out> {
  push(item: In): Iterable<Out>;
  /** It is called when no item follows. */
  end(): Iterable<Out>;
}

/** It can give out what is complete while the writer waits. */
export interface LiveStage<In, Out> extends Stage<In, Out> {
  readonly isHolding: boolean;
  /** @param idleMs milliseconds without an item */
  flush(idleMs: number): Iterable<Out>;
}

/** Two stages as one. The first one has to be through with an item before the second one sees what comes of it. */
export function inTurn<In, Mid, Out>(first: Stage<In, Mid>, second: LiveStage<Mid, Out>): LiveStage<In, Out>;
export function inTurn<In, Mid, Out>(first: Stage<In, Mid>, second: Stage<Mid, Out>): Stage<In, Out>;
export function inTurn<In, Mid, Out>(
  first: Stage<In, Mid>,
  second: Stage<Mid, Out> & Partial<LiveStage<Mid, Out>>,
): LiveStage<In, Out> {
  function* pushed(items: Iterable<Mid>): Generator<Out> {
    for (const item of items) yield* second.push(item);
  }
  return {
    push: (item) => pushed(first.push(item)),
    *end() {
      yield* pushed(first.end());
      yield* second.end();
    },
    flush: (idleMs) => second.flush?.(idleMs) ?? [],
    get isHolding() {
      return second.isHolding === true;
    },
  };
}

/** What a stage makes of items that are there, or are worth the wait. */
export function through<In, Out>(items: AsyncIterable<In>, stage: Stage<In, Out>): AsyncGenerator<Out> {
  return withTurns(toEnd(items, stage));
}

/**
 * What a stage makes of items that may come slowly. Without waits it is that of `through()`; time that the reader takes does
 * not count.
 * @throws the signal's reason, at once, even while the source hangs
 */
export function whileArriving<In, Out>(
  items: AsyncIterable<In>,
  stage: LiveStage<In, Out>,
  signal: AbortSignal,
): AsyncGenerator<Out> {
  return withTurns(asTheyCome(new Arrivals(items, signal), stage));
}

/** UTF-16 units of work between two turns of the event loop. */
const UNITS_BETWEEN_TURNS = 4096;
/** UTF-16 units of work that each item costs besides its text. */
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
  for await (const item of items) yield stage.push(item);
  yield stage.end();
}

/** Milliseconds between two looks for what is complete while the source waits. */
const FLUSH_AFTER_MS = 100;

async function* asTheyCome<In, Out>(
  arrivals: Arrivals<In>,
  stage: LiveStage<In, Out>,
): AsyncGenerator<Iterable<Out>> {
  using _closing = arrivals;
  let sinceFlush = 0;
  let idle = 0;
  for (;;) {
    const next = nextWait(idle);
    const mayFlush = stage.isHolding && next < Number.POSITIVE_INFINITY;
    const due = Math.max(1, Math.min(FLUSH_AFTER_MS - sinceFlush, next - idle));
    const startedAt = performance.now();
    const arrival = await arrivals.next(mayFlush ? due : undefined);
    if (arrival?.done) break;
    const elapsed = performance.now() - startedAt;
    if (mayFlush) sinceFlush += elapsed;
    idle = arrival ? 0 : idle + Math.max(due, elapsed);
    if (arrival) yield stage.push(arrival.value);
    if (arrival && sinceFlush < FLUSH_AFTER_MS) continue;
    yield stage.flush(idle);
    sinceFlush = 0;
  }
  yield stage.end();
}

function nextWait(idle: number): number {
  return Object.values(WAITS).find((each) => each > idle) ?? Number.POSITIVE_INFINITY;
}
