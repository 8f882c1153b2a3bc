import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configOf, modelIn, optionsOf, piperOf, speakersOf } from '../../../src/engines/model-families.ts';
import { emptyFolder } from '../../support/folder.ts';
import { piperSettings } from '../../support/piper-settings.ts';
import { metadata } from '../../support/tiny-voice.ts';

interface Files {
  readonly [name: string]: string | Buffer;
}

/** A folder below the given one, whose name is not ASCII, with such files; a name that ends in a slash is a folder. */
function folderOf(files: Files): string {
  const folder = join(emptyFolder(), 'Žofie', 'voice');
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    if (name.endsWith('/')) mkdirSync(join(folder, name));
    else writeFileSync(join(folder, name), content);
  }
  return folder;
}

const KOKORO_NAMES = 'af_heart,bm_george,ef_dora,ff_siwis,hf_alpha,if_sara,jf_alpha,pf_dora,zf_xiaoyi';

function kokoro(): string {
  return folderOf({
    'model.onnx': Buffer.concat([Buffer.from('model'), metadata({ speaker_names: KOKORO_NAMES })]),
    'voices.bin': '',
    'tokens.txt': '',
    'espeak-ng-data/': '',
    'lexicon-gb-en.txt': '',
    'lexicon-us-en.txt': '',
    'lexicon-zh.txt': '',
  });
}

describe("Kokoro's speakers", () => {
  it('have their names, and each its language', () => {
    const speakers = speakersOf(modelIn(kokoro(), 'mine'), { name: 'mine', count: 9 });
    expect(speakers.map(({ name, language, lang }) => [name, language, lang])).toEqual([
      ['af_heart', 'en-US', 'en-us'],
      ['bm_george', 'en-GB', 'en-gb-x-rp'],
      ['ef_dora', 'es', 'es'],
      ['ff_siwis', 'fr-FR', 'fr-fr'],
      ['hf_alpha', 'hi', 'hi'],
      ['if_sara', 'it', 'it'],
      ['jf_alpha', 'ja', 'ja'],
      ['pf_dora', 'pt-BR', 'pt-br'],
      ['zf_xiaoyi', 'zh', undefined],
    ]);
    expect(optionsOf(speakers[3] as never, 1.5)).toMatchObject({
      sid: 3,
      speed: 1.5,
      extra: { lang: 'fr-fr' },
    });
  });

  it('keep their languages under names of the user, and all speak another one if the user says so', () => {
    const model = modelIn(kokoro(), 'mine');
    const named = speakersOf(model, { name: 'mine', count: 9, voices: ['anna', 'bob'] });
    expect(named.slice(0, 3).map(({ name, lang }) => [name, lang])).toEqual([
      ['anna', 'en-us'],
      ['bob', 'en-gb-x-rp'],
      ['ef_dora', 'es'],
    ]);
    const italian = speakersOf(model, { name: 'mine', count: 9, language: 'it' });
    expect(italian.every(({ lang, language }) => lang === 'it' && language === 'it')).toBe(true);
  });

  it.each([
    ['us', 'lexicon-us-en.txt,lexicon-zh.txt'],
    ['gb', 'lexicon-gb-en.txt,lexicon-zh.txt'],
  ] as const)('are read with the lexicon of their accent: %s', (accent, lexicon) => {
    const folder = kokoro();
    const config = configOf(modelIn(folder, 'mine'), { cwd: folder, scales: undefined, accent });
    expect(config).toMatchObject({
      model: { kokoro: { model: 'model.onnx', dataDir: 'espeak-ng-data', lexicon } },
    });
    expect(JSON.stringify(config)).not.toContain('Žofie');
  });
});

describe("Supertonic's speakers", () => {
  const files = Object.fromEntries(
    [
      ...['duration_predictor', 'text_encoder', 'vector_estimator', 'vocoder'].map((name) => `${name}.onnx`),
      ...['tts.json', 'unicode_indexer.bin', 'voice.bin'],
    ].map((name) => [name, '']),
  );

  it.each([
    [undefined, 'en', 'en'],
    ['de', 'de', 'de'],
    ['pt-BR', 'pt-BR', 'pt'],
  ])('speak English, or the language of the user: %s', (said, language, lang) => {
    const model = modelIn(folderOf(files), 'mine');
    const speakers = speakersOf(model, { name: 'mine', count: 10, language: said });
    expect(speakers[0]).toMatchObject({ name: 'F1', language, lang, sid: 0 });
    expect(speakers[9]).toMatchObject({ name: 'M5', language, lang, sid: 9 });
    expect(optionsOf(speakers[0] as never, 1)).toMatchObject({ extra: { lang } });
  });
});

