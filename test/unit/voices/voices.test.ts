import { describe, expect, it } from 'vitest';
import type { Speaker, VoiceEvent } from '../../../src/sound/voice.ts';
import { fakeEspeak } from '../../support/fake-espeak.ts';
import { emptyFolder } from '../../support/folder.ts';
import { answer, complete } from '../../support/http-bytes.ts';
import { serveRows, wavOf } from '../../support/row-service.ts';
import { utteranceOf } from '../../support/speaker.ts';
import { serveSpeech } from '../../support/speech-server.ts';
import { collect } from '../sound/body.ts';
import { plainWav, sound } from '../sound/wav-builder.ts';
import { said, signal, voicesOf } from './voices-of.ts';

const SERVICE = { baseUrl: 'http://127.0.0.1:9/api/', apiKey: 'the-key' };

async function heard(speaker: Speaker, text: string, index = 0, events: VoiceEvent[] = []) {
  const speech = await speaker.voice.source.speak(utteranceOf(speaker, text, index, events), signal);
  return speech && collect(speech.pcm);
}

async function engineWith(names: readonly string[]): Promise<string> {
  return (await serveSpeech(answer(500, 'no'), names)).url;
}

/** The speaker that a word means on a machine of two engines and, if wanted, espeak-ng. */
async function meant(word: string | number, flags: object = {}, hasEspeak = true) {
  const [one, other] = [await engineWith(['anna', 'bert']), await engineWith(['bert', 'carl'])];
  const config = {
    engines: { one: { url: one }, other: { url: other } },
    speakers: { dear: { engine: 'other', voice: 'carl' }, low: { no: 12, instructions: 'deep' }, xx: 3 },
  };
  const path = emptyFolder();
  if (hasEspeak) fakeEspeak(path, 'exit 1');
  const voices = await voicesOf({ ...flags }, config, { path });
  const { no, source } = (await voices.of({ speaker: said(word) })).voice;
  return [source.kind, no];
}

describe('a speaker is looked for', () => {
  it.each([
    [3, 'built-in', 3],
    ['SLT', 'built-in', 2],
    ['low', 'built-in', 12],
    ['Low', 'built-in', 12],
    [1002, 'engine', 1002],
    ['one:bert', 'engine', 1002],
    ['dear', 'engine', 2002],
    [101, 'espeak', 101],
    ['First', 'espeak', 101],
    ['anna', 'engine', 1001],
    ['carl', 'engine', 2002],
    ['yy', 'espeak', 102],
    // A name of the config goes before a language.
    ['xx', 'built-in', 3],
  ])('by number, name and language, in the order of the places: %s', async (word, ...found) => {
    expect(await meant(word)).toEqual(found);
  });

  it('in the engine that was chosen before the others', async () => {
    expect(await meant('bert', { engine: 'other' })).toEqual(['engine', 1001]);
    expect(await meant('anna', { engine: 'other' })).toEqual(['engine', 2001]);
    expect(await meant(2, { engine: 'other' })).toEqual(['built-in', 2]);
  });

  it('as a variety of English in the built-in voices where no other voice speaks it', async () => {
    expect(await meant('en-GB', {}, false)).toEqual(['built-in', 3]);
  });

  it.each([
    ['bert', {}, 'several engines have a voice "bert"'],
    ['other:anna', {}, 'the engine other has no voice "anna"'],
    ['nobody', { engine: 'one' }, 'no speaker is called "nobody"'],
    [77, {}, 'has no speaker 77'],
  ])('in vain, with words that say why: %s', async (word, flags, words) => {
    await expect(meant(word, flags)).rejects.toThrow(words);
  });
});

const speakers = {
  anna: 181,
  deep: { no: 1190, kind: 'neo.one', language: 'hi', sampleRate: 16_000 },
  warm: { no: 12, kind: 'Mermish', instructions: 'warmly' },
  me: { no: 1, kind: 'Mermish' },
};

