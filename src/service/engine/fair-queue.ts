import { Refusal } from '../refusal.ts';
import type { Lane } from './lane.ts';

/** Segments of one utterance that are made before its reader asks for them. This bounds the memory of a slow reader. */
const LOOK_AHEAD = 3;

/** Seconds after which somebody who was refused should come again: by then several sentences are done. */
const RETRY_AFTER = 1;

export interface QueueLimits {
  /** Segments spoken at the same time; by default, one for each core. */
  readonly workers: number;
  /** Utterances that may wait for their first turn while all workers are busy; 64 by default. */
  readonly maxQueue: number;
}

interface Ticket<Job> {
  readonly job: Job;
  resolve(samples: Int16Array): void;
  reject(reason: unknown): void;
}

/** A list of jobs whose results are wanted in order. */
interface Line<Job> {
  readonly signal: AbortSignal;
  /** Jobs that no lane has taken yet. */
  readonly tickets: Ticket<Job>[];
}

/**
 * Shares lanes among utterances fairly: the utterances take turns, a segment each, so that a long text holds nobody up
 * for longer than one segment of it takes.
 */
export class FairQueue<Job> {
  readonly #lanes: readonly Lane<Job>[];
  readonly #free: Lane<Job>[];
  readonly #maxWaiting: number;
  /** Lines that have a ticket, the next one first. */
  readonly #turns: Line<Job>[] = [];
  /** Lines that no lane has worked for. */
  readonly #waiting = new Set<Line<Job>>();
  /** What ends each utterance that is under way. */
  readonly #open = new Set<AbortController>();

  /** @param maxWaiting utterances that may wait for their first turn while all lanes are busy */
  constructor(lanes: readonly Lane<Job>[], maxWaiting: number) {
    this.#lanes = lanes;
    this.#free = [...lanes];
    this.#maxWaiting = maxWaiting;
  }

  /** Lanes that can take a job at once. */
  get ready(): number {
    return this.#lanes.filter((lane) => lane.ready).length;
  }

  /** Utterances that wait for their first turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  async prepare(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.prepare()));
  }

  /**
   * Yields the results in the order of the jobs, of which only a few are taken ahead of the reader. When the reader
   * leaves, or the signal aborts, the work on them stops at once.
   *
   * @throws Refusal with status 503 when too many wait already; what a lane throws; the reason of the signal
   */
  async *run(
    jobs: Iterable<Job> | AsyncIterable<Job>,
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array, void, undefined> {
    signal.throwIfAborted();
    const leaving = new AbortController();
    const line: Line<Job> = { signal: leaving.signal, tickets: [] };
    this.#admit(line);
    this.#open.add(leaving);
    const leave = () => leaving.abort(signal.reason);
    signal.addEventListener('abort', leave);
    line.signal.addEventListener('abort', () => this.#cancel(line));
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
    if (this.waiting >= this.#maxWaiting + this.#free.length) {
      throw new Refusal(503, 'busy', 'too many requests wait already', { retryAfter: RETRY_AFTER });
    }
    this.#waiting.add(line);
  }

  #submit(line: Line<Job>, job: Job): Promise<Int16Array> {
    const result = new Promise<Int16Array>((resolve, reject) => {
      line.tickets.push({ job, resolve, reject });
    });
    result.catch(() => {}); // a reader that left does not look at the rest
    if (!this.#turns.includes(line)) this.#turns.push(line);
    this.#dispatch();
    return result;
  }

  #cancel(line: Line<Job>): void {
    this.#waiting.delete(line);
    const turn = this.#turns.indexOf(line);
    if (turn >= 0) this.#turns.splice(turn, 1);
    for (const { reject } of line.tickets.splice(0)) reject(line.signal.reason);
  }

  #dispatch(): void {
    while (this.#free.length > 0) {
      const line = this.#turns.shift();
      const ticket = line?.tickets.shift();
      if (!line || !ticket) return;
      if (line.tickets.length > 0) this.#turns.push(line);
      this.#waiting.delete(line);
      const lane = this.#take();
      void this.#work(lane, ticket, line.signal);
    }
  }

  /** A lane that is ready before one that must still start. */
  #take(): Lane<Job> {
    const ready = this.#free.findIndex((lane) => lane.ready);
    const [lane] = this.#free.splice(Math.max(0, ready), 1);
    if (!lane) throw new Error('no lane is free');
    return lane;
  }

  async #work(lane: Lane<Job>, { job, resolve, reject }: Ticket<Job>, signal: AbortSignal): Promise<void> {
    try {
      resolve(await lane.run(job, signal));
    } catch (error) {
      reject(error);
    } finally {
      this.#free.push(lane);
      this.#dispatch();
    }
  }
}
