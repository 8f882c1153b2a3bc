import { Refusal } from './contract.ts';
import { type Line, type Ticket, Turns } from './turns.ts';

/** Segments of one utterance that are made before its reader asks for them. This bounds the memory of a slow reader. */
const LOOK_AHEAD = 3;

export interface QueueLimits {
  /** Segments spoken at the same time; by default, one for each core. */
  readonly workers: number;
  /** Utterances that may wait for their first turn while all workers are busy. */
  readonly maxQueue: number;
}

/**
 * Shares lanes among utterances fairly, a segment at a time: whoever has the fewest segments worked on has the next free
 * lane, so that a long text holds nobody up for longer than one segment of it takes.
 */
export class FairQueue<Job> {
  readonly #lanes: readonly Lane<Job>[];
  readonly #free: Lane<Job>[];
  readonly #maxWaiting: number;
  readonly #spare: number;
  readonly #turns = new Turns<Job>();
  /** What ends each utterance that is under way. */
  readonly #open = new Set<AbortController>();

  /**
   * @param maxWaiting utterances that may wait for their first turn while all lanes are busy
   * @param spare lanes that are left idle, for the time that another takes to start again
   */
  constructor(lanes: readonly Lane<Job>[], maxWaiting: number, spare = 0) {
    this.#lanes = lanes;
    this.#free = [...lanes];
    this.#maxWaiting = maxWaiting;
    this.#spare = spare;
  }

  /** Jobs that can be worked on at the same time, now. */
  get ready(): number {
    const ready = this.#lanes.filter((lane) => lane.ready).length;
    return Math.min(ready, this.#lanes.length - this.#spare);
  }

  /** Utterances that wait for their first turn. */
  get waiting(): number {
    return this.#turns.waiting;
  }

  async prepare(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.prepare()));
  }

  /**
   * Yields the results in the order of the jobs, of which only a few are taken ahead of the reader. When the reader
   * leaves, or the signal aborts, the work on them stops at once.
   *
   * @param isPatient it waits also where too many do, and does not count as one of them
   * @throws Refusal with status 503 when too many wait already; what a lane throws; the reason of the signal
   */
  async *run(
    jobs: Iterable<Job> | AsyncIterable<Job>,
    signal: AbortSignal,
    isPatient = false,
  ): AsyncGenerator<Int16Array, void, undefined> {
    signal.throwIfAborted();
    const leaving = new AbortController();
    const line: Line<Job> = { signal: leaving.signal, tickets: [], working: 0, isPatient };
    this.#admit(line);
    this.#open.add(leaving);
    const leave = () => leaving.abort(signal.reason);
    signal.addEventListener('abort', leave);
    line.signal.addEventListener('abort', () => this.#turns.leave(line));
    const results: Promise<Int16Array>[] = [];
    try {
      for await (const job of jobs) {
        line.signal.throwIfAborted();
        results.push(this.#submit(line, job));
        if (results.length >= LOOK_AHEAD) yield (await results.shift()) as Int16Array;
      }
      for (const result of results) yield await result;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#open.delete(leaving);
      leaving.abort();
    }
  }

  /** Ends whatever is under way. */
  async close(): Promise<void> {
    for (const utterance of this.#open) utterance.abort(new Error('the engine is closed'));
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  #admit(line: Line<Job>): void {
    const places = this.#maxWaiting + this.#free.length - this.#spare;
    if (!line.isPatient && this.#turns.limited >= places) {
      throw new Refusal(503, 'busy', 'too many requests wait already');
    }
    this.#turns.enter(line);
  }

  #submit(line: Line<Job>, job: Job): Promise<Int16Array> {
    const result = new Promise<Int16Array>((resolve, reject) => {
      this.#turns.add(line, { job, resolve, reject });
    });
    result.catch(() => {}); // a reader that left does not look at the rest
    this.#dispatch();
    return result;
  }

  #dispatch(): void {
    while (this.#free.length > this.#spare) {
      const turn = this.#turns.next();
      if (!turn) return;
      void this.#work(this.#take(), turn.ticket, turn.line);
    }
  }

  /** A lane that is ready before one that must still start. */
  #take(): Lane<Job> {
    const ready = this.#free.findIndex((lane) => lane.ready);
    const [lane] = this.#free.splice(Math.max(0, ready), 1);
    if (!lane) throw new Error('no lane is free');
    return lane;
  }

  async #work(lane: Lane<Job>, { job, resolve, reject }: Ticket<Job>, line: Line<Job>): Promise<void> {
    try {
      resolve(await lane.run(job, line.signal));
    } catch (error) {
      reject(error);
    } finally {
      this.#turns.done(line);
      this.#free.unshift(lane); // the one that worked last is taken first: what is spare stays small
      this.#dispatch();
    }
  }
}

/** What works on one job at a time. */
export interface Lane<Job> {
  /** True while jobs can be given to it at once. */
  readonly ready: boolean;
  /** Starts what the first job would otherwise wait for. */
  prepare(): Promise<void>;
  /**
   * Stops at once when the signal aborts, and then rejects with its reason.
   *
   * @returns no samples for what has no sound
   * @throws Refusal when the work failed
   */
  run(job: Job, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}
