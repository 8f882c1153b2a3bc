import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { emptyFolder } from './folder.ts';
import { type StandInHub, sha256, standInHub } from './hub.ts';
import { piperSettings } from './piper-settings.ts';
import type { Sandbox } from './run.ts';
import {
  PIPER_SYMBOLS,
  rawTinyPiper,
  tinyInflect,
  tinyPocket,
  tinyPocketDecoder,
  tinyReference,
  tinyStyled,
  tinySupertonic,
  writeTinyVoice,
} from './tiny-voice.ts';

/** The folder of espeak-ng's data on this machine; `undefined` without espeak-ng. */
export const ESPEAK_DATA = [
  process.env.TTS_TEST_ESPEAK_DATA ?? '',
  '/usr/lib/x86_64-linux-gnu/espeak-ng-data',
  '/usr/share/espeak-ng-data',
].find((folder) => folder !== '' && existsSync(folder));

const CARD_TEXT = 'License: Public domain\n';

const COMMIT = 'c0ffee00c0ffee00';

/** The files of a voice with three speakers, which does not need espeak-ng. */
export function tinyFiles(entries?: Parameters<typeof writeTinyVoice>[1]): Record<string, Buffer> {
  const folder = writeTinyVoice(join(emptyFolder(), 'voice'), entries);
  return {
    'model.onnx': readFileSync(join(folder, 'model.onnx')),
    'tokens.txt': readFileSync(join(folder, 'tokens.txt')),
    LICENSE: Buffer.from(CARD_TEXT),
  };
}

/** The files of a Piper voice as Piper publishes it, without metadata and tokens.txt. */
export function piperFiles(changes: object = {}): Record<'onnx' | 'settings' | 'card', Buffer> {
  const phoneme_id_map = Object.fromEntries([...PIPER_SYMBOLS].map((each, id) => [each, [id]]));
  const settings = piperSettings({ phoneme_id_map, espeak: { voice: 'en-us' }, ...changes });
  return {
    onnx: rawTinyPiper(),
    settings: Buffer.from(
      JSON.stringify({ ...settings, language: { code: 'en_US', name_english: 'English' } }),
    ),
    card: Buffer.from(CARD_TEXT),
  };
}

/** The files of a voice of realistic size: an unknown field of this many bytes is added to the model. */
export function largeFiles(bytes: number, sampleRate: number): Record<string, Buffer> {
  const files = tinyFiles({ sample_rate: String(sampleRate) });
  const model = files['model.onnx'] ?? Buffer.alloc(0);
  const field = [varint((1000 << 3) | 2), varint(bytes), Buffer.alloc(bytes)];
  return { ...files, 'model.onnx': Buffer.concat([model, ...field]) };
}

