import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { buildWorker, samplesOf, speak, startEngine } from '../../support/engine.ts';

const engine = await startEngine({ worker: await buildWorker(), workers: 2 });
const LONG = 'We saw the moon rise over the mountains while the wolves howled. '.repeat(500);

describe('the engine under load', () => {
  it('speaks a short text while long ones go on', async () => {
    const leaving = new AbortController();
    const long = Array.from({ length: 3 }, () => samplesOf(engine, { text: LONG, signal: leaving.signal }));
    for (const speech of long) speech.catch(() => {});
    const short = await samplesOf(engine, { text: 'Hello.' });
    expect(short.length).toBeGreaterThan(1000);
    leaving.abort(new Error('enough'));
    await expect(Promise.all(long)).rejects.toThrow('enough');
  });

  it('has its workers back after readers left in the middle', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const leaving = new AbortController();
      const spoken = samplesOf(engine, { text: LONG, signal: leaving.signal });
      spoken.catch(() => {});
      await sleep(7 * turn);
      leaving.abort(new Error('gone'));
      await expect(spoken).rejects.toThrow('gone');
    }
    for await (const _ of speak(engine, { text: LONG })) break;
    expect((await samplesOf(engine, { text: 'Hello.' })).length).toBeGreaterThan(1000);
  });
});
