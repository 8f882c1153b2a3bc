import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { afterAll } from 'vitest';
import type { Engine, EngineUtterance, EngineVoice, Style } from '../../src/engines/engine.ts';
import { type Espeak, openEspeak } from '../../src/engines/espeak.ts';
import { openBuiltIn } from '../../src/engines/flite-thread.ts';
import { FLITE_VOICES } from '../../src/engines/flite-voices.ts';
import { emptyFolder } from './folder.ts';

export const PLAIN: Style = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

/**
 * Builds the worker from source, since the program of a thread must be JavaScript. It is put inside the repository, so that
 * packages are found, and removed after the tests.
 */
export async function buildWorker(): Promise<URL> {
  const dir = emptyFolder(afterAll, resolve('.cache'));
  await build({
    input: { worker: 'src/engines/flite-worker.ts' },
    platform: 'node',
    output: { dir, format: 'cjs', entryFileNames: '[name].cjs' },
  });
  return pathToFileURL(join(dir, 'worker.cjs'));
}

interface Speaking extends Pick<Engine, 'speak'> {
  readonly speakers: readonly EngineVoice[];
}

interface Engines {
  readonly worker: URL;
  readonly workers?: number;
  readonly espeak?: Espeak | undefined;
}

/** Opens the built-in voices and those of espeak-ng as one engine for the tests of a file, and closes it after them. */
export async function startEngine({ worker, workers = 2, espeak }: Engines): Promise<Speaking> {
  const builtIn = await openBuiltIn('', workers, worker);
  const robot = espeak && (await openEspeak(espeak, workers));
  afterAll(() => Promise.all([builtIn.close(), robot?.close()]));
  return {
    speakers: [...FLITE_VOICES, ...(espeak?.voices ?? [])],
    speak: (utterance, signal) => (utterance.no > 100 && robot ? robot : builtIn).speak(utterance, signal),
  };
}

interface Request extends Partial<Omit<EngineUtterance, 'no'>> {
  readonly text: string;
  readonly speaker?: number;
  readonly signal?: AbortSignal;
}

export async function* speak(engine: Speaking, request: Request): AsyncGenerator<Int16Array> {
  const { text, speaker: no = 1, sampleRate = 22_050, style = PLAIN, signal } = request;
  const until = signal ?? new AbortController().signal;
  const { samples } = await engine.speak({ text, no, sampleRate, style }, until);
  yield* samples;
}

/** @returns all samples of an utterance */
export async function samplesOf(engine: Speaking, request: Request): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  for await (const part of speak(engine, request)) parts.push(part);
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    whole.set(part, end);
    end += part.length;
  }
  return whole;
}

/** A hash to compare samples by: comparing a million of them one by one takes seconds. */
export function digest(samples: Int16Array): string {
  return createHash('sha256').update(samples).digest('hex');
}
