import { hash } from 'node:crypto';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { codeOf } from '../../error.ts';
import { EngineError } from '../contract.ts';
import { ends, mentions } from './metadata.ts';

export interface Model {
  readonly family: string;
  /** Paths by keys of `OfflineTtsModelConfig`; `settings` is the `.onnx.json` of Piper. */
  readonly files: Readonly<Record<string, string>>;
  /** WAV files of Pocket's voices; other voices have numbers. */
  readonly references: readonly string[];
}

interface Family {
  readonly name: string;
  readonly needs: Readonly<Record<string, RegExp>>;
  readonly mayHave?: Readonly<Record<string, RegExp>>;
  /** The metadata of the model has this word, where families share file names. */
  readonly word?: string;
}

const TOKENS = /^tokens\.txt$/;
const ESPEAK = /^espeak-ng-data$/;
const MODEL = /^model.*\.onnx$/;

/**
 * The names are those of sherpa-onnx's releases (https://github.com/k2-fsa/sherpa-onnx/releases/tag/tts-models). The first
 * match counts.
 */
const FAMILIES: readonly Family[] = [
  {
    name: 'pocket',
    needs: {
      lmFlow: /^lm_flow.*\.onnx$/,
      lmMain: /^lm_main.*\.onnx$/,
      encoder: /^encoder.*\.onnx$/,
      decoder: /^decoder.*\.onnx$/,
      textConditioner: /^text_conditioner.*\.onnx$/,
      vocabJson: /^vocab\.json$/,
      tokenScoresJson: /^token_scores\.json$/,
    },
  },
  {
    name: 'supertonic',
    needs: {
      durationPredictor: /^duration_predictor.*\.onnx$/,
      textEncoder: /^text_encoder.*\.onnx$/,
      vectorEstimator: /^vector_estimator.*\.onnx$/,
      vocoder: /^vocoder.*\.onnx$/,
      ttsJson: /^tts\.json$/,
      unicodeIndexer: /^unicode_indexer\.(?:bin|json)$/,
      voiceStyle: /^voice.*\.(?:bin|json)$/,
    },
  },
  {
    name: 'matcha',
    needs: { acousticModel: /^model-steps.*\.onnx$/, vocoder: /^(?:vocos|hifigan).*\.onnx$/, tokens: TOKENS },
    mayHave: { dataDir: ESPEAK, lexicon: /^lexicon\.txt$/ },
  },
  {
    name: 'kitten',
    word: 'kitten',
    needs: { model: MODEL, voices: /^voices\.bin$/, tokens: TOKENS, dataDir: ESPEAK },
  },
  {
    name: 'kokoro',
    needs: { model: MODEL, voices: /^voices\.bin$/, tokens: TOKENS, dataDir: ESPEAK },
    mayHave: { lexicon: /^lexicon-.*\.txt$/ },
  },
  {
    name: 'vits',
    needs: { model: /\.onnx$/, tokens: TOKENS },
    mayHave: { dataDir: ESPEAK, lexicon: /^lexicon\.txt$/, settings: /\.onnx\.json$/ },
  },
];

/**
 * Looks at names only.
 * @param espeakData the folder of espeak-ng's data, where it is not in that of the model
 * @throws EngineError that names the missing files
 */
export function modelIn(folder: string, name: string, espeakData?: string): Model {
  const names = namesIn(folder, name);
  const model = FAMILIES.map((family) => filled(family, { folder, names, espeakData })).find(
    (each) => each !== undefined,
  );
  if (!model) throw missing(name, nearest(names));
  if (model.family === 'vits' && !model.files.dataDir && mentions(model.files.model ?? '', 'espeak'))
    throw missing(name, ['espeak-ng-data']);
  return model.family === 'pocket' ? { ...model, references: wavsIn(folder) } : model;
}

function namesIn(folder: string, name: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (cause) {
    throw new EngineError('failed', `${name}: there is no folder ${folder} (${codeOf(cause)})`);
  }
}

interface Contents {
  readonly folder: string;
  readonly names: readonly string[];
  readonly espeakData: string | undefined;
}

