/** The engines of this program itself. */
import { availableParallelism } from 'node:os';
import type { Engine } from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { type Assets, FLITE_SPEAKERS, type FliteTask, fliteUse, loadAssets } from '../engines/flite.ts';
import { FliteThread } from '../engines/flite-thread.ts';
import { FairQueue, queuedEngine } from '../engines/lanes.ts';
import { normalise } from '../engines/normalise.ts';

/** A hang-up ends a thread; the spare one takes its place. */
const SPARE = 1;

/**
 * The built-in voices. One thread starts at once.
 * @param runtime the version of Node
 * @param workers threads of a service, which all start before it begins; by default one for each core, as they are needed
 * @param program that of the threads; the built one lies next to this one
 */
export async function openBuiltIn(
  runtime: string,
  workers?: number,
  program = new URL('worker.cjs', import.meta.url),
): Promise<Engine> {
  let assets: Promise<Assets> | undefined;
  const load = () => {
    assets ??= loadAssets(runtime);
    return assets;
  };
  const count = (workers ?? availableParallelism()) + SPARE;
  const threads = Array.from({ length: count }, () => new FliteThread(program, load));
  const queue = new FairQueue<FliteTask>(threads, SPARE);
  if (workers !== undefined) await queue.prepare();
  // The first task reports the error.
  else queue.prepareOne().catch(() => {});
  return queuedEngine(FLITE_SPEAKERS, queue, ({ speaker, style }) => ({
    normalise,
    task: (text, finish) => ({ use: fliteUse(speaker, style, text), finish }),
    complaint: 'The built-in voice speaks English only, and there is nothing in this text that it could read',
  }));
}

export async function openEspeakEngine(espeak: Espeak, workers = availableParallelism()): Promise<Engine> {
  const { openEspeak } = await import('../engines/espeak.ts');
  return openEspeak(espeak, workers);
}
