import { parentPort } from 'node:worker_threads';
import { loadResampler } from '../sound/convert.ts';
import { finish } from './finish.ts';
import { type Assets, Flite, type FliteTask, READY } from './flite.ts';

parentPort?.once('message', async ({ flite: module, resampler: compiled }: Assets) => {
  const flite = new Flite(module);
  const resampler = await loadResampler(compiled);
  parentPort?.on('message', ({ use, finish: how }: FliteTask) => {
    const { samples, sampleRate } = flite.speak(use.request);
    const speech = finish({ samples, sampleRate: Math.round(sampleRate * use.warp) }, how, resampler);
    parentPort?.postMessage(speech, [speech.buffer as ArrayBuffer]);
  });
  parentPort?.postMessage(READY);
});