/** Encodes a number as a varint of Protocol Buffers. */
function varint(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

export interface StandIn {
  readonly hub: StandInHub;
  readonly env: Record<string, string>;
}

/** Starts a hub with two tiny voices (`tina`, and `pia` of Piper) and a catalogue of them. */
export async function standIn(
  box: Sandbox,
  changes: object = {},
  { repo = 'tiny/voices', files: own = tinyFiles() }: { repo?: string; files?: Record<string, Buffer> } = {},
): Promise<StandIn> {
  const files: Record<string, Buffer> = {};
  const pin = (repo: string, path: string, bytes: Buffer) => {
    files[repo === '' ? `releases/download/${path}` : `${repo}/resolve/${COMMIT}/${path}`] = bytes;
    return { path, size: bytes.length, sha256: sha256(bytes) };
  };
  const tina = Object.entries(own).map(([name, bytes]) => pin(repo, name, bytes));
  const further = await furtherVoices((repo, path, bytes) => pin(repo, path, bytes));
  const { onnx, settings, card } = piperFiles();
  const key = 'en_US-pia-medium';
  const at = 'en/en_US/pia/medium';
  const pia = [
    pin('tiny/piper', `${at}/${key}.onnx`, onnx),
    pin('tiny/piper', `${at}/${key}.onnx.json`, settings),
    pin('tiny/piper', `${at}/MODEL_CARD`, card),
  ];
  const espeak = espeakPins((path, bytes) => pin('tiny/espeak', path, bytes));
  const voice = {
    quality: 'medium',
    sampleRate: 16_000,
    licence: 'public domain',
    class: 'free',
    trained: 'scratch',
    sources: 1,
  };
  const catalogue = {
    repositories: {
      piper: { repo: 'tiny/piper', commit: COMMIT },
      tiny: { repo, commit: COMMIT },
      other: { repo: 'other/voices', commit: COMMIT },
      espeak: { repo: 'tiny/espeak', commit: COMMIT },
    },
    espeak,
    voices: [
      {
        ...voice,
        name: 'tina',
        key: 'tiny-tina',
        number: 200_001,
        from: 'tiny',
        language: 'de-DE',
        speakers: 3,
        espeak: [],
        files: tina,
        ...changes,
      },
      {
        ...voice,
        name: 'pia',
        key,
        number: 201_001,
        from: 'piper',
        language: 'en-US',
        speakers: 1,
        espeak: ['en'],
        files: pia,
      },
      ...further.map((each, at) => ({ ...voice, number: 202_001 + 1000 * at, espeak: [], ...each })),
    ],
  };
  const hub = await standInHub(files);
  Object.assign(catalogue.repositories, { releases: { releases: `${hub.url}/releases/download` } });
  box.file('catalogue.json', JSON.stringify(catalogue));
  return { hub, env: { TTS_VOICES_CATALOGUE: box.path('catalogue.json'), HF_ENDPOINT: hub.url } };
}

type Pin = (repo: string, path: string, bytes: Buffer) => object;

/** Voices of the other kinds, packaged as their makers do: in release archives, or as files of several repositories. */
async function furtherVoices(pin: Pin): Promise<readonly object[]> {
  const archived = async (key: string, files: Readonly<Record<string, Buffer>>) => {
    const bytes = await archiveOf(key, { ...files, ...espeakFiles() });
    return [pin('', `${key}.tar.gz`, bytes)];
  };
  const all = (repo: string, files: Readonly<Record<string, Buffer>>) =>
    Object.entries(files).map(([path, bytes]) => pin(repo, path, bytes));
  const kitten = tinyStyled('kitten', 'expr-voice-2-m,expr-voice-2-f');
  const releases = { from: 'releases', language: 'en-US', sampleRate: 24_000 };
  const reference = tinyReference(0.5);
  return [
    {
      ...{ ...releases, name: 'ina', key: 'vits-ina', speakers: 1, gender: 'man' },
      files: await archived('vits-ina', tinyInflect()),
    },
    {
      ...{ ...releases, name: 'kit', key: 'kitten-kit', speakers: 2, speed: 1.6 },
      files: await archived('kitten-kit', kitten),
    },
    {
      ...{ name: 'sup', key: 'supertonic-sup', from: 'tiny', speakers: 10, sampleRate: 44_100 },
      ...{ language: 'en', languages: ['en', 'ko', 'ja', 'de'] },
      ...{ class: 'limits of use', licence: 'OpenRAIL-M' },
      files: [
        ...all('tiny/voices', tinySupertonic()),
        { ...pin('other/voices', 'LICENSE', Buffer.from('Use it for good.\n')), from: 'other' },
      ],
    },
    {
      ...{ name: 'poc', key: 'pocket-poc', from: 'tiny', speakers: 2, sampleRate: 24_000, language: 'en' },
      speakerList: [{ name: 'mary', sid: 0, gender: 'woman' }],
      files: [
        ...all('tiny/voices', tinyPocket()),
        { ...pin('other/voices', 'decoder.onnx', tinyPocketDecoder()), from: 'other' },
        { ...pin('other/voices', 'vctk/p333.wav', reference), from: 'other', as: 'mary.wav' },
        { ...pin('other/voices', 'zero/bill.wav', reference), from: 'other', as: 'bill.wav' },
      ],
    },
  ];
}

/** Makes a .tar.gz with a single folder, like those of releases. */
export async function archiveOf(folder: string, files: Readonly<Record<string, Buffer>>): Promise<Buffer> {
  const archive = pack();
  for (const [name, bytes] of Object.entries(files)) archive.entry({ name: `${folder}/${name}` }, bytes);
  archive.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of archive) pieces.push(piece as Buffer);
  return gzipSync(Buffer.concat(pieces));
}

/** The files of espeak-ng's data in an archive, more than its voice needs. */
function espeakFiles(): Record<string, Buffer> {
  if (!ESPEAK_DATA) return {};
  const folder = ESPEAK_DATA;
  const names = [
    'phontab',
    'phonindex',
    'phondata',
    'intonations',
    'en_dict',
    'lang/gmw/en',
    'lang/gmw/en-US',
  ];
  const read = [...names, 'de_dict'].filter((name) => existsSync(join(folder, name)));
  return Object.fromEntries(read.map((name) => [`espeak-ng-data/${name}`, readFileSync(join(folder, name))]));
}

/** Adds a voice that is in the list of the hub, but not in the catalogue. */
export function listOnHub(
  { hub }: StandIn,
  key: string,
  card: string,
  { name = 'joe', ...settings }: { name?: string; [setting: string]: unknown } = {},
): void {
  const files = { ...piperFiles(settings), card: Buffer.from(card) };
  const at = `en/en_US/joe/medium`;
  const listed: Record<string, object> = {};
  for (const [path, bytes] of [
    [`${at}/${key}.onnx`, files.onnx],
    [`${at}/${key}.onnx.json`, files.settings],
    [`${at}/MODEL_CARD`, files.card],
  ] as const) {
    hub.files.set(`tiny/piper/resolve/${COMMIT}/${path}`, bytes);
    const md5_digest = createHash('md5').update(bytes).digest('hex');
    listed[path] = { size_bytes: bytes.length, md5_digest };
  }
  const voice = {
    key,
    name,
    quality: 'medium',
    num_speakers: 1,
    language: { code: 'en_US' },
    files: listed,
  };
  hub.files.set(`tiny/piper/resolve/${COMMIT}/voices.json`, Buffer.from(JSON.stringify({ [key]: voice })));
}

function espeakPins(pin: (path: string, bytes: Buffer) => object): object {
  if (!ESPEAK_DATA) return { licence: 'GPL', base: [], languages: {} };
  const folder = ESPEAK_DATA;
  const read = (name: string) => pin(`espeak-ng-data/${name}`, readFileSync(join(folder, name)));
  const inLanguages = readdirSync(join(folder, 'lang', 'gmw')).filter((name) => /^en(-US)?$/.test(name));
  return {
    licence: 'GPL',
    base: ['phontab', 'phonindex', 'phondata', 'intonations'].map(read),
    languages: { en: [read('en_dict'), ...inLanguages.map((name) => read(join('lang', 'gmw', name)))] },
  };
}
