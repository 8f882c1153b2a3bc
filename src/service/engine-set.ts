import { availableParallelism } from 'node:os';
import { type Assets, loadAssets } from '../engine/assets.ts';
import { DEFAULT_MAX_QUEUE, type Engine, type EngineSet } from '../engine/contract.ts';
import type { Espeak } from '../engine/espeak/voices.ts';
import { FairQueue, type QueueLimits } from '../engine/fair-queue.ts';
import { FliteThread } from '../engine/flite/thread.ts';
import { FLITE_SPEAKERS, type FliteTask, fliteUse } from '../engine/flite/voices.ts';
import { normalise } from '../engine/normalise.ts';
import { queuedEngine } from '../engine/queued-engine.ts';
import type { NumberedSource } from '../engine/source.ts';

export interface EngineSetOptions extends Partial<QueueLimits> {
  /** The program of the threads. By default it lies next to the built program. */
  readonly worker?: URL | undefined;
  readonly espeak?: Espeak | undefined;
  readonly sources?: readonly NumberedSource[] | undefined;
}

export interface PreparedEngines extends EngineSet {
  prepare(): Promise<void>;
}

/** A hang-up ends a thread; the spare one takes its place. */
const SPARE = 1;

export async function openEngines(options: EngineSetOptions = {}): Promise<PreparedEngines> {
  const limits = {
    workers: options.workers ?? availableParallelism(),
    maxQueue: options.maxQueue ?? DEFAULT_MAX_QUEUE,
  };
  const queue = openFlite(limits, options.worker ?? new URL('worker.cjs', import.meta.url));
  const { espeak, sources = [] } = options;
  // The first task reports the error.
  if (!espeak && sources.length === 0) queue.prepareOne().catch(() => {});
  const external = await externalEngines(options, limits);
  const engines = [fliteEngine(queue), ...(await espeakEngines(options, limits)), ...external];
  const speaking = new Map(engines.flatMap((engine) => engine.speakers.map(({ no }) => [no, engine])));
  return {
    speakers: engines.flatMap(({ speakers }) => speakers),
    get workers() {
      return queue.ready;
    },
    get queued() {
      return engines.reduce((sum, engine) => sum + engine.queued, 0);
    },
    speak(utterance, signal) {
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

function openFlite({ workers, maxQueue }: QueueLimits, worker: URL): FairQueue<FliteTask> {
  let assets: Promise<Assets> | undefined;
  const load = () => {
    assets ??= loadAssets();
    return assets;
  };
  const threads = Array.from({ length: workers + SPARE }, () => new FliteThread(worker, load));
  return new FairQueue<FliteTask>(threads, maxQueue, SPARE);
}

function fliteEngine(queue: FairQueue<FliteTask>): Engine {
  return queuedEngine(FLITE_SPEAKERS, queue, ({ speaker, style }) => ({
    normalise,
    task: (text, finish) => ({ use: fliteUse(speaker, style, text), finish }),
    complaint:
      'The built-in voice speaks English only, and there is nothing in this text that it could read; voices of espeak-ng speak other languages',
  }));
}

async function externalEngines(
  { sources = [] }: EngineSetOptions,
  { maxQueue }: QueueLimits,
): Promise<Engine[]> {
  if (sources.length === 0) return [];
  const { openExternal } = await import('../engine/external/engine.ts');
  return openExternal(sources, maxQueue);
}

async function espeakEngines({ espeak }: EngineSetOptions, limits: QueueLimits): Promise<Engine[]> {
  if (espeak === undefined) return [];
  const { openEspeak } = await import('../engine/espeak/process.ts');
  return [await openEspeak(espeak, limits)];
}
