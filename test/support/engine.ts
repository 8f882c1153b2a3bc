import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { afterAll } from 'vitest';
import type { Engine, Style, Utterance } from '../../src/engines/engine.ts';
import type { Espeak } from '../../src/engines/espeak.ts';
import { openBuiltIn, openEspeakEngine } from '../../src/voices/engine-set.ts';
import { emptyFolder } from './folder.ts';

export const PLAIN: Style = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

/** Builds the worker from source, as the program of a thread has to be JavaScript; it is removed after the tests. */
export async function buildWorker(): Promise<URL> {
  const dir = emptyFolder(afterAll);
  await build({
    input: { worker: 'src/engines/flite-worker.ts' },
    platform: 'node',
    output: { dir, format: 'cjs', entryFileNames: '[name].cjs' },
  });
  return pathToFileURL(join(dir, 'worker.cjs'));
}

type Speaking = Pick<Engine, 'speakers' | 'speak'>;

interface Engines {
  readonly worker: URL;
  readonly workers?: number;
  readonly espeak?: Espeak | undefined;
}

/** The built-in voices, and those of espeak-ng, as one engine for the tests of one file, closed after them. */
export async function startEngine({ worker, workers = 2, espeak }: Engines): Promise<Speaking> {
  const builtIn = await openBuiltIn('', workers, worker);
  const robot = espeak && (await openEspeakEngine(espeak, workers));
  afterAll(() => Promise.all([builtIn.close(), robot?.close()]));
  return {
    speakers: [...builtIn.speakers, ...(robot?.speakers ?? [])],
    speak: (utterance, signal) =>
      (utterance.speaker.no > 100 && robot ? robot : builtIn).speak(utterance, signal),
  };
}

interface Request extends Partial<Omit<Utterance, 'speaker'>> {
  readonly text: string;
  readonly speaker?: number;
  readonly signal?: AbortSignal;
}

export async function* speak(engine: Speaking, request: Request): AsyncGenerator<Int16Array> {
  const { text, speaker: no = 1, sampleRate = 22_050, style = PLAIN, signal } = request;
  const speaker = engine.speakers.find((candidate) => candidate.no === no);
  if (!speaker) throw new Error(`no speaker ${no}`);
  const until = signal ?? new AbortController().signal;
  const { samples } = await engine.speak({ text, speaker, sampleRate, style }, until);
  yield* samples;
}

/** All samples of an utterance. */
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

/** Tells whether samples are the same: a comparison of a million of them one by one takes seconds. */
export function digest(samples: Int16Array): string {
  return createHash('sha256').update(samples).digest('hex');
}
