import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  configOf,
  modelIdentity,
  modelIn,
  optionsOf,
  piperOf,
  speakersOf,
} from '../../../src/engines/model-families.ts';
import { emptyFolder } from '../../support/folder.ts';
import { piperSettings } from '../../support/piper-settings.ts';
import { metadata } from '../../support/tiny-voice.ts';

/** A folder whose path is not ASCII, with such files; a name that ends in a slash is a folder. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = join(emptyFolder(), 'Žofie', 'voice');
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(path, content);
  }
  return folder;
}

const named = (names: readonly string[], content = '') =>
  folderOf(Object.fromEntries(names.map((name) => [name, content])));

const KOKORO = ['model.onnx', 'voices.bin', 'tokens.txt', 'espeak-ng-data/'];
const POCKET = ['lm_flow.int8.onnx', 'lm_main.int8.onnx', 'encoder.onnx', 'decoder.int8.onnx'];
const SUPERTONIC = ['duration_predictor.onnx', 'text_encoder.onnx', 'vector_estimator.onnx', 'vocoder.onnx'];

describe('the family of a model', () => {
  it.each<[string, readonly string[], string, Record<string, string>]>([
    [
      'vits',
      ['en_GB-cori-medium.onnx', 'tokens.txt', 'espeak-ng-data/', 'MODEL_CARD'],
      '',
      { model: 'en_GB-cori-medium.onnx', tokens: 'tokens.txt', dataDir: 'espeak-ng-data' },
    ],
    [
      'kokoro',
      [...KOKORO, 'lexicon-us-en.txt', 'lexicon-zh.txt'],
      '',
      { model: 'model.onnx', voices: 'voices.bin', lexicon: 'lexicon-us-en.txt,lexicon-zh.txt' },
    ],
    ['kitten', KOKORO, 'model_type=kitten-tts', { model: 'model.onnx', voices: 'voices.bin' }],
    [
      'matcha',
      ['model-steps-3.onnx', 'vocos-22khz-univ.onnx', 'tokens.txt', 'espeak-ng-data/'],
      '',
      { acousticModel: 'model-steps-3.onnx', vocoder: 'vocos-22khz-univ.onnx' },
    ],
    [
      'pocket',
      [...POCKET, 'text_conditioner.onnx', 'vocab.json', 'token_scores.json', 'anna.wav'],
      '',
      { lmFlow: 'lm_flow.int8.onnx', textConditioner: 'text_conditioner.onnx' },
    ],
    [
      'supertonic',
      [...SUPERTONIC, 'tts.json', 'unicode_indexer.bin', 'voice.bin'],
      '',
      { durationPredictor: 'duration_predictor.onnx', voiceStyle: 'voice.bin' },
    ],
  ])('%s is told by its files', (family, names, content, files) => {
    const model = modelIn(named(names, content), 'mine');
    expect(model.family).toBe(family);
    const found = Object.entries(model.files).map(([key, path]) => [
      key,
      path
        .split(',')
        .map((each) => basename(each))
        .join(','),
    ]);
    expect(Object.fromEntries(found)).toMatchObject(files);
    expect(model.references.map((file) => basename(file))).toEqual(family === 'pocket' ? ['anna.wav'] : []);
  });

  it.each<[readonly string[], string, string]>([
    [['model.onnx'], '', 'tokens.txt is missing'],
    [['tokens.txt'], '', '*.onnx is missing'],
    [[], '', '*.onnx, tokens.txt are missing'],
    [POCKET, '', 'text_conditioner*.onnx, vocab.json, token_scores.json are missing'],
    [[...SUPERTONIC, 'tts.json'], '', 'unicode_indexer.{bin,json}, voice*.{bin,json} are missing'],
    [['model.onnx', 'tokens.txt'], 'has_espeak', 'espeak-ng-data is missing'],
  ])('names what is missing next to %j', (names, content, message) => {
    expect(() => modelIn(named(names, content), 'mine')).toThrow(message);
  });
});

describe('a file of a model', () => {
  /** It leads to a file of another folder. */
  const leadOut = (path: string) => symlinkSync(join(named(['secret']), 'secret'), path);

  it.each<[string, (path: string) => void, string]>([
    ['tokens.txt', leadOut, 'is a link that leads out'],
    ['model.onnx', (path) => symlinkSync('nowhere', path), 'is a link that leads out'],
    ['espeak-ng-data', (path) => symlinkSync(emptyFolder(), path), 'is a link that leads out'],
    ['model.onnx', (path) => mkdirSync(path), 'is not a regular file'],
    ['model.onnx', (path) => void execFileSync('mkfifo', [path]), 'is not a regular file'],
    ['espeak-ng-data', (path) => writeFileSync(path, ''), 'is not a folder'],
    ['espeak-ng-data/phontab', leadOut, 'is a link that leads out'],
    ['espeak-ng-data/phontab', (path) => void execFileSync('mkfifo', [path]), 'is not a regular file'],
    ['espeak-ng-data/voices/en', leadOut, 'is a link that leads out'],
  ])('is its own, and one that can be read to its end: %s', (name, make, message) => {
    const folder = named(['model.onnx', 'tokens.txt', 'espeak-ng-data/voices/']);
    rmSync(join(folder, name), { recursive: true, force: true });
    make(join(folder, name));
    expect(() => modelIn(folder, 'mine')).toThrow(`${basename(folder)}: ${basename(name)} ${message}`);
  });
});

