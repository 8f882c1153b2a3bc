import { queueFull } from './contract.ts';
import { type Line, type Ticket, Turns } from './turns.ts';

/** Bounds memory for a slow reader. */
const LOOK_AHEAD = 3;

export interface QueueLimits {
  /** The default is one for each core. */
  readonly workers: number;
  /** No more utterances may wait while all workers are busy. */
  readonly maxQueue: number;
}

/** The utterance with the fewest tasks in work is next. */
export class FairQueue<Task> {
  readonly #lanes: readonly Lane<Task>[];
  readonly #free: Lane<Task>[];
  readonly #maxWaiting: number;
  readonly #spare: number;
  readonly #turns = new Turns<Task>();
  readonly #open = new Set<AbortController>();

  /** @param spare lanes left idle, which bridge the restart of another */
  constructor(lanes: readonly Lane<Task>[], maxWaiting: number, spare = 0) {
    this.#lanes = lanes;
    this.#free = [...lanes];
    this.#maxWaiting = maxWaiting;
    this.#spare = spare;
  }

  get ready(): number {
    const ready = this.#lanes.filter((lane) => lane.ready).length;
    return Math.min(ready, this.#lanes.length - this.#spare);
  }

  get waiting(): number {
    return this.#turns.waiting;
  }

  async prepareOne(): Promise<void> {
    await this.#lanes[0]?.prepare();
  }

  async prepare(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.prepare()));
  }

  /**
   * The results come in the order of the tasks.
   * @param isPatient true if a full queue does not refuse it
   * @throws EngineError `busy` for a full queue; what a lane throws
   */
  async *run(
    tasks: Iterable<Task> | AsyncIterable<Task>,
    signal: AbortSignal,
    isPatient = false,
  ): AsyncGenerator<Int16Array, void, undefined> {
    signal.throwIfAborted();
    const leaving = new AbortController();
    const line: Line<Task> = { signal: leaving.signal, tickets: [], working: 0, isPatient };
    this.#admit(line);
    this.#open.add(leaving);
    const leave = () => leaving.abort(signal.reason);
    signal.addEventListener('abort', leave);
    line.signal.addEventListener('abort', () => this.#turns.leave(line));
    const results: Promise<Int16Array>[] = [];
    try {
      for await (const task of tasks) {
        line.signal.throwIfAborted();
        results.push(this.#submit(line, task));
        if (results.length >= LOOK_AHEAD) yield (await results.shift()) as Int16Array;
      }
      for (const result of results) yield await result;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#open.delete(leaving);
      leaving.abort();
    }
  }

  async close(): Promise<void> {
    for (const utterance of this.#open) utterance.abort(new Error('the engine is closed'));
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  #admit(line: Line<Task>): void {
    const places = this.#maxWaiting + this.#free.length - this.#spare;
    if (!line.isPatient && this.#turns.limited >= places) throw queueFull();
    this.#turns.enter(line);
  }

  #submit(line: Line<Task>, task: Task): Promise<Int16Array> {
    const result = new Promise<Int16Array>((resolve, reject) => {
      this.#turns.add(line, { task, resolve, reject });
    });
    result.catch(() => {});
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

  #take(): Lane<Task> {
    const ready = this.#free.findIndex((lane) => lane.ready);
    const [lane] = this.#free.splice(Math.max(0, ready), 1);
    if (!lane) throw new Error('no lane is free');
    return lane;
  }

  async #work(lane: Lane<Task>, { task, resolve, reject }: Ticket<Task>, line: Line<Task>): Promise<void> {
    try {
      resolve(await lane.run(task, line.signal));
    } catch (error) {
      reject(error);
    } finally {
      this.#turns.done(line);
      this.#free.unshift(lane); // few lanes are ever started
      this.#dispatch();
    }
  }
}

export interface Lane<Task> {
  readonly ready: boolean;
  prepare(): Promise<void>;
  /**
   * @returns no samples for a text without sound
   * @throws EngineError when the work failed
   */
  run(task: Task, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}
