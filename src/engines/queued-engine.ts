/** Engines that speak passage by passage, with several utterances sharing threads or processes. */
import { type Engine, EngineError, type EngineUtterance, OWN_RATE } from './engine.ts';
import type { Finish } from './finish.ts';
import { type Passage, passages } from './passages.ts';

/** A thread or a process that runs one task at a time. */
export interface TaskRunner<Task> {
  /** True if a task needs no start of a thread first. */
  readonly ready: boolean;
  /**
   * @returns no samples for a text without sound
   * @throws EngineError when the work failed
   */
  run(task: Task, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}

/** Makes the tasks of one utterance. */
export interface TaskMaker<Task> {
  /** @returns the sentence as the voice reads it; empty to skip it */
  normalise(sentence: string): string;
  task(text: string, finish: Finish): Task;
  /** The error message for a text without sound. */
  readonly complaint: string;
}

/** @param recipe returns how to make the tasks of an utterance */
export function queuedEngine<Task>(
  queue: FairQueue<Task>,
  recipe: (utterance: EngineUtterance) => TaskMaker<Task>,
): Engine {
  return {
    async speak(utterance, signal) {
      const { sampleRate = OWN_RATE } = utterance;
      const how = recipe(utterance);
      const work = tasks({ ...utterance, sampleRate }, how, signal);
      return { sampleRate, samples: audible(queue.run(work, signal), how.complaint) };
    },
    close: () => queue.close(),
  };
}

/** Seconds of silence after a passage. */
const PAUSES: Readonly<Record<Passage['end'], number>> = { clause: 0.12, sentence: 0.35, paragraph: 0.65 };

/** Yields the passages of an utterance as tasks. */
export async function* tasks<Task>(
  { text, sampleRate, style }: Pick<EngineUtterance, 'text' | 'style'> & { readonly sampleRate: number },
  recipe: TaskMaker<Task>,
  signal: AbortSignal,
): AsyncGenerator<Task, void, undefined> {
  for await (const passage of passages(text, recipe.normalise, signal)) {
    const pause = PAUSES[passage.end] * style.pause;
    yield recipe.task(passage.text, { sampleRate, loudness: style.loudness, pause });
  }
}

/** @throws EngineError at the end if all pieces were empty, which some voices find out only while they speak */
async function* audible(
  pieces: AsyncIterable<Int16Array>,
  complaint: string,
): AsyncGenerator<Int16Array, void, undefined> {
  let isSilent = true;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    isSilent = false;
    yield piece;
  }
  if (isSilent) throw new EngineError('unsupported text', complaint);
}

/** Tasks of an utterance that may be queued ahead of its reader; this bounds the memory for a slow reader. */
const LOOK_AHEAD = 3;

/** A queued task, with the promise of its sound. */
interface QueuedTask<Task> {
  readonly task: Task;
  resolve(samples: Int16Array): void;
  reject(reason: unknown): void;
}

/** An utterance with its tasks that have not started. */
interface QueuedUtterance<Task> {
  readonly signal: AbortSignal;
  readonly waiting: QueuedTask<Task>[];
  /** The number of its tasks that are running. */
  running: number;
}

/** Shares task runners among utterances: next is the utterance with the fewest running tasks. */
export class FairQueue<Task> {
  readonly #runners: readonly TaskRunner<Task>[];
  readonly #free: TaskRunner<Task>[];
  readonly #spare: number;
  /** Utterances with tasks that have not started, in the order of their turns. */
  readonly #order: QueuedUtterance<Task>[] = [];
  /** Aborts the utterances that are being read. */
  readonly #open = new Set<AbortController>();

  /** @param spare the number of runners kept idle, to take over while another one restarts */
  constructor(runners: readonly TaskRunner<Task>[], spare = 0) {
    this.#runners = runners;
    this.#free = [...runners];
    this.#spare = spare;
  }

  /**
   * Yields the results in the order of the tasks.
   * @throws the error of a task runner
   */
  async *run(
    tasks: Iterable<Task> | AsyncIterable<Task>,
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array, void, undefined> {
    signal.throwIfAborted();
    const leaving = new AbortController();
    const utterance: QueuedUtterance<Task> = { signal: leaving.signal, waiting: [], running: 0 };
    this.#open.add(leaving);
    const leave = () => leaving.abort(signal.reason);
    signal.addEventListener('abort', leave);
    utterance.signal.addEventListener('abort', () => this.#leave(utterance));
    const results: Promise<Int16Array>[] = [];
    try {
      for await (const task of tasks) {
        utterance.signal.throwIfAborted();
        results.push(this.#submit(utterance, task));
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
    await Promise.all(this.#runners.map((runner) => runner.close()));
  }

  #leave(utterance: QueuedUtterance<Task>): void {
    const place = this.#order.indexOf(utterance);
    if (place >= 0) this.#order.splice(place, 1);
    for (const { reject } of utterance.waiting.splice(0)) reject(utterance.signal.reason);
  }

  #submit(utterance: QueuedUtterance<Task>, task: Task): Promise<Int16Array> {
    const result = new Promise<Int16Array>((resolve, reject) => {
      utterance.waiting.push({ task, resolve, reject });
    });
    result.catch(() => {});
    if (!this.#order.includes(utterance)) this.#order.push(utterance);
    this.#dispatch();
    return result;
  }

  #dispatch(): void {
    while (this.#free.length > this.#spare && this.#order.length > 0) {
      const [utterance] = this.#order.splice(this.#order.indexOf(nextOf(this.#order)), 1);
      const queued = utterance?.waiting.shift();
      if (!utterance || !queued) return;
      if (utterance.waiting.length > 0) this.#order.push(utterance);
      void this.#work(utterance, queued);
    }
  }

  async #work(utterance: QueuedUtterance<Task>, { task, resolve, reject }: QueuedTask<Task>): Promise<void> {
    const ready = this.#free.findIndex((runner) => runner.ready);
    const [runner] = this.#free.splice(Math.max(0, ready), 1);
    if (!runner) throw new Error('no runner is free');
    utterance.running += 1;
    try {
      resolve(await runner.run(task, utterance.signal));
    } catch (error) {
      reject(error);
    } finally {
      utterance.running -= 1;
      this.#free.unshift(runner); // reused first, so that few are ever started
      this.#dispatch();
    }
  }
}

function nextOf<Task>(utterances: readonly QueuedUtterance<Task>[]): QueuedUtterance<Task> {
  return utterances.reduce((next, utterance) => (utterance.running < next.running ? utterance : next));
}
