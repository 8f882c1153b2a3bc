import { type Engine, EngineError, OWN_RATE, type Utterance } from './engine.ts';
import type { Finish } from './finish.ts';
import { type Passage, passages } from './passages.ts';

/** A thread, or a process, that does one task after the other. */
export interface TaskRunner<Task> {
  readonly ready: boolean;
  /**
   * @returns no samples for a text without sound
   * @throws EngineError when the work failed
   */
  run(task: Task, signal: AbortSignal): Promise<Int16Array>;
  close(): Promise<void>;
}

export interface TaskMaker<Task> {
  /** @returns empty to leave the sentence out */
  normalise(sentence: string): string;
  task(text: string, finish: Finish): Task;
  /** It is the message for a text without sound. */
  readonly complaint: string;
}

/** An engine whose utterances are spoken passage by passage. */
export function queuedEngine<Task>(
  queue: FairQueue<Task>,
  recipe: (utterance: Utterance) => TaskMaker<Task>,
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

/** Seconds after a passage. */
const PAUSES: Readonly<Record<Passage['end'], number>> = { clause: 0.12, sentence: 0.35, paragraph: 0.65 };

/** The passages of an utterance as tasks. */
export async function* tasks<Task>(
  { text, sampleRate, style }: Pick<Utterance, 'text' | 'style'> & { readonly sampleRate: number },
  recipe: TaskMaker<Task>,
  signal: AbortSignal,
): AsyncGenerator<Task, void, undefined> {
  for await (const passage of passages(text, recipe.normalise, signal)) {
    const pause = PAUSES[passage.end] * style.pause;
    yield recipe.task(passage.text, { sampleRate, loudness: style.loudness, pause });
  }
}

/** @throws EngineError at the end if all pieces were empty: some voices find out only while they speak */
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

/** Tasks of one utterance that are begun before its reader has the first sound: it bounds memory for a slow reader. */
const LOOK_AHEAD = 3;

interface Ticket<Task> {
  readonly task: Task;
  resolve(samples: Int16Array): void;
  reject(reason: unknown): void;
}

/** An utterance, with its tasks that are not begun. */
interface Line<Task> {
  readonly signal: AbortSignal;
  readonly tickets: Ticket<Task>[];
  working: number;
}

/** The utterance with the fewest tasks in work is next. */
export class FairQueue<Task> {
  readonly #lanes: readonly TaskRunner<Task>[];
  readonly #free: TaskRunner<Task>[];
  readonly #spare: number;
  /** Those with tasks that are not begun, in turn. */
  readonly #order: Line<Task>[] = [];
  readonly #open = new Set<AbortController>();

  /** @param spare lanes left idle, which bridge the restart of another */
  constructor(lanes: readonly TaskRunner<Task>[], spare = 0) {
    this.#lanes = lanes;
    this.#free = [...lanes];
    this.#spare = spare;
  }

  /**
   * The results come in the order of the tasks.
   * @throws what a lane throws
   */
  async *run(
    tasks: Iterable<Task> | AsyncIterable<Task>,
    signal: AbortSignal,
  ): AsyncGenerator<Int16Array, void, undefined> {
    signal.throwIfAborted();
    const leaving = new AbortController();
    const line: Line<Task> = { signal: leaving.signal, tickets: [], working: 0 };
    this.#open.add(leaving);
    const leave = () => leaving.abort(signal.reason);
    signal.addEventListener('abort', leave);
    line.signal.addEventListener('abort', () => this.#leave(line));
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

  #leave(line: Line<Task>): void {
    const place = this.#order.indexOf(line);
    if (place >= 0) this.#order.splice(place, 1);
    for (const { reject } of line.tickets.splice(0)) reject(line.signal.reason);
  }

  #submit(line: Line<Task>, task: Task): Promise<Int16Array> {
    const result = new Promise<Int16Array>((resolve, reject) => {
      line.tickets.push({ task, resolve, reject });
    });
    result.catch(() => {});
    if (!this.#order.includes(line)) this.#order.push(line);
    this.#dispatch();
    return result;
  }

  #dispatch(): void {
    while (this.#free.length > this.#spare && this.#order.length > 0) {
      const [line] = this.#order.splice(this.#order.indexOf(nextOf(this.#order)), 1);
      const ticket = line?.tickets.shift();
      if (!line || !ticket) return;
      if (line.tickets.length > 0) this.#order.push(line);
      void this.#work(line, ticket);
    }
  }

  async #work(line: Line<Task>, { task, resolve, reject }: Ticket<Task>): Promise<void> {
    const ready = this.#free.findIndex((lane) => lane.ready);
    const [lane] = this.#free.splice(Math.max(0, ready), 1);
    if (!lane) throw new Error('no lane is free');
    line.working += 1;
    try {
      resolve(await lane.run(task, line.signal));
    } catch (error) {
      reject(error);
    } finally {
      line.working -= 1;
      this.#free.unshift(lane); // few lanes are ever started
      this.#dispatch();
    }
  }
}

function nextOf<Task>(lines: readonly Line<Task>[]): Line<Task> {
  return lines.reduce((next, line) => (line.working < next.working ? line : next));
}
