import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/engines/engine.ts';
import type { Exchange } from '../../../src/kit/http/route.ts';
import { HttpError } from '../../../src/kit/http/route.ts';
import { Callbacks } from '../../../src/serve/callbacks.ts';
import { Metrics } from '../../../src/serve/metrics.ts';
import { openAiApi } from '../../../src/serve/openai.ts';
import { storeSound } from '../../../src/serve/sound.ts';
import {
  errorOf,
  ignoredHeader,
  namesOf,
  type ServiceContext,
  speak,
  voiceNamed,
} from '../../../src/serve/speak.ts';
import { speakerThat } from '../../support/speaker.ts';
import { ToneEngine } from '../../support/tone-service.ts';

describe('X-Instructions-Ignored', () => {
  it('carries any text as a header can, so that it can be read back', () => {
    const phrases = ['with a smile', 'à la Ümit, 100 %\r\nX-Evil: 1', '慢慢地'];
    const header = ignoredHeader(phrases);
    expect(header).toMatch(/^[\x21-\x7e]+(, [\x21-\x7e]+)*$/);
    expect(header.split(', ').map(decodeURIComponent)).toEqual(phrases);
  });

  it('bears halves of surrogate pairs, and cuts a pair in half without failing', () => {
    expect(decodeURIComponent(ignoredHeader(['a\ud800b']))).toBe('a\ufffdb');
    expect(decodeURIComponent(ignoredHeader([`${'x'.repeat(99)}😀`]))).toBe(`${'x'.repeat(99)}\ufffd`);
  });

  it('stays short, however much was not understood', () => {
    const header = ignoredHeader(Array.from({ length: 10_000 }, () => '慢'.repeat(50)));
    expect(header.length).toBeLessThanOrEqual(2000);
    expect(header.length).toBeGreaterThan(1000);
  });
});

describe('namesOf', () => {
  it('finds each voice again by its name, whichever others have the same, and the first of an engine', () => {
    const engine = (name: string) => speakerThat(async () => undefined, { kind: 'engine', name }).voice;
    const own = speakerThat(async () => undefined, { kind: 'built-in' }).voice;
    const all = [
      { ...own, name: 'slt', no: 2 },
      { ...own, name: 'slt', no: 101 },
      { ...engine('first'), name: 'alloy', no: 900 },
      { ...engine('second'), name: 'alloy', no: 901 },
      { ...engine('second'), name: 'Alloy', no: 902 },
      { ...engine('first'), name: 'SLT', no: 903 },
    ];
    const voices = Object.assign(new ToneEngine(), { all });
    voices.numbered = (no) => all.find((voice) => voice.no === no);
    const names = namesOf(voices);
    expect(names.map(([name]) => name)).toEqual(['alloy', 'second:alloy', '902', 'SLT', '2', '101']);
    for (const [name, { no }] of names) expect(voiceNamed(name, voices)?.no).toBe(no);
    expect(voiceNamed('Second', voices)?.no).toBe(901);
    expect(voiceNamed('nobody', voices)).toBeUndefined();
  });
});

describe('what a client may know of an error', () => {
  const known = (error: unknown, waiting: object = {}) =>
    errorOf(error, 'id', { voices: Object.assign(new ToneEngine(), waiting), log: () => {} });

  it.each([
    [0, 2, 3],
    [64, 2, 4],
    [64, 1, 7],
    [1000, 8, 13],
    [5, 0, 3],
    [1e6, 4, 60],
  ])('with %i waiting for %i workers, is to come again in %i s', (queued, workers, retryAfter) => {
    const told = known(new HttpError(503, 'busy', 'x', { retryAfter: 3 }), { queued, workers });
    expect(told).toMatchObject({ status: 503, code: 'busy', retryAfter });
  });

  it('of a busy engine is its own status and time', () => {
    const told = known(new EngineError('busy', 'its words', { status: 429, retryAfter: 7 }));
    expect(told).toMatchObject({ status: 429, code: 'busy', retryAfter: 7 });
  });
});

describe('an exchange that is over', () => {
  const log = () => {};
  const limits = { callbacks: 1, callbackTry: 1, callbackBackoff: 1 };
  const origins = new Set<string>();
  const voices = new ToneEngine();
  const context: ServiceContext = {
    ...{ voices, log, reading: undefined, maxText: 1e6, metrics: new Metrics(), basePath: '' },
    programs: { env: {}, platform: 'linux' },
    hide: (text) => text,
    callbacks: new Callbacks({ apiKey: null, origins, limits, log, errorBody: () => ({}) }),
    openReference: () => Promise.reject(new Error('no words are asked for')),
    speaking: new Set(),
  };
  const exchangeWith = <Body>(body: Body, signal: AbortSignal): Exchange<Body> => ({
    ...{ id: 'id', begun: 0, target: '/', headers: {}, details: {}, body, signal },
  });

  it('keeps nothing of a sound that was stored for its answer', async () => {
    const [voice] = voices.all;
    if (!voice) throw new Error('there is one');
    const piece = new Uint8Array(3_000_000);
    for (let count = 0; count < 25; count += 1) {
      const over = new AbortController();
      const fields = { sampleRate: undefined, instructions: undefined };
      const request = { text: 'x'.repeat(15_000), voice, fields };
      await speak(request, exchangeWith(undefined, over.signal), context);
      expect(context.speaking.size).toBe(1);
      over.abort();
      await Promise.resolve();
      expect(context.speaking.size).toBe(0);
    }
    async function* sound() {
      yield piece;
    }
    // There is room in memory for as many as 22.
    const stored = await storeSound(sound());
    for await (const first of stored.read()) expect(first).toBe(piece);
    stored.dispose();
  });

  it('has given back its encoder, of which there are 32', async () => {
    const body = { input: 'one', response_format: 'mp3' };
    const [speech] = openAiApi.routes;
    const ask = async (over: AbortController) => speech?.handle(exchangeWith(body, over.signal), context);
    const open = Array.from({ length: 32 }, () => new AbortController());
    await Promise.all(open.map(ask));
    await expect(ask(new AbortController())).rejects.toMatchObject({ status: 503, code: 'busy' });
    open[7]?.abort();
    await Promise.resolve();
    expect(await ask(new AbortController())).toMatchObject({ headers: { 'Content-Type': 'audio/mpeg' } });
  });
});
