import { availableParallelism } from 'node:os';
import { DEFAULT_MAX_QUEUE, type Engine, type EngineSet, type NumberedSource } from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { type Assets, FLITE_SPEAKERS, type FliteTask, fliteUse, loadAssets } from '../engines/flite.ts';
import { FliteThread } from '../engines/flite-thread.ts';
import { FairQueue, type QueueLimits, queuedEngine } from '../engines/lanes.ts';
import { normalise } from '../engines/normalise.ts';

export interface EngineSetOptions extends Partial<QueueLimits> {
  /** The program of the threads. By default it lies next to the built program. */
  readonly worker?: URL | undefined;
  /** The version of Node, as the host has it. */
  readonly runtime?: string | undefined;
  readonly espeak?: Espeak | undefined;
  readonly sources?: readonly NumberedSource[] | undefined;
}

export interface PreparedEngines extends EngineSet {
  prepare(): Promise<void>;
}

/** A hang-up ends a thread; the spare one takes its place. */
const SPARE = 1;

/** All engines of a service. */
export async function openEngines(options: EngineSetOptions = {}): Promise<PreparedEngines> {
  const { espeak, sources = [] } = options;
  const limits = limitsFrom(options);
  const queue = fliteQueue(limits, options);
  const engines = [
    fliteEngine(queue),
    ...(espeak ? [await openEspeakEngine(espeak, limits)] : []),
    ...(sources.length > 0 ? await openSources(sources, limits) : []),
  ];
  const speaking = new Map(engines.flatMap((engine) => engine.speakers.map(({ no }) => [no, engine])));
  return {
    get speakers() {
      return engines.flatMap(({ speakers }) => speakers);
    },
    get workers() {
      return queue.ready;
    },
    get queued() {
      return engines.reduce((sum, engine) => sum + engine.queued, 0);
    },
    async speak(utterance, signal) {
      const engine = speaking.get(utterance.speaker.no);
      if (!engine) throw new RangeError(`there is no speaker ${utterance.speaker.no}`);
      return engine.speak(utterance, signal);
    },
    prepare: () => queue.prepare(),
    async close() {
      await Promise.all(engines.map((engine) => engine.close()));
    },
  };
}

/** The limits of a run, which asks for no more at once than it may. */
const UNLIMITED = { maxQueue: Number.POSITIVE_INFINITY };

/** The built-in voices, with a thread that starts at once. */
export function openBuiltIn(runtime: string): Engine {
  const queue = fliteQueue(limitsFrom(UNLIMITED), { runtime });
  // The first task reports the error.
  queue.prepareOne().catch(() => {});
  return fliteEngine(queue);
}

export async function openEspeakEngine(espeak: Espeak, limits = limitsFrom(UNLIMITED)): Promise<Engine> {
  const { openEspeak } = await import('../engines/espeak.ts');
  return openEspeak(espeak, limits);
}

export async function openSource(source: NumberedSource): Promise<Engine> {
  const [engine] = await openSources([source], UNLIMITED);
  if (!engine) throw new Error('there is one engine for each source');
  return engine;
}

async function openSources(
  sources: readonly NumberedSource[],
  { maxQueue }: Pick<QueueLimits, 'maxQueue'>,
): Promise<Engine[]> {
  const { openExternal } = await import('../engines/external.ts');
  return openExternal(sources, maxQueue);
}

function limitsFrom({ workers, maxQueue }: Partial<QueueLimits>): QueueLimits {
  return { workers: workers ?? availableParallelism(), maxQueue: maxQueue ?? DEFAULT_MAX_QUEUE };
}

function fliteQueue(
  { workers, maxQueue }: QueueLimits,
  { worker, runtime }: Pick<EngineSetOptions, 'worker' | 'runtime'>,
): FairQueue<FliteTask> {
  const program = worker ?? new URL('worker.cjs', import.meta.url);
  let assets: Promise<Assets> | undefined;
  const load = () => {
    assets ??= loadAssets(runtime);
    return assets;
  };
  const threads = Array.from({ length: workers + SPARE }, () => new FliteThread(program, load));
  return new FairQueue<FliteTask>(threads, maxQueue, SPARE);
}

function fliteEngine(queue: FairQueue<FliteTask>): Engine {
  return queuedEngine(FLITE_SPEAKERS, queue, ({ speaker, style }) => ({
    normalise,
    task: (text, finish) => ({ use: fliteUse(speaker, style, text), finish }),
    complaint: 'The built-in voice speaks English only, and there is nothing in this text that it could read',
  }));
}
