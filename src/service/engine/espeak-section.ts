import { compileResampler } from './assets.ts';
import { type EspeakJob, EspeakProcess } from './espeak.ts';
import type { Espeak } from './espeak-voices.ts';
import { FairQueue, type QueueLimits } from './fair-queue.ts';
import { loadResampler } from './resampler.ts';
import { createSection, type Section } from './section.ts';

/** The voices of a system `espeak-ng`, which speaks more than a hundred languages. */
export async function openEspeak({ program, voices }: Espeak, limits: QueueLimits): Promise<Section> {
  const resampler = await loadResampler(await compileResampler());
  const lanes = Array.from({ length: limits.workers }, () => new EspeakProcess(program, resampler));
  const files = new Map(voices.map(({ speaker, file }) => [speaker.no, file]));
  const speakers = voices.map(({ speaker }) => speaker);
  return createSection(speakers, new FairQueue<EspeakJob>(lanes, limits.maxQueue), ({ speaker, style }) => ({
    normalise: readable,
    job: (text, finish) => ({ text, voice: files.get(speaker.no) ?? '', style, finish }),
    complaint: 'There is nothing in this text that could be read',
  }));
}

/**
 * Control characters are nothing to read, and a NUL would end the text. What stands in `[[ ]]` would be taken for names
 * of phonemes, which no option turns off.
 */
function readable(sentence: string): string {
  return sentence
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\[(?=\[)/gu, '[ ')
    .trim();
}
