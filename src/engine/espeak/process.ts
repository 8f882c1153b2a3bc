import { buffer } from 'node:stream/consumers';
import { singleItem } from '../../async.ts';
import { compileResampler, loadResampler, type Resampler } from '../../audio/resampler.ts';
import type { Samples } from '../../audio/samples.ts';
import { readWav } from '../../audio/wav-reader.ts';
import { outputOf } from '../../files/program-output.ts';
import { type Engine, EngineError, type Style } from '../contract.ts';
import { FairQueue, type Lane, type QueueLimits } from '../fair-queue.ts';
import { type Finish, finish } from '../finish.ts';
import { queuedEngine } from '../queued-engine.ts';
import { ESPEAK_RATE, type Espeak } from './voices.ts';

interface EspeakTask {
  readonly text: string;
  readonly voice: string;
  readonly style: Style;
  readonly finish: Finish;
}

/** Words a minute. */
const SPEED = { normal: 175, least: 80, most: 450 };

/** espeak-ng has its own scale for the pitch. */
const PITCH = { normal: 50, least: 0, most: 99 };

/** One process for each passage. The text goes to stdin, never into the arguments. */
class EspeakProcess implements Lane<EspeakTask> {
  readonly ready = true;
  readonly #espeak: Pick<Espeak, 'program' | 'env'>;
  readonly #resampler: (from: number, to: number) => Resampler;

  constructor(espeak: Pick<Espeak, 'program' | 'env'>, resampler: (from: number, to: number) => Resampler) {
    this.#espeak = espeak;
    this.#resampler = resampler;
  }

  async prepare(): Promise<void> {}

  async run(task: EspeakTask, signal: AbortSignal): Promise<Int16Array> {
    try {
      const speech = await this.#speak(task, signal);
      return isSilent(speech) ? speech.samples.subarray(0, 0) : finish(speech, task.finish, this.#resampler);
    } catch (error) {
      signal.throwIfAborted();
      throw new EngineError('broken', `espeak-ng failed: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {}

  async #speak({ text: words, voice, style }: EspeakTask, signal: AbortSignal): Promise<Samples> {
    const options = [
      '-v',
      voice,
      '-s',
      scaled(SPEED, style.rate),
      '-p',
      scaled(PITCH, style.pitch),
      '-b',
      '1',
      '-z',
    ];
    const { program, env } = this.#espeak;
    const wav = await outputOf(program, [...options, '--stdin', '--stdout'], { env, signal, input: words });
    return await samplesIn(wav);
  }
}

function scaled({ normal, least, most }: typeof SPEED, factor: number): string {
  return String(Math.max(least, Math.min(most, Math.round(normal * factor))));
}

/** espeak-ng makes digital silence of dots and dashes. */
function isSilent({ samples }: Samples): boolean {
  return samples.every((sample) => sample === 0);
}

/** espeak-ng writes no byte where there is no speech. */
async function samplesIn(wav: Uint8Array): Promise<Samples> {
  if (wav.length === 0) return { samples: new Int16Array(), sampleRate: ESPEAK_RATE };
  const { format, pcm } = await readWav(singleItem(wav));
  const bytes = Uint8Array.from(await buffer(pcm));
  return { samples: new Int16Array(bytes.buffer), sampleRate: format.sampleRate };
}

export async function openEspeak({ program, voices, env }: Espeak, limits: QueueLimits): Promise<Engine> {
  const resampler = await loadResampler(await compileResampler());
  const lanes = Array.from({ length: limits.workers }, () => new EspeakProcess({ program, env }, resampler));
  const files = new Map(voices.map(({ speaker, file }) => [speaker.no, file]));
  const speakers = voices.map(({ speaker }) => speaker);
  return queuedEngine(speakers, new FairQueue<EspeakTask>(lanes, limits.maxQueue), ({ speaker, style }) => ({
    normalise: withoutPhonemes,
    task: (text, finish) => ({ text, voice: files.get(speaker.no) ?? '', style, finish }),
    complaint: 'There is nothing in this text that could be read',
  }));
}

/** espeak-ng reads `[[ ]]` as phonemes, and ends the text at NUL. */
function withoutPhonemes(sentence: string): string {
  return sentence
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\[(?=\[)/gu, '[ ')
    .trim();
}
