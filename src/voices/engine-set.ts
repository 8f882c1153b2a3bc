/** The engines of this program itself. */
import { availableParallelism } from 'node:os';
import type { Engine } from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { type Assets, FLITE_SPEAKERS, type FliteTask, loadAssets } from '../engines/flite.ts';
import { FliteThread, fliteRecipe } from '../engines/flite-thread.ts';
import { FairQueue, queuedEngine } from '../engines/lanes.ts';

/** A hang-up ends a thread; the spare one takes its place. */
const SPARE = 1;

/** The program of the threads, as it was built. */
export const FLITE_PROGRAM = new URL('worker.cjs', import.meta.url);

/**
 * The built-in voices. One thread starts at once.
 * @param runtime the version of Node
 * @param workers threads of a service, which all start before it begins; by default one for each core, as they are needed
 * @param program that of the threads
 */
export async function openBuiltIn(
  runtime: string,
  workers?: number,
  program = FLITE_PROGRAM,
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
  return queuedEngine(FLITE_SPEAKERS, queue, fliteRecipe);
}

export async function openEspeakEngine(espeak: Espeak, workers = availableParallelism()): Promise<Engine> {
  const { openEspeak } = await import('../engines/espeak.ts');
  return openEspeak(espeak, workers);
}
