import type { Resampler } from '../sound/convert.ts';
import { join, type Samples, silence, toFloat, toInt16 } from '../sound/samples.ts';
import { type Engine, EngineError, OWN_RATE, queueFull, type Speaker, type Utterance } from './engine.ts';
import { level } from './level.ts';
import { type Passage, passages } from './passages.ts';

export interface Ticket<Task> {
  readonly task: Task;
  resolve(samples: Int16Array): void;
  reject(reason: unknown): void;
}

export interface Line<Task> {
  readonly signal: AbortSignal;
  readonly tickets: Ticket<Task>[];
  working: number;
  readonly isPatient: boolean;
}

/** The line with the fewest tasks in work is next; a patient line counts one more. */
class Turns<Task> {
  readonly #order: Line<Task>[] = [];
  readonly #waiting = new Set<Line<Task>>();

  get waiting(): number {
    return this.#waiting.size;
  }

  get limited(): number {
    return [...this.#waiting].filter(({ isPatient }) => !isPatient).length;
  }

  enter(line: Line<Task>): void {
    this.#waiting.add(line);
  }

  add(line: Line<Task>, ticket: Ticket<Task>): void {
    line.tickets.push(ticket);
    if (!this.#order.includes(line)) this.#order.push(line);
  }

  next(): { readonly ticket: Ticket<Task>; readonly line: Line<Task> } | undefined {
    const fewest = Math.min(...this.#order.map(shareOf));
    const place = this.#order.findIndex((line) => shareOf(line) === fewest);
    const [line] = place < 0 ? [] : this.#order.splice(place, 1);
    const ticket = line?.tickets.shift();
    if (!line || !ticket) return undefined;
    if (line.tickets.length > 0) this.#order.push(line);
    this.#waiting.delete(line);
    line.working += 1;
    return { ticket, line };
  }

  done(line: Line<Task>): void {
    line.working -= 1;
  }

  /** The tickets of the line are rejected. */
  leave(line: Line<Task>): void {
    this.#waiting.delete(line);
    const place = this.#order.indexOf(line);
    if (place >= 0) this.#order.splice(place, 1);
    for (const { reject } of line.tickets.splice(0)) reject(line.signal.reason);
  }
}

function shareOf<Task>({ working, isPatient }: Line<Task>): number {
  return isPatient ? working + 1 : working;
}

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

export interface Finish {
  /** Hz. */
  readonly sampleRate: number;
  /** It is a factor of the amplitude. */
  readonly loudness: number;
  /** It is the silence after the passage, in seconds. */
  readonly pause: number;
}

/** Longer than the filter of the resampler. */
const LEAD = 0.03;

/** Passages join in digital silence, without clicks. */
export function finish(
  { samples, sampleRate }: Samples,
  { sampleRate: wanted, loudness, pause }: Finish,
  resampler: (from: number, to: number) => Resampler,
): Int16Array {
  const speech = trim(toFloat(samples), sampleRate);
  level(speech, sampleRate, loudness);
  const lead = Math.round(LEAD * sampleRate);
  const padded = silence(lead + speech.length + Math.round(pause * sampleRate));
  padded.set(speech, lead);
  if (sampleRate === wanted) return toInt16(padded);
  const conversion = resampler(sampleRate, wanted);
  return toInt16(join([conversion.push(padded), conversion.end()]));
}

/** 45 dB below the loudest sample. */
const SILENCE = 10 ** (-45 / 20);

/** Seconds, faded. */
const MARGIN = 0.02;

/** @returns a view without the silence around the speech */
function trim(samples: Float32Array, sampleRate: number): Float32Array {
  const threshold = SILENCE * peak(samples);
  const margin = Math.round(MARGIN * sampleRate);
  let start = 0;
  while (start < samples.length && Math.abs(samples[start] ?? 0) <= threshold) start += 1;
  let end = samples.length;
  while (end > start && Math.abs(samples[end - 1] ?? 0) <= threshold) end -= 1;
  const speech = samples.subarray(Math.max(0, start - margin), end + margin);
  fade(speech, Math.min(margin, speech.length >> 1));
  return speech;
}

function fade(samples: Float32Array, frames: number): void {
  for (let frame = 0; frame < frames; frame += 1) {
    const gain = frame / frames;
    const mirror = samples.length - 1 - frame;
    samples[frame] = gain * (samples[frame] ?? 0);
    samples[mirror] = gain * (samples[mirror] ?? 0);
  }
}

/** Callbacks would box each sample. */
function peak(samples: Float32Array): number {
  let most = 0;
  for (let frame = 0; frame < samples.length; frame += 1)
    most = Math.max(most, Math.abs(samples[frame] ?? 0));
  return most;
}

export function queuedEngine<Task>(
  speakers: readonly Speaker[],
  queue: FairQueue<Task>,
  recipe: (utterance: Utterance) => Recipe<Task>,
): Engine {
  return {
    speakers,
    get queued() {
      return queue.waiting;
    },
    async speak(utterance, signal) {
      const { sampleRate = OWN_RATE } = utterance;
      const how = recipe(utterance);
      const work = tasks({ ...utterance, sampleRate }, how, signal);
      return { sampleRate, samples: audible(queue.run(work, signal, utterance.isPatient), how.complaint) };
    },
    close: () => queue.close(),
  };
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

/** Seconds after a passage. */
const PAUSES: Readonly<Record<Passage['end'], number>> = { clause: 0.12, sentence: 0.35, paragraph: 0.65 };

export interface Recipe<Task> {
  /** @returns empty to leave the sentence out */
  normalise(sentence: string): string;
  task(text: string, finish: Finish): Task;
  /** It is the message for a text without sound. */
  readonly complaint: string;
}

async function* tasks<Task>(
  { text, sampleRate, style }: Utterance & { readonly sampleRate: number },
  recipe: Recipe<Task>,
  signal: AbortSignal,
): AsyncGenerator<Task, void, undefined> {
  for await (const passage of passages(text, recipe.normalise, signal)) {
    const pause = PAUSES[passage.end] * style.pause;
    yield recipe.task(passage.text, { sampleRate, loudness: style.loudness, pause });
  }
}