const ofRun = async (flags: Record<string, unknown>, config: object = {}, env = {}) =>
  (await voicesOf(flags, { speakers, ...config }, { env })).of();

describe('what is asked of a speaker', () => {
  it.each<[Record<string, unknown>, object, Record<string, string>, object]>([
    [{ ...SERVICE, speaker: 'deep' }, {}, {}, { sampleRate: 16_000 }],
    [{ ...SERVICE, speaker: 'warm' }, {}, {}, { instructions: 'warmly' }],
    [{ ...SERVICE, speaker: 'Warm' }, {}, {}, { instructions: 'warmly' }],
    [{ ...SERVICE, speaker: '1190' }, {}, {}, { sampleRate: undefined }],
    [{ ...SERVICE, speaker: 'deep' }, { sampleRate: 8000 }, {}, { sampleRate: 16_000 }],
    [{ ...SERVICE, speaker: 'deep', sampleRate: '24000' }, {}, {}, { sampleRate: 24_000 }],
    [{ ...SERVICE, speaker: 'deep' }, {}, { TTS_SAMPLE_RATE: '44100' }, { sampleRate: 44_100 }],
    [{ ...SERVICE, speaker: 'anna', instructions: 'x' }, { sampleRate: 8000 }, {}, { instructions: 'x' }],
    [{ speaker: '11', instructions: 'x' }, {}, {}, { instructions: 'x' }],
  ])('is its own before the config, and after options and the environment: %j', async (...asked) => {
    const [flags, config, env, fields] = asked;
    expect((await ofRun(flags, config, env)).fields).toMatchObject(fields);
  });

  it.each<[Record<string, unknown>, object, RegExp, RegExp]>([
    [
      { ...SERVICE, speaker: 'warm', sampleRate: '16000' },
      {},
      /^--sample-rate: .* 12 \(warm\).*neo\.one/,
      /kind neo/,
    ],
    [{ ...SERVICE, speaker: '12', sampleRate: '16000' }, {}, /speaker 12 is a Mermish speaker/, /kind neo/],
    [
      { ...SERVICE, speaker: 'deep', instructions: 'x' },
      {},
      /^--instructions: speaker 1190.*Mermish/,
      /kind Mermish/,
    ],
    [{ instructions: 'x' }, {}, /^--instructions: speaker 1 takes no instructions$/, /-s 11 to -s 15/],
    [{ speaker: 'me', instructions: 'x' }, {}, /: speaker 1 \(me\) takes no instructions$/, /-s 11/],
    [{ speaker: '11' }, { sampleRate: 8000 }, /^sampleRate in .*: speaker 11 takes no sample rate$/, /./],
  ])('is nothing that its kind cannot do: %j', async (flags, config, message, hint) => {
    await expect(ofRun(flags, config)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});

describe('a speaker that is not there', () => {
  it.each([
    ['7', 'the built-in service has no speaker 7', /--base-url; there are: 1 \(rms\), .*; 101 and up are/],
    ['200001', '200001 is a speaker of the voice cori, which is not installed', /^tts voices install cori /],
    ['anna', 'the built-in service has no speaker 181 (anna)', /--base-url/],
    ['ana', 'no speaker is called "ana"', /^did you mean anna\? there are: anna, deep, warm, me, rms, /],
    [
      'crori',
      'no speaker is called "crori"',
      /^did you mean cori\? tts voices install cori brings it; there/,
    ],
    ['constructor', 'no speaker is called "constructor"', /^there are: anna/],
  ])('is refused with the nearest, and with all there are: %s', async (speaker, words, hint) => {
    await expect(ofRun({ speaker })).rejects.toMatchObject({
      exitCode: 2,
      message: `--speaker: ${words}`,
      hint: expect.stringMatching(hint),
    });
  });

  it('is refused with some of very many, and how to see them all', async () => {
    const url = await engineWith(Array.from({ length: 30 }, (_, number) => `v${number}`));
    await expect(
      ofRun({ engine: 'many', speaker: 'nobody' }, { engines: { many: { url } } }),
    ).rejects.toMatchObject({
      hint: expect.stringMatching(/are: anna, [^;]*v15, \.\.\.; tts speakers lists all; /),
    });
  });

  it('was not chosen, where only a service is known', async () => {
    await expect(ofRun(SERVICE)).rejects.toMatchObject({
      hint: expect.stringMatching(/--speaker.*TTS_SPEAKER/),
    });
  });
});

describe('the voices of a run', () => {
  it('ask once for what two of them want at once, with one cache for all', async () => {
    const server = await serveRows({ delay: 50 });
    const voices = await voicesOf({ ...SERVICE, baseUrl: server.url });
    const events: VoiceEvent[] = [];
    const sounds = await Promise.all(
      [0, 1].map(async (index) => heard(await voices.of({ speaker: said(1) }), 'hello', index, events)),
    );
    for (const sound of sounds) expect(Buffer.from(wavOf('hello')).subarray(44)).toEqual(sound);
    expect(server.requests).toHaveLength(1);
    expect(
      events.map((event) => (event.type === 'cache' ? `${event.index} ${event.found}` : event.type)),
    ).toEqual(['0 miss', 'request', 'answer', '1 hit']);
  });

  it('are the same where the same is asked', async () => {
    const voices = await voicesOf({ ...SERVICE, speaker: '7', sampleRate: '8000', stream: true });
    const speaker = await voices.of({ instructions: said('calm'), sampleRate: undefined });
    expect(speaker).toMatchObject({
      fields: { sampleRate: 8000, instructions: 'calm', stream: true },
      voice: { no: 7, source: { kind: 'service', atOnce: 4 }, identity: 'http://127.0.0.1:9/api/tts' },
      maxChars: 1000,
    });
    expect(await voices.of({ instructions: said('calm', 'another place') })).toBe(speaker);
    expect(await voices.of({ sampleRate: said(16_000) })).not.toBe(speaker);
  });

  it.each([
    ['a service', SERVICE, 'service', true],
    ['a service, with the cache off', { ...SERVICE, cache: false }, 'service', false],
    ['a service that sends elsewhere', { ...SERVICE, callbackUrl: 'https://a.example/' }, 'service', false],
    ['this program', {}, 'built-in', false],
  ])('keep the sound where it is paid for: %s', async (_, flags, kind, isKept) => {
    const voices = await voicesOf(flags);
    const speaker = await voices.of({ speaker: said(1) });
    expect(speaker.voice.source.kind).toBe(kind);
    expect((await voices.cacheBytesFor(speaker)) !== undefined).toBe(isKept);
    expect((await voices.cacheFor(speaker)) !== undefined).toBe(isKept);
  });

  it('need no key before one of them speaks', async () => {
    const voices = await voicesOf({ baseUrl: SERVICE.baseUrl });
    const speaker = await voices.of({ speaker: said(7) });
    await expect(heard(speaker, 'hello')).rejects.toThrow('no key for');
  });

  it('of an engine have its limits, an identity of its own, and are kept', async () => {
    const engines = { local: { url: await engineWith(['anna', 'bert']), maxChars: 200, concurrency: 3 } };
    const voices = await voicesOf({ engine: 'local' }, { engines });
    const [anna, bert] = [await voices.of(), await voices.of({ speaker: said('local:bert') })];
    expect(anna).toMatchObject({ maxChars: 200, voice: { no: 1001, source: { kind: 'engine', atOnce: 5 } } });
    expect(anna.fields.sampleRate).toBeUndefined();
    expect(bert.voice.identity).not.toBe(anna.voice.identity);
    expect(await voices.cacheBytesFor(anna)).toBeGreaterThan(0);
    const typed = await voicesOf({ engine: 'local', concurrency: '2', maxChars: '50' }, { engines });
    expect(await typed.of()).toMatchObject({ maxChars: 50, voice: { source: { atOnce: 2 } } });
  });

  it.each([
    [{ language: 'de' }, /speaks English, and not German/],
    [{ language: 'en-GB' }, 'awb'],
    [{ language: 'English' }, 'rms'],
    [{ speaker: 'slt', language: 'en' }, 'slt'],
    [{ speaker: 'slt', language: 'fr' }, /speaks English, and not French/],
    [{ speaker: 'slt', language: 'en-GB' }, /speaks American English, and not British English/],
    [{ language: 'xyzzy' }, /"xyzzy" is not a language/],
  ] as const)('speak the language that is asked for: %j', async (flags, expected) => {
    const found = (await voicesOf(flags)).of();
    if (typeof expected === 'string') expect((await found).voice.name).toBe(expected);
    else await expect(found).rejects.toMatchObject({ message: expect.stringMatching(expected) });
  });

  it('of one text may be those of a service, of an engine and of this program', async () => {
    const service = await serveRows();
    const { url } = await serveSpeech(complete(plainWav(sound(4000))));
    const config = {
      engines: { mine: { url, maxChars: 200 } },
      speakers: {
        anna: { no: 7, sampleRate: 16_000 },
        dear: { engine: 'mine', voice: 'bert', sampleRate: 8000 },
      },
    };
    const flags = { ...SERVICE, baseUrl: service.url, speaker: '1', maxChars: '500' };
    const voices = await voicesOf(flags, config);
    const cast = (name: string | number) => voices.cast(said(name));
    const found = async (name: string | number) => {
      const { voice, fields } = await cast(name);
      return [voice.source.kind, voice.no, fields.sampleRate];
    };
    const own = await voices.of();
    expect(await cast(1)).toBe(own);
    expect(await found(2)).toEqual(['service', 2, undefined]);
    expect(await found('anna')).toEqual(['service', 7, 16_000]);
    expect(await found('mine:bert')).toEqual(['engine', 1002, undefined]);
    expect(await found('dear')).toEqual(['engine', 1002, 8000]);
    expect(await found('slt')).toEqual(['built-in', 2, undefined]);
    expect(await found('en-gb')).toEqual(['built-in', 3, undefined]);
    expect((await voices.cast(said(1), { mayAskService: false })).voice.source.kind).toBe('built-in');
    await expect(cast('nobody')).rejects.toThrow(
      'p.csv, line 2, column speaker: no speaker is called "nobody"',
    );
    expect([own.maxChars, (await cast('mine:bert')).maxChars]).toEqual([500, 200]);
    expect(await voices.cacheBytesFor(await cast('slt'))).toBeUndefined();
    expect(await heard(own, 'hello')).toEqual(Buffer.from(wavOf('hello')).subarray(44));
    expect(await heard(await cast('mine:bert'), 'hello')).toEqual(sound(4000));
    expect(service.requests).toHaveLength(1);
  });

  it('of one text take what they can do of what the run asks', async () => {
    const styled = await voicesOf(
      { speaker: '11', instructions: 'slow' },
      { speakers: { deep: { no: 2, sampleRate: 8000 } } },
    );
    const rated = await voicesOf({ speaker: '1', sampleRate: '16000' });
    const fieldsOf = async (voices: typeof styled, name: string | number) => {
      const { sampleRate, instructions } = (await voices.cast(said(name))).fields;
      return [sampleRate, instructions];
    };
    expect(await fieldsOf(styled, 12)).toEqual([undefined, 'slow']);
    expect(await fieldsOf(styled, 2)).toEqual([undefined, undefined]);
    expect(await fieldsOf(styled, 'deep')).toEqual([8000, undefined]);
    expect(await fieldsOf(rated, 12)).toEqual([undefined, undefined]);
    expect(await fieldsOf(rated, 3)).toEqual([16_000, undefined]);
  });
});
