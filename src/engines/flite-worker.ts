import { parentPort } from 'node:worker_threads';
import { loadResampler } from '../sound/convert.ts';
import type { Samples } from '../sound/samples.ts';
import { delayOf, finish } from './finish.ts';
import { type Assets, Flite, type FliteTask, READY, type TimedSpeech } from './flite.ts';
import type { SpokenWord } from './flite-words.ts';

parentPort?.once('message', async ({ flite: program, resampler: compiled }: Assets) => {
  const flite = new Flite(program);
  const resampler = await loadResampler(compiled);
  parentPort?.on('message', ({ warp, finish: how, isTimed, ...request }: FliteTask) => {
    const { samples, words, ...sound } = {
      words: [],
      ...flite[isTimed ? 'speakTimed' : 'speak'](request),
    };
    const spoken = { samples, sampleRate: Math.round(sound.sampleRate * warp) };
    const speech = finish(spoken, how, resampler);
    const answer: TimedSpeech | Int16Array = isTimed ? { speech, words: later(words, spoken, warp) } : speech;
    parentPort?.postMessage(answer, [speech.buffer as ArrayBuffer]);
  });
  parentPort?.postMessage(READY);
});

function later(words: readonly SpokenWord[], spoken: Samples, warp: number): readonly SpokenWord[] {
  const delay = delayOf(spoken);
  return words.map(({ text, start, end }) => ({
    text,
    start: start / warp + delay,
    end: end / warp + delay,
  }));
}
