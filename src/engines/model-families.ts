import { hash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { codeOf } from '../kit/error.ts';
import { EngineError, type Gender, type ModelSpeaker, offsetOf, type Scales } from './engine.ts';
import {
  ends,
  LONGEST_CONFIG,
  mentions,
  metadataOf,
  type PiperConfig,
  readPiperConfig,
  tagOfEspeak,
} from './model-metadata.ts';

export interface Model {
  readonly family: string;
  /** Paths by keys of `OfflineTtsModelConfig`; `settings` is the `.onnx.json` of Piper. */
  readonly files: Readonly<Record<string, string>>;
  /** WAV files of Pocket's voices; other voices have numbers. */
  readonly references: readonly string[];
  readonly numbers?: Family['numbers'];
}

interface Family {
  readonly name: string;
  readonly needs: Readonly<Record<string, RegExp>>;
  readonly mayHave?: Readonly<Record<string, RegExp>>;
  /** The metadata of the model has this word, where families share file names. */
  readonly word?: string;
  /** It is given its numbers in words, since it has no reader of numbers of its own. */
  readonly numbers?: 'words' | undefined;
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
    numbers: 'words',
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
    numbers: 'words',
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
    numbers: 'words',
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
  const { word, name, numbers } = family;
  const isMeant = word === undefined || folder.includes(word) || mentions(files.model ?? '', word);
  return isMeant ? { family: name, files, references: [], numbers } : undefined;
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

/** The examples of sherpa-onnx have this number. */
const STEPS = 5;

interface ModelSettings {
  /** The folder from which paths count. */
  readonly cwd: string;
  readonly scales: Scales | undefined;
  readonly accent: ModelSpeaker['accent'];
}

/**
 * What sherpa-onnx is given when it loads a model. Paths are relative: espeak-ng reads no others on Windows if the name of the
 * user is not ASCII.
 */
export function configOf({ family, files }: Model, { cwd, scales, accent }: ModelSettings): object {
  const { settings: _ours, lexicon = '', ...named } = files;
  const lexicons = lexicon.split(',').filter((file) => isSpokenWith(accent, file));
  const paths = Object.entries(named).map(([key, file]) => [key, within(cwd, file)]);
  const lexiconPaths = lexicons.map((file) => within(cwd, file)).join(',');
  return {
    model: {
      [family]: { ...Object.fromEntries(paths), ...(lexiconPaths && { lexicon: lexiconPaths }), ...scales },
      numThreads: 2,
      provider: 'cpu',
      debug: false,
    },
    maxNumSentences: 1,
  };
}

/** What sherpa-onnx is given with each text. */
export function optionsOf({ sid, lang, speed: own = 1 }: ModelSpeaker, speed: number): object {
  return {
    sid,
    speed: speed * own,
    silenceScale: 0.2,
    numSteps: STEPS,
    ...(lang !== undefined && { extra: { lang } }),
  };
}

/** The first entry of a word counts, so that a model with two accents may read one lexicon only. */
function isSpokenWith(accent: ModelSpeaker['accent'], file: string): boolean {
  if (file === '') return false;
  const own = /^lexicon-(us|gb)(?:-|\.)/.exec(basename(file))?.[1];
  return accent === undefined || own === undefined || own === accent;
}

function within(folder: string, file: string): string {
  const path = relative(folder, file);
  return isAbsolute(path) || path.startsWith('..') ? file : path;
}

interface SpeakerSpec {
  readonly name: string;
  readonly count: number;
  readonly voices?: readonly string[] | undefined;
  readonly language?: string | undefined;
  /** Each speaker speaks all of these; the first is its usual one. */
  readonly languages?: readonly string[] | undefined;
}

/** The first letter of a speaker says which language it speaks: its tag, and its name in espeak-ng. */
const KOKORO: Readonly<Record<string, readonly [tag: string, lang?: string]>> = {
  a: ['en-US', 'en-us'],
  b: ['en-GB', 'en-gb-x-rp'],
  e: ['es', 'es'],
  f: ['fr-FR', 'fr-fr'],
  h: ['hi', 'hi'],
  i: ['it', 'it'],
  j: ['ja', 'ja'],
  p: ['pt-BR', 'pt-br'],
  // The lexicon reads Chinese characters, whatever the language is.
  z: ['zh'],
};

/** The releases have these speakers, in this order. */
const SUPERTONIC: Readonly<Record<number, readonly string[]>> = {
  4: ['F1', 'F2', 'M1', 'M2'],
  10: ['F1', 'F2', 'F3', 'F4', 'F5', 'M1', 'M2', 'M3', 'M4', 'M5'],
};

const SUPERTONIC_DEFAULT = 'en';

/** All speakers of a model. What the user says of them comes first, then what the model says itself. */
export function speakersOf(model: Model, wanted: SpeakerSpec): ModelSpeaker[] {
  const { references } = model;
  const { language: said, languages: [usual, ...others] = [] } = wanted;
  if (usual !== undefined) return inLanguages(model, wanted, [usual, ...others]);
  if (references.length > 0)
    return references.map((file, offset) => {
      const language = said ?? languageOf(model);
      return { name: basename(file, '.wav'), language, sid: 0, offset, reference: file };
    });
  const names = namesOf(model, wanted);
  return names.map((name, sid) => {
    const gender = genderOf(listed(model)[sid] ?? usualNames(model, names.length)?.[sid] ?? name);
    return { name, sid, ...spokenBy(model, names, sid, said), ...(gender && { gender }) };
  });
}

/** Speakers of other languages than the usual one have it in their names: `F1`, `F1-ja`. */
function inLanguages(model: Model, wanted: SpeakerSpec, languages: readonly string[]): ModelSpeaker[] {
  return languages.flatMap((language, at) => {
    const speakers = speakersOf(model, { ...wanted, language, languages: undefined });
    return speakers.map((speaker) => ({
      ...speaker,
      name: at === 0 ? speaker.name : `${speaker.name}-${language}`,
      style: speaker.name,
      offset: at * speakers.length + offsetOf(speaker),
    }));
  });
}

function spokenBy(
  model: Model,
  own: readonly string[],
  sid: number,
  said: string | undefined,
): Omit<ModelSpeaker, 'name' | 'sid'> {
  if (model.family === 'supertonic') {
    const language = said ?? SUPERTONIC_DEFAULT;
    return { language, lang: (language.split('-')[0] ?? language).toLowerCase() };
  }
  if (model.family === 'kokoro') {
    // A name of the user says nothing of the language.
    const letter = /^[a-z](?=[fm](?:_|$))/.exec(listed(model)[sid] ?? own[sid] ?? '')?.[0] ?? 'a';
    const [language, lang] = kokoroLanguage(said) ?? KOKORO[letter] ?? ['en-US', 'en-us'];
    return { language, ...(lang && { lang }), accent: language === 'en-GB' ? 'gb' : 'us' };
  }
  return { language: said ?? languageOf(model) };
}

function kokoroLanguage(said: string | undefined): readonly [string, string?] | undefined {
  if (said === undefined) return undefined;
  const known = Object.values(KOKORO).find(([tag]) => tag.toLowerCase() === said.toLowerCase());
  return known ?? Object.values(KOKORO).find(([tag]) => tag.split('-')[0] === said.split('-')[0]);
}

function namesOf(model: Model, { name, count, voices = [] }: SpeakerSpec): string[] {
  if (count <= 1) return [voices[0] ?? name];
  const own = listed(model);
  const piper = piperOf(model)?.speakerNames;
  const usual = usualNames(model, count);
  return unique(
    Array.from(
      { length: count },
      (_, sid) => voices[sid] ?? own[sid] ?? piper?.get(sid) ?? usual?.[sid] ?? `${name}-${sid}`,
    ),
  );
}

function usualNames({ family }: Model, count: number): readonly string[] | undefined {
  return family === 'supertonic' ? SUPERTONIC[count] : undefined;
}

/** @param name as its maker writes it: `af_heart` of Kokoro, `F1` of Supertonic, `expr-voice-2-m` of Kitten */
function genderOf(name: string): Gender | undefined {
  const letter = /^(?:[a-z]([fm])(?:_|$)|([FM])\d$|expr-voice-\d-([fm])$)/.exec(name)?.slice(1).join('');
  if (!letter) return undefined;
  return letter.toLowerCase() === 'f' ? 'woman' : 'man';
}

/** The second speaker of a name gets its number after it. */
function unique(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.map((name, sid) => {
    const own = seen.has(name) ? `${name}-${sid}` : name;
    seen.add(own);
    return own;
  });
}

/** The speakers that the metadata of Kokoro and Kitten lists. */
function listed({ family, files }: Model): string[] {
  if ((family !== 'kokoro' && family !== 'kitten') || files.model === undefined) return [];
  const names = metadataOf(files.model, 'speaker_names').split(',');
  return names.every((name) => /^[\w.-]{1,60}$/.test(name)) ? names : [];
}

function languageOf(model: Model): string {
  const config = piperOf(model);
  if (config) return config.language;
  const file = model.files.model ?? model.files.acousticModel;
  const voice = file === undefined ? '' : metadataOf(file, 'voice');
  return /^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(voice) ? tagOfEspeak(voice) : 'und';
}

/**
 * What the `.onnx.json` of a model says, if it is there.
 * @returns `undefined` as well for one that cannot be true: the model may speak all the same
 */
export function piperOf({ files: { settings } }: Pick<Model, 'files'>): PiperConfig | undefined {
  if (settings === undefined || statSync(settings).size > LONGEST_CONFIG) return undefined;
  try {
    return readPiperConfig(readFileSync(settings, 'utf8'));
  } catch {
    return undefined;
  }
}