describe('the identity of a model', () => {
  const names = ['model.onnx', 'tokens.txt'];
  const size = 3 * 1024 * 1024;
  const at = new Date(1_700_000_000_000);

  it('changes with size, time, and both ends of a file', () => {
    const folder = named(names);
    const model = modelIn(folder, 'mine');
    const write = (name: string, bytes: Uint8Array, time = at) => {
      writeFileSync(join(folder, name), bytes);
      utimesSync(join(folder, name), time, time);
      return modelIdentity(model);
    };
    const changed = (byte: number) => {
      const bytes = Buffer.alloc(size);
      bytes[byte] = 1;
      return bytes;
    };
    write('tokens.txt', Buffer.from('a 0\n'));
    const same = write('model.onnx', Buffer.alloc(size));
    expect(write('model.onnx', Buffer.alloc(size))).toBe(same);
    const others = [
      write('model.onnx', changed(0)),
      write('model.onnx', changed(size - 1)),
      write('model.onnx', Buffer.alloc(size + 1)),
      write('model.onnx', Buffer.alloc(size), new Date(at.getTime() + 1000)),
    ];
    write('model.onnx', Buffer.alloc(size));
    others.push(write('tokens.txt', Buffer.from('b 0\n')));
    expect(new Set([same, ...others]).size).toBe(6);
  });
});

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
    expect(optionsOf(speakers[3] as never)).toMatchObject({ sid: 3, speed: 1, extra: { lang: 'fr-fr' } });
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
  it.each([
    [undefined, 'en', 'en'],
    ['de', 'de', 'de'],
    ['pt-BR', 'pt-BR', 'pt'],
  ])('speak English, or the language of the user: %s', (said, language, lang) => {
    const model = modelIn(named([...SUPERTONIC, 'tts.json', 'unicode_indexer.bin', 'voice.bin']), 'mine');
    const speakers = speakersOf(model, { name: 'mine', count: 10, language: said });
    expect(speakers[0]).toMatchObject({ name: 'F1', language, lang, sid: 0 });
    expect(speakers[9]).toMatchObject({ name: 'M5', language, lang, sid: 9 });
    expect(optionsOf(speakers[0] as never)).toMatchObject({ extra: { lang } });
  });

  it('speak in each style all languages that are asked for, with a number and a name for each', () => {
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
  expect(optionsOf(speaker)).toMatchObject({ speed: 1.6 });
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
