import { appendFileSync, constants, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ModelSpeaker } from '../../engines/engine.ts';
import { modelIn, speakersOf } from '../../engines/model-families.ts';
import { type PiperConfig, readPiperConfig, tagOfEspeak, tokensOf } from '../../engines/model-metadata.ts';
import { ExitCode, TtsError, usageError } from '../../kit/error.ts';
import type { OfferedVoice, Repository } from './catalogue.ts';
import { ownEspeak, pinnedLanguage, sharedEspeak } from './espeak.ts';
import type { Downloaded } from './fetch.ts';
import { CARD, type Checked, installedVoices, type Manifest } from './manifest.ts';
import type { Session } from './session.ts';
import { filesOf, makeStage, place, publish } from './store.ts';

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
