import { describe, expect, it } from 'vitest';
import type { Voice } from '../../../src/voices/voice.ts';
import { answer, complete } from '../../support/http-bytes.ts';
import { serveRows, wavOf } from '../../support/row-service.ts';
import { serveSpeech } from '../../support/speech-server.ts';
import { collect } from '../sound/body.ts';
import { plainWav, sound } from '../sound/wav-builder.ts';
import { said, signal, voicesOf } from './voices-of.ts';

const SERVICE = { baseUrl: 'http://127.0.0.1:9/api/', apiKey: 'the-key' };

async function heard(voice: Voice, text: string, index = 0): Promise<Buffer | undefined> {
  const speech = await voice.speak({ text, index }, signal);
  return speech && collect(speech.pcm);
}

describe('the voices of a run', () => {
  it('ask once for what two of them want at once, with one cache for all', async () => {
    const server = await serveRows({ delay: 50 });
    const voices = await voicesOf({ ...SERVICE, baseUrl: server.url });
    const events: string[] = [];
    voices.listen((event) =>
      events.push(event.type === 'cache' ? `${event.index} ${event.found}` : event.type),
    );
    const sounds = await Promise.all(
      [0, 1].map(async (index) => heard(await voices.of({ speaker: said(1) }), 'hello', index)),
    );
    for (const sound of sounds) expect(Buffer.from(wavOf('hello')).subarray(44)).toEqual(sound);
    expect(server.requests).toHaveLength(1);
    expect(events).toEqual(['0 miss', 'request', 'answer', '1 hit']);
  });

  it('take from the settings what a wish leaves open', async () => {
    const voices = await voicesOf({ ...SERVICE, speaker: '7', sampleRate: '8000', stream: true });
    const identity = 'http://127.0.0.1:9/api/tts';
    const voice = await voices.of({ instructions: said('calm'), sampleRate: undefined });
    expect(voice.shape).toEqual({ identity, speaker: 7, sampleRate: 8000, instructions: 'calm' });
    expect(voice).toMatchObject({ kind: 'service', label: '7', atOnce: 4, maxChars: 1000 });
    expect([voice.name, voice.language]).toEqual([undefined, undefined]);
    expect(voice.request('hello')).toBe(
      '{"text":"hello","speaker_no":7,"config":{"use_streaming_response":true,"sample_rate":8000,"instructions":"calm"}}',
    );
  });

  it('hold what a name brings to be weaker than a wish', async () => {
    const anna = { no: 7, sampleRate: 16_000 };
    const voices = await voicesOf(SERVICE, { speakers: { anna } });
    expect((await voices.of({ speaker: said('anna') })).shape.sampleRate).toBe(16_000);
    const wish = { speaker: said('anna'), sampleRate: said(8000) };
    expect((await voices.of(wish)).shape.sampleRate).toBe(8000);
  });

  it.each([
    ['a service', SERVICE, 'service', true],
    ['a service, with the cache off', { ...SERVICE, cache: false }, 'service', false],
    ['a service that sends elsewhere', { ...SERVICE, callbackUrl: 'https://a.example/' }, 'service', false],
    ['this program', {}, 'built-in', false],
  ])('keep the sound where it is paid for: %s', async (_, flags, kind, isKept) => {
    const voices = await voicesOf(flags);
    const voice = await voices.of({ speaker: said(1) });
    expect(voice.kind).toBe(kind);
    expect((await voices.cacheBytesFor(voice)) !== undefined).toBe(isKept);
    expect((await voices.keptFor(voice)) !== undefined).toBe(isKept);
  });

  it('need no key before one of them speaks', async () => {
    const voices = await voicesOf({ baseUrl: SERVICE.baseUrl });
    const voice = await voices.of({ speaker: said(7) });
    await expect(voice.speak({ text: 'hello', index: 0 }, signal)).rejects.toThrow('no key for');
  });

  it('of an engine have its limits, an identity of its own, and are kept', async () => {
    const { url } = await serveSpeech(answer(500, 'no'));
    const engines = { local: { url, maxChars: 200, concurrency: 3 } };
    const voices = await voicesOf({ engine: 'local' }, { engines });
    const [anna, bert] = [await voices.of(), await voices.of({ speaker: said('local:bert') })];
    expect(anna).toMatchObject({ kind: 'engine', atOnce: 5, maxChars: 200, shape: { speaker: 1001 } });
    expect(bert).toMatchObject({ kind: 'engine', shape: { speaker: 1002 } });
    expect(bert.shape.identity).not.toBe(anna.shape.identity);
    expect(voices.as({ ...anna.shape })).toBe(anna);
    // Nobody asks for a rate; the key of the cache has had this one ever since.
    expect(anna.shape).toMatchObject({ sampleRate: 24_000, hasOwnRate: true });
    expect(anna.request('hello')).toBe('{"text":"hello","speaker_no":1001}');
    const slow = await voices.of({ sampleRate: said(24_000) });
    expect(slow).not.toBe(anna);
    expect(slow.request('hello')).toContain('"sample_rate":24000');
    expect(await voices.cacheBytesFor(anna)).toBeGreaterThan(0);
    const typed = await voicesOf({ engine: 'local', concurrency: '2', maxChars: '50' }, { engines });
    expect(await typed.of()).toMatchObject({ atOnce: 2, maxChars: 50 });
  });

  it('of one text may be those of a service, of an engine and of this program', async () => {
    const service = await serveRows();
    const { url } = await serveSpeech(complete(plainWav(sound(4000))));
    const config = {
      engines: { mine: { url, maxChars: 200, concurrency: 3 } },
      speakers: {
        anna: { no: 7, sampleRate: 16_000 },
        dear: { engine: 'mine', voice: 'bert', sampleRate: 8000 },
      },
    };
    const voices = await voicesOf(
      { ...SERVICE, baseUrl: service.url, speaker: '1', maxChars: '500' },
      config,
    );
    const cast = (name: string | number) => voices.cast(said(name));
    const own = await voices.of();
    expect(await cast(1)).toBe(own);
    expect(await cast(2)).toMatchObject({ kind: 'service', maxChars: 500, atOnce: 4, shape: { speaker: 2 } });
    expect(await cast('anna')).toMatchObject({ kind: 'service', sampleRate: 16_000, shape: { speaker: 7 } });
    const bert = await cast('mine:bert');
    expect(bert).toMatchObject({ kind: 'engine', maxChars: 200, atOnce: 5, sampleRate: undefined });
    expect(await cast('dear')).toMatchObject({ kind: 'engine', sampleRate: 8000 });
    const slt = await cast('slt');
    expect(slt).toMatchObject({ kind: 'built-in', sampleRate: 22_050, shape: { speaker: 2 } });
    expect(await cast('en')).toMatchObject({ kind: 'built-in', shape: { speaker: 1 } });
    expect(await cast('en-gb')).toMatchObject({ kind: 'built-in', shape: { speaker: 3 } });
    await expect(cast('nobody')).rejects.toThrow(
      'p.csv, line 2, column speaker: no speaker is called "nobody"',
    );
    expect(await voices.cacheBytesFor(slt)).toBeUndefined();
    expect(await voices.cacheBytesFor(bert)).toBeGreaterThan(0);
    expect(await heard(own, 'hello')).toEqual(Buffer.from(wavOf('hello')).subarray(44));
    expect(await heard(bert, 'hello')).toEqual(sound(4000));
    expect(service.requests).toHaveLength(1);
  });

  it('of one text take what they can do of what the run asks', async () => {
    const flags = { speaker: '11', instructions: 'slow', sampleRate: undefined };
    const voices = await voicesOf(flags, { speakers: { deep: { no: 2, sampleRate: 8000 } } });
    expect((await voices.of()).shape).toMatchObject({ speaker: 11, instructions: 'slow' });
    expect((await voices.cast(said(12))).shape).toMatchObject({ instructions: 'slow' });
    expect((await voices.cast(said(2))).shape.instructions).toBeUndefined();
    expect((await voices.cast(said('deep'))).shape).toMatchObject({ speaker: 2, sampleRate: 8000 });
    const rated = await voicesOf({ speaker: '1', sampleRate: '16000' });
    expect((await rated.cast(said(12))).shape.sampleRate).toBeUndefined();
    expect((await rated.cast(said(3))).shape.sampleRate).toBe(16_000);
  });
});
