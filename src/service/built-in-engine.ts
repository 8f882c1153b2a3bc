import { availableParallelism } from 'node:os';
import { loadAssets } from './engine/assets.ts';
import { DEFAULT_MAX_QUEUE, type Engine } from './engine/contract.ts';
import type { Espeak } from './engine/espeak/voices.ts';
import type { NumberedSource } from './engine/external/voice-source.ts';
import { FairQueue, type QueueLimits } from './engine/fair-queue.ts';
import { FliteThread } from './engine/flite/thread.ts';
import { FLITE_SPEAKERS, type FliteJob, fliteUse } from './engine/flite/voices.ts';
import { normalise } from './engine/normalise.ts';
import { createSection, type Section } from './engine/section.ts';

export interface EngineOptions extends Partial<QueueLimits> {
  /** By default beside the built program. */
  readonly worker?: URL | undefined;
  readonly espeak?: Espeak | undefined;
  readonly engines?: readonly NumberedSource[] | undefined;
}

export interface BuiltInEngine extends Engine {
  prepare(): Promise<void>;
}

/** A hang-up ends a thread; the spare one takes its place. */
const SPARE = 1;

export async function createEngine(options: EngineOptions = {}): Promise<BuiltInEngine> {
  const limits = {
    workers: options.workers ?? availableParallelism(),
    maxQueue: options.maxQueue ?? DEFAULT_MAX_QUEUE,
  };
  const queue = openFlite(limits, options.worker ?? new URL('worker.cjs', import.meta.url));
  const external = await externalSections(options, limits);
  const sections = [fliteSection(queue), ...(await espeakSections(options, limits)), ...external];
  const speaking = new Map(sections.flatMap((section) => section.speakers.map(({ no }) => [no, section])));
  return {
    speakers: sections.flatMap(({ speakers }) => speakers),
    get workers() {
      return queue.ready;
    },
    get queued() {
      return sections.reduce((sum, section) => sum + section.queued, 0);
    },
    speak(utterance, signal) {
      const section = speaking.get(utterance.speaker.no);
      if (!section) throw new RangeError(`there is no speaker ${utterance.speaker.no}`);
      return section.speak(utterance, signal);
    },
    prepare: () => queue.prepare(),
    async close() {
      await Promise.all(sections.map((section) => section.close()));
    },
  };
}

function openFlite({ workers, maxQueue }: QueueLimits, worker: URL): FairQueue<FliteJob> {
  const assets = loadAssets();
  const threads = Array.from({ length: workers + SPARE }, () => new FliteThread(worker, assets));
  threads[0]?.prepare().catch(() => {}); // the first job reports the error
  return new FairQueue<FliteJob>(threads, maxQueue, SPARE);
}

function fliteSection(queue: FairQueue<FliteJob>): Section {
  return createSection(FLITE_SPEAKERS, queue, ({ speaker, style }) => ({
    normalise,
    job: (text, finish) => ({ use: fliteUse(speaker, style, text), finish }),
    complaint:
      'The built-in voice speaks English only, and there is nothing in this text that it could read; voices of espeak-ng speak other languages',
  }));
}

async function externalSections(
  { engines = [] }: EngineOptions,
  { maxQueue }: QueueLimits,
): Promise<Section[]> {
  if (engines.length === 0) return [];
  const { openSections } = await import('./engine/external/section.ts');
  return openSections(engines, maxQueue);
}

async function espeakSections({ espeak }: EngineOptions, limits: QueueLimits): Promise<Section[]> {
  if (espeak === undefined) return [];
  const { openEspeak } = await import('./engine/espeak/process.ts');
  return [await openEspeak(espeak, limits)];
}
