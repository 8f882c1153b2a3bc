import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EngineError, type VoiceSource } from '../../../src/engines/engine.ts';
import { ConcurrencyLimiter } from '../../../src/kit/limit.ts';
import type { ClientEvent } from '../../../src/kit/retry.ts';
import { openEngine } from '../../../src/voices/local.ts';
import type { ClientOptions } from '../../../src/voices/voice.ts';
import { collect } from '../sound/body.ts';

const RATE = 22_050;
const { signal } = new AbortController();

type Speak = (text: string, until: AbortSignal, call: number) => AsyncGenerator<Int16Array>;

/** The voices of an engine that speaks like this. */
async function voicesOf(speak: Speak, options: Partial<ClientOptions> = {}) {
  const events: ClientEvent[] = [];
  let calls = 0;
  const source: VoiceSource = {
    name: 'mine',
    identityOf: () => 'mine',
    voices: [{ name: 'anna', language: 'und', sampleRate: RATE }],
    takesAnyVoice: false,
    maxChars: 300,
    concurrency: 1,
    async speak(text, _, until) {
      calls += 1;
      return { sampleRate: RATE, samples: speak(text, until, calls) };
    },
    async [Symbol.asyncDispose]() {},
  };
  const voices = new Map(source.voices.map((voice) => [1001, voice]));
  const client = await openEngine(
    { source: { source, voices } },
    {
      ...{ atOnce: 4, limiter: new ConcurrencyLimiter(4), retries: 0, timeoutMs: 60_000, runtime: '' },
      ...{ checksum: undefined, onEvent: (event: ClientEvent) => events.push(event) },
      ...options,
    },
  );
  onTestFinished(() => client.close());
  const ask = (text: string, more = {}, index = 0) =>
    client.speak({ text, index }, { speaker: 1001, sampleRate: RATE, ...more }, signal);
  return { ask, events, calls: () => calls };
}

/** This number of seconds, half a second a piece. */
function speaking(seconds: number): Speak {
  return async function* speak() {
    for (let left = seconds * 2; left > 0; left -= 1) yield new Int16Array(RATE / 2).fill(1000 + left);
  };
}

/** Twenty seconds may be spoken of a text of this length. */
const TEXT = 'We saw the moon rise over the mountains. '.repeat(5);

describe('sound of an engine of this program', () => {
  it('that breaks off goes on at the same frame', async () => {
    const { ask, events } = await voicesOf(
      async function* speak(...asked) {
        const [, , call] = asked;
        let pieces = 0;
        for await (const piece of speaking(14)(...asked)) {
          if (call === 1 && pieces === 20) throw new EngineError('failed', 'a pipe broke');
          pieces += 1;
          yield piece;
        }
      },
      { retries: 1 },
    );
    const { ask: askWhole } = await voicesOf(speaking(14));
    const [broken, whole] = [await ask(TEXT, { stream: true }), await askWhole(TEXT)];
    const heard = broken && (await collect(broken.pcm));
    expect(events.map(({ type }) => type)).toEqual(['request', 'answer', 'retry', 'request', 'answer']);
    expect(whole && heard?.equals(await collect(whole.pcm))).toBe(true);
  });
});

describe('an engine', () => {
  it('is not late with one text while it speaks another', async () => {
    const slowly: Speak = async function* slowly() {
      for (let piece = 0; piece < 6; piece += 1) {
        await sleep(150);
        yield new Int16Array(RATE / 2).fill(1);
      }
    };
    const { ask } = await voicesOf(slowly, { timeoutMs: 600 });
    const both = await Promise.all([ask('Hello.', {}, 0), ask('And you.', {}, 1)]);
    expect(both.map((speech) => speech?.bytes)).toEqual([3 * RATE * 2, 3 * RATE * 2]);
  });
});