describe("Supertonic's styles", () => {
  it('speak each of the languages that are asked for, with a number and a name for each', () => {
    const model = { family: 'supertonic', files: {}, references: [] };
    const speakers = speakersOf(model, { name: 'mine', count: 10, languages: ['en', 'ko', 'ja'] });
    expect(speakers).toHaveLength(30);
    expect(speakers.map(({ offset }) => offset)).toEqual(speakers.map((_, at) => at));
    expect(speakers[0]).toMatchObject({ name: 'F1', style: 'F1', language: 'en', lang: 'en', sid: 0 });
    expect(speakers[25]).toMatchObject({ name: 'M1-ja', style: 'M1', language: 'ja', lang: 'ja', sid: 5 });
    expect(speakers[25]?.gender).toBe('man');
  });
});

it.each([
  ['af_heart', 'woman'],
  ['bm_george', 'man'],
  ['F5', 'woman'],
  ['M1', 'man'],
  ['expr-voice-3-f', 'woman'],
  ['expr-voice-2-m', 'man'],
  ['anna', undefined],
  ['Format', undefined],
])('The name %s of a speaker says how it sounds: %s', (name, gender) => {
  const model = { family: 'vits', files: {}, references: [] };
  const [speaker] = speakersOf(model, { name: 'mine', count: 2, voices: [name], language: 'en' });
  expect(speaker?.gender).toBe(gender);
});

it('gives a speaker its natural pace', () => {
  const speaker = { name: 'a', language: 'en', sid: 0, speed: 1.6 };
  expect(optionsOf(speaker, 1)).toMatchObject({ speed: 1.6 });
  expect(optionsOf(speaker, 2)).toMatchObject({ speed: 3.2 });
});

it('numbers the references of Pocket', () => {
  const model = { family: 'pocket', files: {}, references: ['/v/anna.wav', '/v/mary.wav'] };
  const speakers = speakersOf(model, { name: 'pocket', count: 1, language: 'en' });
  expect(speakers.map(({ name, offset }) => [name, offset])).toEqual([
    ['anna', 0],
    ['mary', 1],
  ]);
});

describe("a voice with Piper's settings", () => {
  const withSettings = (settings: object | string) =>
    folderOf({
      'de_DE-anna.onnx': '',
      'tokens.txt': '',
      'espeak-ng-data/': '',
      'de_DE-anna.onnx.json': typeof settings === 'string' ? settings : JSON.stringify(settings),
    });

  it('has the names, the language and the scales that they say', () => {
    const inference = { noise_scale: 0.333, noise_w: 0.5, length_scale: 1.2 };
    const settings = piperSettings({ num_speakers: 3, speaker_id_map: { anna: 2, bob: 0 }, inference });
    const folder = withSettings(settings);
    const model = modelIn(folder, 'mine');
    const speakers = speakersOf(model, { name: 'mine', count: 3 });
    expect(speakers.map(({ name, language }) => [name, language])).toEqual([
      ['bob', 'en-GB'],
      ['mine-1', 'en-GB'],
      ['anna', 'en-GB'],
    ]);
    const scales = piperOf(model)?.scales;
    expect(configOf(model, { cwd: folder, scales, accent: undefined })).toEqual({
      model: {
        vits: {
          model: 'de_DE-anna.onnx',
          tokens: 'tokens.txt',
          dataDir: 'espeak-ng-data',
          noiseScale: 0.333,
          noiseScaleW: 0.5,
          lengthScale: 1.2,
        },
        numThreads: 2,
        provider: 'cpu',
        debug: false,
      },
      maxNumSentences: 1,
    });
  });

  it.each(['no JSON', '{}', `{"a": "${'x'.repeat(1_100_000)}"}`, 'null', '[1]'])(
    'speaks without those that cannot be true: %.20s',
    (settings) => {
      const model = modelIn(withSettings(settings), 'mine');
      expect(piperOf(model)).toBeUndefined();
      expect(speakersOf(model, { name: 'mine', count: 1 })).toEqual([
        { name: 'mine', language: 'und', sid: 0 },
      ]);
    },
  );
});

it('takes the language of a model from its metadata', () => {
  const onnx = Buffer.concat([Buffer.from('x'.repeat(100_000)), metadata({ voice: 'en-gb-x-rp' })]);
  const model = modelIn(folderOf({ 'a.onnx': onnx, 'tokens.txt': '', 'espeak-ng-data/': '' }), 'mine');
  expect(speakersOf(model, { name: 'mine', count: 2 })).toEqual([
    { name: 'mine-0', language: 'en-GB', sid: 0 },
    { name: 'mine-1', language: 'en-GB', sid: 1 },
  ]);
});
