// Rows of the table of docs/speed.md about installed voices. This process is the hub, on loopback.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pairs } from './measure.mjs';

const MODEL_BYTES = 200e6;
const COMMIT = 'c0ffee00c0ffee00';

const settings = {
  audio: { sample_rate: 22_050 },
  // For this language, the catalogue below lists no data of espeak-ng.
  espeak: { voice: 'en-en' },
  phoneme_id_map: { a: [1] },
  num_speakers: 1,
};

/** A hub with one Piper voice, of the size of a large one. */
async function hub(work) {
  const onnx = randomBytes(MODEL_BYTES);
  onnx[0] = 8;
  const files = new Map([
    ['a.onnx', onnx],
    ['a.onnx.json', Buffer.from(JSON.stringify(settings))],
  ]);
  const server = createServer(({ url }, response) => {
    const bytes = files.get(url.split('/').at(-1));
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const pin = (path) => {
    const bytes = files.get(path);
    return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  };
  const voice = {
    name: 'big',
    key: 'en_US-big-high',
    number: 200_001,
    from: 'piper',
    language: 'en-US',
    quality: 'high',
  };
  const terms = { licence: 'public domain', class: 'free', trained: 'scratch', sources: 1 };
  const catalogue = {
    repositories: { piper: { repo: 'a/b', commit: COMMIT }, espeak: { repo: 'a/b', commit: COMMIT } },
    espeak: { base: [], languages: { en: [] } },
    voices: [
      {
        ...voice,
        ...terms,
        sampleRate: 22_050,
        speakers: 1,
        espeak: [],
        files: ['a.onnx', 'a.onnx.json'].map(pin),
      },
    ],
  };
  const file = join(work, 'catalogue.json');
  writeFileSync(file, JSON.stringify(catalogue));
  return { server, url, file };
}

async function download({ tts, work, withoutService: { env } }) {
  const { server, url, file } = await hub(work);
  const data = join(work, 'voices');
  const own = { ...env, TTS_VOICES_CATALOGUE: file, HF_ENDPOINT: url, TTS_DATA_DIR: data };
  const target = join(work, 'model.bin');
  const curl = [
    'sh',
    '-c',
    `rm -f '${target}'; curl -s -o '${target}' '${url}/a.onnx' && sha256sum '${target}' >'${target}.sum'`,
  ];
  const { ratio } = await pairs(tts('voices', 'install', 'big', '--force', '-q'), curl, {
    rounds: 5,
    env: own,
  });
  server.close();
  rmSync(data, { recursive: true, force: true });
  rmSync(target, { force: true });
  return ratio;
}

/** Runs a command with stdout at /dev/null; Node's 'ignore' would look like a closed stdout. */
const quiet = (command) => ['sh', '-c', 'exec "$0" "$@" >/dev/null', ...command];

/** Milliseconds by which the first command takes longer than the second. */
async function added(first, second, env) {
  const { a, b } = await pairs(quiet(first), quiet(second), { rounds: 31, env });
  return a - b;
}

/** Installs a voice without a model, which a dry run does not need. */
function installed(data) {
  const folder = join(data, 'voices', 'tina');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const speakers = [{ name: 'tina', language: 'de-DE', sid: 0 }];
  const manifest = {
    format: 1,
    name: 'tina',
    key: 'tina',
    number: 200_001,
    language: 'de-DE',
    quality: 'own',
    sampleRate: 16_000,
  };
  writeFileSync(
    join(folder, 'voice.json'),
    JSON.stringify({
      ...manifest,
      voices: 1,
      speakers,
      licence: '',
      class: 'free',
      source: '',
      checked: 'sha256',
      files: [],
    }),
  );
  for (const name of ['model.onnx', 'tokens.txt']) writeFileSync(join(folder, name), '');
}

export const voicesRows = [
  {
    what: 'download and check of a voice of 200 MB from loopback / `curl -o` and `sha256sum`',
    unit: '×',
    digits: 2,
    most: { 20: 1.3 },
    measure: download,
  },
  {
    what: 'start of `tts voices`, more than that of `tts config`',
    unit: 'ms',
    digits: 1,
    most: { 20: 5 },
    measure: ({ tts, withoutService: { env } }) => added(tts('voices'), tts('config'), env),
  },
  {
    what: 'finding an installed voice, more than that of a program (`--dry-run`)',
    unit: 'ms',
    digits: 1,
    most: { 20: 5 },
    measure: async ({ tts, work, withoutService: { env } }) => {
      const data = join(work, 'found');
      installed(data);
      const own = { ...env, TTS_DATA_DIR: data };
      const config = join(work, 'engines.json');
      writeFileSync(config, JSON.stringify({ engines: { one: { command: ['true'], voices: ['anna'] } } }));
      const speak = (speaker) => tts('hello', '--dry-run', '--config', config, '-s', speaker);
      return added(speak('tina'), speak('one:anna'), own);
    },
  },
];
