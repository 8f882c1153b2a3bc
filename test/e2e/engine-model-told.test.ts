import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { node, Sandbox } from '../support/run.ts';
import { metadata } from '../support/tiny-voice.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** It writes down what it is told, and the folder in which it runs. */
const FAKE = `
  const told = (what) => require('node:fs').appendFileSync(process.env.TOLD, JSON.stringify(what) + '\\n');
  const tts = {
    sampleRate: 16000,
    numSpeakers: 3,
    generateAsync: async ({ generationConfig, onProgress }) => {
      told(generationConfig);
      onProgress({ samples: new Float32Array(400) });
    },
  };
  exports.OfflineTts = { createAsync: async ({ model }) => (told({ cwd: process.cwd(), ...model }), tts) };
`;

/** Speaks with a copy of tts, next to which a stand-in for the runtime lies. */
async function told(files: Readonly<Record<string, string | Buffer>>, ...args: string[]) {
  const box = new Sandbox();
  const installed = box.path('lib/node_modules/tts-pipe');
  for (const part of ['bin', 'dist', 'package.json', 'node_modules/@echogarden'])
    cpSync(`${root}/${part}`, `${installed}/${part}`, { recursive: true, dereference: true });
  box.file('lib/node_modules/sherpa-onnx-node/index.js', FAKE);
  for (const [name, content] of Object.entries(files)) box.file(`Žofie/voice/${name}`, content);
  const env = { TOLD: box.path('told') };
  const line = [installed, 'bin/tts.cjs'].join('/');
  const run = await box.shell(
    `'${node}' '${line}' hi -o out.wav --no-cache --engine Žofie/voice ${args.join(' ')}`,
    { env },
  );
  expect(run).toMatchObject({ status: 0 });
  return {
    cwd: box.path('Žofie/voice'),
    lines: box
      .read('told')
      .toString()
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each)),
  };
}

describe('a model', () => {
  it.each([['bm_george', 1, 'en-gb-x-rp', 'lexicon-gb-en.txt']])(
    'of Kokoro is told the language of %s and the lexicon of its accent',
    async (name, sid, lang, lexicon) => {
      const names = metadata({ speaker_names: 'af_heart,bm_george,ff_siwis' });
      const empty = [
        'voices.bin',
        'tokens.txt',
        'espeak-ng-data/phontab',
        'lexicon-gb-en.txt',
        'lexicon-us-en.txt',
      ];
      const files = { 'model.onnx': names, ...Object.fromEntries(empty.map((file) => [file, ''])) };
      const { cwd, lines } = await told(files, '-s', name);
      const loaded = lines.findLast((line) => line.kokoro?.lexicon === lexicon);
      expect(loaded).toMatchObject({ cwd, kokoro: { model: 'model.onnx', dataDir: 'espeak-ng-data' } });
      expect(lines.at(-1)).toMatchObject({ sid, speed: 1, extra: { lang } });
    },
  );
});
