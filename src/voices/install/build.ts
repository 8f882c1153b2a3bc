/** Builds the folder and the manifest of a voice from its files. */

import type { Hash } from 'node:crypto';
import {
  appendFileSync,
  constants,
  copyFileSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { ModelSpeaker } from '../../engines/engine.ts';
import { type Model, modelIn, speakersOf } from '../../engines/model-families.ts';
import {
  LONGEST_CONFIG,
  type PiperConfig,
  readPiperConfig,
  tagOfEspeak,
  tokensOf,
} from '../../engines/model-metadata.ts';
import { ExitCode, TtsError, usageError } from '../../kit/error.ts';
import { isArchive, unpack } from './archive.ts';
import { NUMBERS_PER_VOICE, type OfferedVoice, repositoryOf } from './catalogue.ts';
import { ESPEAK_DATA, neededOf, ownEspeak, pinnedLanguage, sharedEspeak } from './espeak.ts';
import { type Downloaded, failure, sourceOf } from './fetch.ts';
import { CARD, type Checked, installedVoices, type Manifest } from './manifest.ts';
import type { Session } from './session.ts';
import { copyInto, makeStage, place, publish } from './store.ts';

/** Names of the files of a voice of Piper in its folder. */
const MODEL = 'model.onnx';
const SETTINGS = 'model.onnx.json';

/**
 * Reads the settings of a voice of Piper, which are untrusted.
 * @throws TtsError (service)
 */
function piperSettings(text: string, name: string): PiperConfig {
  try {
    return readPiperConfig(text);
  } catch (cause) {
    throw new TtsError(`${name} cannot be used: ${(cause as Error).message}`, {
      exitCode: ExitCode.service,
      hint: 'choose another voice: tts voices lists those that are known to work',
      cause,
    });
  }
}

/** Writes a raw voice of Piper as sherpa-onnx needs it: the model with metadata, and the symbols. */
function writePiperModel(onnx: string, config: PiperConfig, folder: string, hash?: Hash): void {
  const model = join(folder, MODEL);
  const metadata = metadataOf(config);
  copyFileSync(onnx, model, constants.COPYFILE_FICLONE);
  appendFileSync(model, metadata);
  hash?.update(metadata);
  writeFileSync(join(folder, 'tokens.txt'), tokensOf(config), { mode: 0o600 });
}

/** Returns entries of `metadata_props`, the repeated field 14 of a model, which can be appended to the file. */
function metadataOf({ languageName, espeakVoice, speakerCount, sampleRate }: PiperConfig): Buffer {
  const entries = {
    model_type: 'vits',
    comment: 'piper',
    language: languageName,
    voice: espeakVoice,
    version: 1,
    has_espeak: 1,
    has_g2pw: 0,
    n_speakers: speakerCount,
    sample_rate: sampleRate,
  };
  return Buffer.concat(
    Object.entries(entries).map(([key, value]) =>
      field(14, Buffer.concat([field(1, key), field(2, String(value))])),
    ),
  );
}

/** Returns a length-delimited field of Protocol Buffers. */
function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

/** The first number for voices that have none in the catalogue; each gets a block of numbers. */
const FIRST_OWN_NUMBER = 300_001;

type DownloadedFiles = ReadonlyMap<string, Downloaded>;

function ending(got: DownloadedFiles, pattern: RegExp): Downloaded | undefined {
  return [...got].find(([path]) => pattern.test(path))?.[1];
}

export async function buildPiper(
  voice: OfferedVoice,
  got: DownloadedFiles,
  own: string | undefined,
  session: Session,
): Promise<Manifest> {
  const [onnx, settings] = [ending(got, /\.onnx$/), ending(got, /\.onnx\.json$/)];
  if (!onnx || !settings) throw usageError(`${voice.key} has no model with settings`, 'choose another voice');
  const stage = makeStage(session.data);
  const { name, key, sources } = voice;
  const files = { onnx: onnx.path, settings: settings.path };
  const isPinned = sources > 0 && own === undefined;
  const hash = onnx.hash.copy();
  const facts = await placePiper({ ...files, hash, name, key, stage, own, isPinned }, session);
  const card = ending(got, /MODEL_CARD$/);
  if (card) place(card.path, join(stage, CARD));
  const model = {
    name: MODEL,
    size: statSync(join(stage, MODEL)).size,
    sha256: hash.digest('hex'),
    original: { size: onnx.size, sha256: onnx.sha256 },
  };
  return publish(stage, { ...commonOf(voice, got, session), ...facts }, session.data, [model]);
}

export interface RawVoice {
  readonly onnx: string;
  /** The hash of `onnx`, which is continued with what is appended to the model. */
  readonly hash?: Hash;
  readonly settings: string;
  readonly name: string;
  /** The name in messages; by default `name`. */
  readonly key?: string;
  readonly stage: string;
  /** The tag of what the voice speaks, if its settings do not tell it. */
  readonly language?: string | undefined;
  /** A folder that may have data of espeak-ng. */
  readonly own: string | undefined;
  /** True if data of espeak-ng come from the catalogue only, if it has them. */
  readonly isPinned?: boolean;
}

/**
 * Puts a raw voice of Piper into its folder, with everything that sherpa-onnx needs.
 * @throws TtsError
 */
export async function placePiper(
  { onnx, hash, settings, name, key = name, stage, language, own, isPinned = false }: RawVoice,
  session: Session,
): Promise<Built> {
  const config = piperSettings(readFileSync(settings, 'utf8'), key);
  writePiperModel(onnx, config, stage, hash);
  copyInto(settings, join(stage, SETTINGS));
  const pinned = pinnedLanguage(session.catalogue, config.espeakVoice);
  const espeak =
    isPinned && pinned !== undefined
      ? await sharedEspeak([pinned], session)
      : await ownEspeak({ voice: config.espeakVoice, language: pinned, stage, own }, session);
  return { ...piperFacts(name, config, language), ...(espeak && { espeak }) };
}

/** The part of a manifest that describes the model. */
export type Built = Pick<Manifest, 'language' | 'sampleRate' | 'voices' | 'speakers'> &
  Partial<Pick<Manifest, 'scales' | 'espeak'>>;

/** Names of speakers begin with that of their voice, since `-s 7150` would be a number. */
function piperFacts(name: string, config: PiperConfig, said: string | undefined): Built {
  const { speakerCount, speakerNames, sampleRate, scales } = config;
  const language = said ?? (config.language === 'und' ? tagOfEspeak(config.espeakVoice) : config.language);
  const speakers = Array.from({ length: speakerCount }, (_, sid) => ({
    name: speakerCount === 1 ? name : `${name}-${speakerNames.get(sid) ?? sid}`,
    language,
    sid,
  }));
  return { language, sampleRate, voices: speakerCount, speakers, scales };
}

export async function buildFolder(
  voice: OfferedVoice,
  got: DownloadedFiles,
  session: Session,
): Promise<Manifest> {
  const stage = makeStage(session.data);
  const archives: string[] = [];
  for (const file of voice.files) {
    const { path, sha256 } = got.get(file.path) as Downloaded;
    const name = file.as ?? basename(file.path);
    if (isArchive(name)) {
      await placeUnpacked(path, name, { voice, stage }, session);
      archives.push(sha256);
    } else place(path, join(stage, name === 'LICENSE' ? CARD : name));
  }
  const espeak = await sharedEspeak(voice.espeak, session);
  const data = espeak && join(session.data, espeak.folder);
  const model = modelIn(stage, voice.name, data);
  const about = {
    ...commonOf(voice, got, session),
    ...(archives.length > 0 && { archives }),
    language: voice.language,
    sampleRate: voice.sampleRate,
    voices: voice.speakers,
    speakers: offeredSpeakers(voice, model),
    ...(espeak && { espeak }),
  };
  return publish(stage, about, session.data);
}

/**
 * Places the files of an archive that its model needs, and of its espeak-ng data those for the language of the voice.
 * @throws TtsError (usage) for an archive that holds no model
 */
async function placeUnpacked(
  archive: string,
  name: string,
  { voice, stage }: { readonly voice: OfferedVoice; readonly stage: string },
  session: Session,
): Promise<void> {
  const folder = await unpackedFolder(archive, name, session);
  const { files, references } = modelInArchive(folder, name);
  const { dataDir, ...others } = files;
  const all = [...Object.values(others).flatMap((each) => each.split(',')), ...references];
  for (const file of all) place(file, join(stage, basename(file)));
  const card = cardIn(folder);
  if (card !== undefined) place(card, join(stage, CARD));
  if (dataDir === undefined) return;
  const needed = neededOf(dataDir, voice.language);
  if (!needed)
    throw failure(
      `${name} has no data of espeak-ng for ${voice.language}`,
      'choose another voice: tts voices lists them',
    );
  for (const file of needed) place(join(dataDir, file), join(stage, ESPEAK_DATA, file));
}

function modelInArchive(folder: string, name: string): Model {
  try {
    return modelIn(folder, name);
  } catch (cause) {
    throw failure((cause as Error).message, 'choose another voice: tts voices lists them');
  }
}

/** @returns the unpacked folder, or the folder that is alone in it */
export async function unpackedFolder(archive: string, name: string, session: Session): Promise<string> {
  const folder = makeStage(session.data);
  await unpack(archive, folder, session.context.signal, name);
  const [only = '', ...others] = readdirSync(folder);
  const isWrapped = others.length === 0 && statSync(join(folder, only)).isDirectory();
  return isWrapped ? join(folder, only) : folder;
}

/** Returns the path of the card or licence in a folder. Ignores a link, which may lead anywhere. */
export function cardIn(folder: string): string | undefined {
  const name = readdirSync(folder).find((each) =>
    /^(model_card|licen[cs]e|readme)(\.md|\.txt)?$/i.test(each),
  );
  const path = name && join(folder, name);
  const stats = path === undefined ? undefined : lstatSync(path);
  return stats?.isFile() && stats.size <= LONGEST_CONFIG ? path : undefined;
}

function offeredSpeakers(
  { name, speakers, speakerList, language, languages, speed, gender }: OfferedVoice,
  model: Model,
): ModelSpeaker[] {
  const listed = speakerList ?? [];
  const count = Math.max(speakers, ...listed.map(({ sid }) => sid + 1));
  const voices: string[] = [];
  for (const { name: speaker, sid } of listed) voices[sid] = speaker;
  const said = model.family === 'kokoro' ? undefined : language;
  const all = speakersOf(model, { name, count, voices, language: said, languages });
  const offered =
    speakerList && model.references.length === 0 ? listed.flatMap(({ sid }) => all[sid] ?? []) : all;
  return offered.map((speaker) => {
    const known = listed.find((each) => each.name === speaker.name)?.gender ?? speaker.gender;
    const own = known ?? (typeof gender === 'string' ? gender : undefined);
    return {
      ...speaker,
      ...(own && { gender: own }),
      ...(speed !== undefined && { speed }),
    };
  });
}

function commonOf(voice: OfferedVoice, got: DownloadedFiles, session: Session) {
  const { data, context } = session;
  return {
    format: 1 as const,
    name: voice.name,
    key: voice.key,
    number: voice.number || nextNumber(installedVoices(data, context.host.uid), voice.name),
    quality: voice.quality,
    licence: voice.licence,
    class: voice.class,
    trained: voice.trained,
    source: sourceOf(repositoryOf(voice.from, session)),
    checked: weakest([...got.values()].map(({ checked }) => checked)),
  };
}

/** Returns a free number; a voice that is installed again keeps its own. */
export function nextNumber(installed: readonly Manifest[], name: string): number {
  const old = installed.find((voice) => voice.name === name);
  if (old) return old.number;
  const own = installed.filter(({ number }) => number >= FIRST_OWN_NUMBER);
  const blocks = own.map(
    ({ number, voices }) => number + NUMBERS_PER_VOICE * Math.max(1, Math.ceil(voices / NUMBERS_PER_VOICE)),
  );
  return Math.max(FIRST_OWN_NUMBER, ...blocks);
}

/** All checks, the weakest first. */
const STRENGTH: readonly Checked[] = ['not checked', 'md5', 'sha256 given', 'sha256'];

function weakest(all: readonly Checked[]): Checked {
  return STRENGTH.find((each) => all.includes(each)) ?? 'not checked';
}
