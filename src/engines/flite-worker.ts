/** The program of the worker threads: gets the compiled Flite first, then one task after another. */
import { parentPort } from 'node:worker_threads';
import { openSpeaker, READY } from './flite.ts';
import type { FliteProgram } from './flite-program.ts';
import type { FliteTask } from './flite-voices.ts';

parentPort?.once('message', async (program: FliteProgram) => {
  const speak = await openSpeaker(program);
  parentPort?.on('message', (task: FliteTask) => {
    const answer = speak(task);
    const { buffer } = 'speech' in answer ? answer.speech : answer;
    parentPort?.postMessage(answer, [buffer as ArrayBuffer]);
  });
  parentPort?.postMessage(READY);
});
