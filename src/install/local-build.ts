import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { configOf } from '../engine/model/config.ts';
import { assertOwn, assertOwnFolder, type Model, modelIn } from '../engine/model/families.ts';
import { ProcessKeeper } from '../engine/model/keeper.ts';
import { LONGEST_CONFIG } from '../engine/model/piper-config.ts';
import { piperOf, speakersOf } from '../engine/model/speakers.ts';
import { usageError } from '../error.ts';
import type { Manifest } from '../installed/manifest.ts';
import { runtimesIn } from '../installed/runtimes.ts';
import { piperFacts } from './build.ts';
import { pinnedLanguage } from './espeak.ts';
import { assertSelfContained } from './external-data.ts';
import { failure } from './fetch/answer.ts';
import { piperSettings, SETTINGS, writePiperModel } from './piper.ts';
import type { Session } from './session.ts';
import { copyInto } from './store.ts';
import { ownEspeak } from './voice-espeak.ts';

type Built = Pick<Manifest, 'language' | 'sampleRate' | 'voices' | 'speakers'> &
  Partial<Pick<Manifest, 'scales' | 'espeak'>>;

interface Raw {
  readonly onnx: string;
  readonly settings: string;
  readonly name: string;
  readonly stage: string;
  /** Nothing outside of it is read over a link. */
  readonly folder: string;
}

/**
 * Builds a raw voice of Piper.
 * @throws TtsError
 */
export async function buildRaw(
  { onnx, settings, name, stage, folder }: Raw,
  session: Session,
): Promise<Built> {
  const own = join(dirname(onnx), 'espeak-ng-data');
  inWords(() => {
    for (const file of [onnx, settings]) assertOwn(file, folder, false);
    if (existsSync(own)) assertOwnFolder(own, folder);
  });
  if (statSync(settings).size > LONGEST_CONFIG)
    throw usageError(`${basename(settings)} is too long for the settings of a voice`, 'name the right file');
  const config = piperSettings(readFileSync(settings, 'utf8'), name);
  writePiperModel(onnx, config, stage);
  copyInto(settings, join(stage, SETTINGS));
  const language = pinnedLanguage(session.catalogue, config.espeakVoice);
  const espeak = await ownEspeak({ voice: config.espeakVoice, language, stage, own }, session);
  const facts = piperFacts(name, config);
  await loaded(modelIn(stage, name, espeak && join(session.data, espeak.folder)), name, session);
  return { ...facts, ...(espeak && { espeak }) };
}

interface Folder {
  readonly folder: string;
  readonly name: string;
  readonly stage: string;
  readonly language: string | undefined;
}

/** Copies only the files that a model of its family has. */
export async function buildModel(
  { folder, name, stage, language }: Folder,
  session: Session,
): Promise<Built> {
  const model = modelOf(folder, name);
  const { dataDir, ...files } = model.files;
  for (const file of [...Object.values(files).flatMap((all) => all.split(',')), ...model.references])
    copyInto(file, join(stage, file.slice(folder.length + 1)));
  for (const file of dataDir === undefined ? [] : readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
    if (statSync(join(dataDir ?? '', file)).isFile())
      copyInto(join(dataDir ?? '', file), join(stage, 'espeak-ng-data', file));
  const own = modelOf(stage, name);
  const { sampleRate, voices } = await loaded(own, name, session);
  const found = speakersOf(own, { name, count: voices, language });
  // A WAV of Pocket counts from the folder of the voice, which is not here yet.
  const speakers = found.map(({ reference, ...speaker }) => ({
    ...speaker,
    ...(reference !== undefined && { reference: reference.slice(stage.length + 1) }),
  }));
  const scales = piperOf(own)?.scales;
  return {
    language: speakers[0]?.language ?? 'und',
    sampleRate,
    voices,
    speakers,
    ...(scales && { scales }),
  };
}

function modelOf(folder: string, name: string): Model {
  return inWords(() => modelIn(folder, name));
}

function inWords<T>(look: () => T): T {
  try {
    return look();
  } catch (cause) {
    throw usageError(
      (cause as Error).message,
      'name the folder of a model of sherpa-onnx, or of a voice of Piper',
      cause,
    );
  }
}

/** The model is loaded before it counts, in a process of its own: it is a stranger's. */
async function loaded(model: Model, name: string, { data, context: { host } }: Session) {
  for (const file of Object.values(model.files)) if (file.endsWith('.onnx')) await assertSelfContained(file);
  const accent = model.family === 'kokoro' ? 'us' : undefined;
  const keeper = new ProcessKeeper({
    name,
    env: host.env,
    execPath: host.execPath,
    cwd: data,
    runtimes: runtimesIn(data, host.uid),
    config: configOf(model, { cwd: data, scales: undefined, accent }),
  });
  try {
    return await keeper.open();
  } catch (cause) {
    throw failure(
      (cause as Error).message,
      'the files of the voice are damaged, or are not those of a voice',
    );
  } finally {
    await keeper.close();
  }
}