function filled(family: Family, contents: Contents): Model | undefined {
  const { folder, espeakData } = contents;
  const files = filesOf(family, contents);
  if (!files) return undefined;
  const { dataDir, ...others } = files;
  if (dataDir !== undefined && dataDir !== espeakData) assertOwnFolder(dataDir, folder);
  for (const file of Object.values(others).flatMap((each) => each.split(','))) assertOwn(file, folder, false);
  const { word, name } = family;
  const isMeant = word === undefined || folder.includes(word) || mentions(files.model ?? '', word);
  return isMeant ? { family: name, files, references: [] } : undefined;
}

/** @returns `undefined` if a file is missing */
function filesOf(
  { needs, mayHave = {} }: Family,
  { folder, names, espeakData }: Contents,
): Record<string, string> | undefined {
  const files: Record<string, string> = {};
  for (const [key, pattern] of Object.entries({ ...needs, ...mayHave })) {
    const found = names.filter((each) => pattern.test(each)).map((each) => join(folder, each));
    if (key === 'dataDir' && espeakData !== undefined) files[key] = espeakData;
    else if (found.length > 0) files[key] = key === 'lexicon' ? found.join(',') : (found[0] ?? '');
    else if (key in needs) return undefined;
  }
  return files;
}

/**
 * A link that leads out of the folder would show what lies there, and a pipe would never end.
 * @throws EngineError
 */
export function assertOwn(file: string, folder: string, isFolder: boolean): void {
  const refuse = (what: string) =>
    new EngineError('failed', `${basename(folder)}: ${basename(file)} ${what}`);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || !realpathSync(file).startsWith(`${realpathSync(folder)}${sep}`))
    throw refuse('is a link that leads out of the folder of the model');
  if (isFolder ? !stats.isDirectory() : !stats.isFile())
    throw refuse(`is not a ${isFolder ? 'folder' : 'regular file'}`);
}

/**
 * Looks at all that lies in it: espeak-ng opens files of many names.
 * @throws EngineError
 */
export function assertOwnFolder(path: string, folder: string): void {
  assertOwn(path, folder, true);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const within = join(path, entry.name);
    if (entry.isDirectory()) assertOwnFolder(within, folder);
    else if (!entry.isFile()) assertOwn(within, folder, false);
  }
}

function nearest(names: readonly string[]): string[] {
  const lacks = FAMILIES.map(({ needs }) => {
    const patterns = Object.values(needs);
    const lacking = patterns.filter((pattern) => !names.some((name) => pattern.test(name)));
    return { lacking, distance: 2 * lacking.length - patterns.length };
  });
  const [first] = lacks.sort((a, b) => a.distance - b.distance);
  return first?.lacking.map((pattern) => globOf(pattern)) ?? [];
}

/** Writes `model*.onnx` for `/^model.*\.onnx$/`, and `{a,b}` for `(?:a|b)`. */
function globOf({ source }: RegExp): string {
  return source
    .replace(/^\^|\$$/g, '')
    .replaceAll('.*', '*')
    .replaceAll('\\', '')
    .replace(/\(\?:(.*?)\)/g, (_, names: string) => `{${names.replaceAll('|', ',')}}`)
    .replace(/^\.onnx/, '*.onnx');
}

function missing(name: string, files: readonly string[]): EngineError {
  return new EngineError(
    'failed',
    `${name} is not a model that can be loaded: ${files.join(', ')} ${files.length === 1 ? 'is' : 'are'} missing in its folder`,
  );
}

function wavsIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => name.endsWith('.wav')).map((name) => join(folder, name));
  for (const file of files) assertOwn(file, folder, false);
  return files;
}

const HASHED_BYTES = 1024 * 1024;

export function modelIdentity({ family, files, references }: Model): string {
  const parts = [...Object.values(files).flatMap((file) => file.split(',')), ...references].map((file) => {
    const stats = statSync(file);
    if (!stats.isFile()) return `${file} ${stats.mtimeMs}`;
    const { first, last } = ends(file, HASHED_BYTES);
    return `${file} ${stats.size} ${stats.mtimeMs} ${hash('sha256', Buffer.concat([first, last]))}`;
  });
  return `model ${family} ${hash('sha256', parts.join('\n'))}`;
}
