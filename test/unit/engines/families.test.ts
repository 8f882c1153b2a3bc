import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { modelIdentity, modelIn } from '../../../src/engines/model-families.ts';
import { emptyFolder } from '../../support/folder.ts';

/** A folder with such files; a name that ends in a slash is a folder. */
function folderOf(names: readonly string[], content = ''): string {
  const folder = emptyFolder();
  for (const name of names) {
    const path = join(folder, name);
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(path, content);
  }
  return folder;
}

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
    const model = modelIn(folderOf(names, content), 'mine');
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
    expect(() => modelIn(folderOf(names, content), 'mine')).toThrow(message);
  });
});

describe('a file of a model', () => {
  /** It leads to a file of another folder. */
  const leadOut = (path: string) => symlinkSync(join(folderOf(['secret']), 'secret'), path);

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
    const folder = folderOf(['model.onnx', 'tokens.txt', 'espeak-ng-data/voices/']);
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
    const folder = folderOf(names);
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
