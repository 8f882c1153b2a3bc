import { appendFileSync, constants, copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ModelSpeaker } from '../../engines/engine.ts';
import { modelIn, speakersOf } from '../../engines/model-families.ts';
import { type PiperConfig, readPiperConfig, tagOfEspeak, tokensOf } from '../../engines/model-metadata.ts';
import { ExitCode, TtsError, usageError } from '../../kit/error.ts';
import { espeakFiles, type OfferedVoice, type Repository } from './catalogue.ts';
import { addressIn, type Downloaded, hashOf } from './fetch.ts';
import { CARD, type Checked, type InstalledFile, installedVoices, type Manifest } from './manifest.ts';
import {
  espeakFolder,
  missingEspeak,
  nameInFolder,
  neededOf,
  pinnedLanguage,
  systemEspeak,
} from './runtime.ts';
import { copyInto, filesOf, makeStage, place, placeShared, publish, type Session } from './store.ts';

/** Names of the files of a voice of Piper in its folder. */
const MODEL = 'model.onnx';
export const SETTINGS = 'model.onnx.json';

/**
 * Reads the settings of a voice of Piper, which may be a stranger's.
 * @throws TtsError (service)
 */
export function piperSettings(text: string, name: string): PiperConfig {
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

/** Writes what sherpa-onnx needs of a raw voice of Piper: its model with metadata, and its symbols. */
export function writePiperModel(onnx: string, config: PiperConfig, folder: string): void {
  const model = join(folder, MODEL);
  copyFileSync(onnx, model, constants.COPYFILE_FICLONE);
  appendFileSync(model, metadataOf(config));
  writeFileSync(join(folder, 'tokens.txt'), tokensOf(config), { mode: 0o600 });
}

/** `metadata_props` is the repeated field 14 of a model, so that entries may follow at its end. */
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

/** A field of protocol buffers that begins with its length. */
function field(number: number, content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

/** Data of espeak-ng that voices share: only the languages that are needed, each file once. */
async function sharedEspeak(languages: readonly string[], session: Session): Promise<Manifest['espeak']> {
  const { catalogue, data } = session;
  const files = espeakFiles(catalogue, languages);
  if (files.length === 0) return undefined;
  const folder = espeakFolder(catalogue);
  for (const file of missingEspeak(catalogue, languages, data)) {
    const done = await session.download({
      ...file,
      name: `espeak-ng-data/${basename(file.path)}`,
      url: addressIn(session.hub, catalogue.repositories.espeak as Repository, file),
      most: file.size,
    });
    placeShared(done.path, join(data, folder, nameInFolder(file)));
    session.spend(done.path);
  }
  const installed: InstalledFile[] = [];
  for (const file of files) {
    const name = nameInFolder(file);
    const path = join(data, folder, name);
    const sha256 = file.sha256 ?? (await hashOf(path));
    installed.push({ name, size: statSync(path).size, sha256 });
  }
  return { folder, files: installed };
}

interface OwnData {
  /** The name of the voice in espeak-ng. */
  readonly voice: string;
  /** Its language in the catalogue, if it is there. */
  readonly language: string | undefined;
  readonly stage: string;
  /** A folder of espeak-ng's data that came with the voice. */
  readonly own?: string | undefined;
}

/**
 * Data for a voice that the catalogue does not know: the pinned ones if the hub gives them, otherwise a copy of those of the system.
 * @throws TtsError where there are none
 */
export async function ownEspeak(
  { voice, language, stage, own }: OwnData,
  session: Session,
): Promise<Manifest['espeak']> {
  const copy = (from: string) => {
    for (const name of neededOf(from, voice) ?? [])
      copyInto(join(from, name), join(stage, 'espeak-ng-data', name));
  };
  if (own !== undefined && neededOf(own, voice)) {
    copy(own);
    return undefined;
  }
  const isThere =
    language !== undefined && missingEspeak(session.catalogue, [language], session.data).length === 0;
  const system = isThere ? undefined : systemEspeak(voice);
  try {
    if (language !== undefined) return await sharedEspeak([language], session);
  } catch (error) {
    if (!(error instanceof TtsError) || system === undefined) throw error;
    session.context.notices.note(`${error.message}; the data of the espeak-ng of this system are used`);
  }
  if (system === undefined)
    throw usageError(
      `the voice needs data of espeak-ng for ${voice}, and there are none`,
      'install espeak-ng, or put its folder espeak-ng-data next to the model',
    );
  copy(system);
  return undefined;
}

/** The first number of voices that the catalogue does not number. */
const FIRST_OWN_NUMBER = 300_001;
const NUMBERS_PER_VOICE = 1000;

type Got = ReadonlyMap<string, Downloaded>;

function ending(got: Got, pattern: RegExp): Downloaded | undefined {
  return [...got].find(([path]) => pattern.test(path))?.[1];
}

export async function buildPiper(
  voice: OfferedVoice,
  got: Got,
  { repository, own }: { readonly repository: Repository; readonly own: string | undefined },
  session: Session,
): Promise<Manifest> {
  const [onnx, settings] = [ending(got, /\.onnx$/), ending(got, /\.onnx\.json$/)];
  if (!onnx || !settings) throw usageError(`${voice.key} has no model with settings`, 'choose another voice');
  const config = piperSettings(readFileSync(settings.path, 'utf8'), voice.key);
  const stage = makeStage(session.data);
  writePiperModel(onnx.path, config, stage);
  place(settings.path, join(stage, SETTINGS));
  const card = ending(got, /MODEL_CARD$/);
  if (card) place(card.path, join(stage, CARD));
  const language = pinnedLanguage(session.catalogue, config.espeakVoice);
  const espeak =
    voice.sources > 0 && language !== undefined && own === undefined
      ? await sharedEspeak([language], session)
      : await ownEspeak({ voice: config.espeakVoice, language, stage, own }, session);
  const original = { size: onnx.size, sha256: onnx.sha256 };
  const files = await filesOf(stage);
  const manifest: Manifest = {
    ...commonOf(voice, repository, session),
    ...piperFacts(voice.name, config),
    checked: weakest([...got.values()].map(({ checked }) => checked)),
    ...(espeak && { espeak }),
    files: files.map((file) => (file.name === MODEL ? { ...file, original } : file)),
  };
  await publish(stage, manifest, session.data);
  return manifest;
}

/** Speakers are called like their voice, since `-s 7150` would be a number. */
export function piperFacts(
  name: string,
  config: PiperConfig,
): Pick<Manifest, 'language' | 'sampleRate' | 'voices' | 'speakers' | 'scales'> {
  const { speakerCount, speakerNames, sampleRate, scales } = config;
  const language = config.language === 'und' ? tagOfEspeak(config.espeakVoice) : config.language;
  const speakers = Array.from({ length: speakerCount }, (_, sid) => ({
    name: speakerCount === 1 ? name : `${name}-${speakerNames.get(sid) ?? sid}`,
    language,
    sid,
  }));
  return { language, sampleRate, voices: speakerCount, speakers, scales };
}

export async function buildFolder(
  voice: OfferedVoice,
  got: Got,
  repository: Repository,
  session: Session,
): Promise<Manifest> {
  const stage = makeStage(session.data);
  for (const [path, { path: from }] of got)
    place(from, join(stage, basename(path) === 'LICENSE' ? CARD : basename(path)));
  const espeak = await sharedEspeak(voice.espeak, session);
  const data = espeak && join(session.data, espeak.folder);
  const model = modelIn(stage, voice.name, data);
  const manifest: Manifest = {
    ...commonOf(voice, repository, session),
    language: voice.language,
    sampleRate: voice.sampleRate,
    voices: voice.speakers,
    speakers: offeredSpeakers(voice, model),
    checked: weakest([...got.values()].map(({ checked }) => checked)),
    ...(espeak && { espeak }),
    files: await filesOf(stage),
  };
  await publish(stage, manifest, session.data);
  return manifest;
}

function offeredSpeakers(
  { name, speakers, speakerList, language }: OfferedVoice,
  model: ReturnType<typeof modelIn>,
): ModelSpeaker[] {
  const listed = speakerList ?? [];
  const count = Math.max(speakers, ...listed.map(({ sid }) => sid + 1));
  const voices: string[] = [];
  for (const { name: speaker, sid } of listed) voices[sid] = speaker;
  const said = model.family === 'kokoro' ? undefined : language;
  const all = speakersOf(model, { name, count, voices, language: said });
  return speakerList ? listed.flatMap(({ sid }) => all[sid] ?? []) : all;
}

function commonOf(voice: OfferedVoice, { repo, commit }: Repository, { data, context }: Session) {
  return {
    format: 1 as const,
    name: voice.name,
    key: voice.key,
    number: voice.number || nextNumber(installedVoices(data, context.host.uid), voice.name),
    quality: voice.quality,
    licence: voice.licence,
    class: voice.class,
    trained: voice.trained,
    source: `${repo}@${commit}`,
  };
}

/** A voice that is installed again keeps its number. */
export function nextNumber(installed: readonly Manifest[], name: string): number {
  const old = installed.find((voice) => voice.name === name);
  if (old) return old.number;
  const own = installed.filter(({ number }) => number >= FIRST_OWN_NUMBER);
  const blocks = own.map(
    ({ number, voices }) => number + NUMBERS_PER_VOICE * Math.max(1, Math.ceil(voices / NUMBERS_PER_VOICE)),
  );
  return Math.max(FIRST_OWN_NUMBER, ...blocks);
}

const STRENGTH: readonly Checked[] = ['not checked', 'md5', 'sha256 given', 'sha256'];

function weakest(all: readonly Checked[]): Checked {
  return STRENGTH.find((each) => all.includes(each)) ?? 'not checked';
}
