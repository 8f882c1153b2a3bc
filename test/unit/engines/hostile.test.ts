import { describe, expect, it } from 'vitest';
import { buildWorker, digest, samplesOf, speak, startEngine } from '../../support/engine.ts';

const engine = await startEngine({ worker: await buildWorker(), workers: 1 });

/** What text can be, with the least seconds that are spoken. */
const HOSTILE: readonly (readonly [name: string, text: string, seconds: number])[] = [
  ['emoji among words', 'I ❤️ you 👨‍👩‍👧 so 🇩🇪 much', 0.5],
  ['control characters', 'a\u0000b \u0007bell \u001b[31mred\u001b[0m \u200bzero\u200d width\ufeff', 0.5],
  ['lone surrogates', 'before \ud83d after \udc00', 0.5],
  ['a word of 5,000 letters', 'a'.repeat(5_000), 10],
  ['what looks like an option', '-o evil.wav', 0.5],
  ['formats', '%s %n %d {0} $x $(x) `x`', 0.1],
];

/** Texts of which 400 characters are spoken for more than a minute. */
const SLOW: readonly (readonly [name: string, text: string])[] = [
  ['numbers', '1234567890123 '.repeat(40)],
  ['hexadecimal', 'd41d8cd98f00b204e9800998ecf8427e'.repeat(15)],
];

describe('a hostile text', () => {
  it('is survived, and the next sentence is as always', async () => {
    const normal = async () => digest(await samplesOf(engine, { text: 'This is a normal sentence.' }));
    const before = await normal();
    for (const [name, text, enough] of HOSTILE) {
      let seconds = 0;
      for await (const { length } of speak(engine, { text })) {
        seconds += length / 22_050;
        if (seconds > enough) break;
      }
      expect(seconds, name).toBeGreaterThan(enough);
    }
    expect(await normal()).toBe(before);
  });

  it('that is long when it is read out is spoken in parts that keep no worker for long', async () => {
    for (const [name, text] of SLOW) {
      const seconds: number[] = [];
      for await (const { length } of speak(engine, { text })) {
        seconds.push(length / 22_050);
        if (seconds.length === 2) break;
      }
      expect(seconds, name).toHaveLength(2);
      expect(Math.max(...seconds), name).toBeLessThan(25);
    }
  });
});
