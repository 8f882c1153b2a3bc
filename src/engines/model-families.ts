/** The kinds of model folders that sherpa-onnx can load: their files, their speakers, and the settings to load them with. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, relative, sep } from 'node:path';
import { codeOf } from '../kit/error.ts';
import type { Gender } from '../sound/voice.ts';
import { EngineError, type ModelSpeaker, offsetOf, type Scales } from './engine.ts';
import {
  fileEnds,
  LONGEST_CONFIG,
  metadataMentions,
  metadataOf,
  type PiperConfig,
  readPiperConfig,
  tagOfEspeak,
} from './model-metadata.ts';

export interface Model {
  readonly family: string;
  /** Paths by the keys of `OfflineTtsModelConfig`; `settings`, a key of ours, is the `.onnx.json` of Piper. */
  readonly files: Readonly<Record<string, string>>;
  /** The voices of Pocket, as WAV files to imitate; empty for other models, whose voices have numbers. */
  readonly references: readonly string[];
  readonly numbers?: Family['numbers'];
}

/** A kind of model. */
interface Family {
  /** The key of sherpa-onnx's settings. */
  readonly name: string;
  /** Patterns of file names by the keys of `OfflineTtsModelConfig`. */
  readonly needs: Readonly<Record<string, RegExp>>;
  readonly mayHave?: Readonly<Record<string, RegExp>>;
  /** A word in the metadata of the model, to tell apart families with the same file names. */
  readonly word?: string;
  /** 'words' if the model cannot read digits, so that numbers have to be spelled out for it. */
  readonly numbers?: 'words' | undefined;
}

const TOKENS = /^tokens\.txt$/;
const ESPEAK = /^espeak-ng-data$/;
const MODEL = /^model.*\.onnx$/;

/**
 * With the file names of sherpa-onnx's releases (https://github.com/k2-fsa/sherpa-onnx/releases/tag/tts-models). The first
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
 * Finds the model in a folder by file names and metadata, without loading it.
 * @param name the name of the engine, for messages
 * @param espeakData the folder of espeak-ng's data, if it is not in the folder of the model
 * @throws EngineError that names the missing files
 */
export function modelIn(folder: string, name: string, espeakData?: string): Model {
  const names = namesIn(folder, name);
  const model = FAMILIES.map((family) => modelOf(family, { folder, names, espeakData })).find(
    (each) => each !== undefined,
  );
  if (!model) throw missing(name, missingFiles(names));
  if (model.family === 'vits' && !model.files.dataDir && metadataMentions(model.files.model ?? '', 'espeak'))
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

/** A folder and the names of its files. */
interface Contents {
  readonly folder: string;
  readonly names: readonly string[];
  readonly espeakData: string | undefined;
}

/** @returns the folder as a model of this family, or `undefined` if it is none */
function modelOf(family: Family, contents: Contents): Model | undefined {
  const { folder, espeakData } = contents;
  const files = filesOf(family, contents);
  if (!files) return undefined;
  const { dataDir, ...others } = files;
  if (dataDir !== undefined && dataDir !== espeakData) assertOwnFolder(dataDir, folder);
  for (const file of Object.values(others).flatMap((each) => each.split(','))) assertOwn(file, folder, false);
  const { word, name, numbers } = family;
  const hasWord = word === undefined || folder.includes(word) || metadataMentions(files.model ?? '', word);
  return hasWord ? { family: name, files, references: [], numbers } : undefined;
}

/** @returns the paths by their keys, or `undefined` if a file is missing */
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
 * Refuses links that lead out of the folder, which would reveal other files, and pipes, which would never end.
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
 * Checks a folder and everything in it, since espeak-ng opens files of many names.
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

/** The files that are missing for the family that the folder resembles most. */
function missingFiles(names: readonly string[]): string[] {
  const lacks = FAMILIES.map(({ needs }) => {
    const patterns = Object.values(needs);
    const lacking = patterns.filter((pattern) => !names.some((name) => pattern.test(name)));
    return { lacking, distance: 2 * lacking.length - patterns.length };
  });
  const [first] = lacks.sort((a, b) => a.distance - b.distance);
  return first?.lacking.map((pattern) => globOf(pattern)) ?? [];
}

/** Turns `/^model.*\.onnx$/` into `model*.onnx`, and `(?:a|b)` into `{a,b}`. */
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

/** Bytes at both ends of each file that are hashed. */
const HASHED_BYTES = 1024 * 1024;

/** A key for the cache that changes with the files of the model. */
export function modelIdentity({ family, files, references }: Model): string {
  const parts = [...Object.values(files).flatMap((file) => file.split(',')), ...references].map((file) => {
    const stats = statSync(file);
    if (!stats.isFile()) return `${file} ${stats.mtimeMs}`;
    const { first, last } = fileEnds(file, HASHED_BYTES);
    return `${file} ${stats.size} ${stats.mtimeMs} ${hash('sha256', Buffer.concat([first, last]))}`;
  });
  return `model ${family} ${hash('sha256', parts.join('\n'))}`;
}

/** Steps of the models that refine noise, as in the examples of sherpa-onnx. */
const REFINING_STEPS = 5;

interface ModelSettings {
  /** The working folder of the process, to which paths are relative. */
  readonly cwd: string;
  readonly scales: Scales | undefined;
  readonly accent: ModelSpeaker['accent'];
}

/**
 * The settings with which sherpa-onnx loads a model. Paths are relative: on Windows, espeak-ng reads no others if the user
 * has a name that is not ASCII.
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

/** The settings that sherpa-onnx gets with each text. */
export function optionsOf({ sid, lang, speed = 1 }: ModelSpeaker): object {
  return {
    sid,
    speed,
    silenceScale: 0.2,
    numSteps: REFINING_STEPS,
    ...(lang !== undefined && { extra: { lang } }),
  };
}

/** True for lexicons of this accent or of none. The first entry of a word counts, so only one accent may be loaded. */
function isSpokenWith(accent: ModelSpeaker['accent'], file: string): boolean {
  if (file === '') return false;
  const own = /^lexicon-(us|gb)(?:-|\.)/.exec(basename(file))?.[1];
  return accent === undefined || own === undefined || own === accent;
}

/** The path relative to the folder, or unchanged if it lies outside. */
function within(folder: string, file: string): string {
  const path = relative(folder, file);
  return isAbsolute(path) || path.startsWith('..') ? file : path;
}

interface SpeakerSpec {
  readonly name: string;
  readonly count: number;
  readonly voices?: readonly string[] | undefined;
  readonly language?: string | undefined;
  /** The languages that each speaker speaks; the first is the usual one. */
  readonly languages?: readonly string[] | undefined;
}

/** The language of a Kokoro speaker by the first letter of its name: the tag, and the name in espeak-ng. */
const KOKORO_LANGUAGES: Readonly<Record<string, readonly [tag: string, lang?: string]>> = {
  a: ['en-US', 'en-us'],
  b: ['en-GB', 'en-gb-x-rp'],
  e: ['es', 'es'],
  f: ['fr-FR', 'fr-fr'],
  h: ['hi', 'hi'],
  i: ['it', 'it'],
  j: ['ja', 'ja'],
  p: ['pt-BR', 'pt-br'],
  // No name for espeak-ng: the lexicon reads Chinese characters, whatever the language is.
  z: ['zh'],
};

/** The speakers of the releases by their number, in the order of their ids. */
const SUPERTONIC_SPEAKERS: Readonly<Record<number, readonly string[]>> = {
  4: ['F1', 'F2', 'M1', 'M2'],
  10: ['F1', 'F2', 'F3', 'F4', 'F5', 'M1', 'M2', 'M3', 'M4', 'M5'],
};

const SUPERTONIC_LANGUAGE = 'en';

/** All speakers of a model. Settings of the user take precedence over the metadata of the model. */
export function speakersOf(model: Model, wanted: SpeakerSpec): ModelSpeaker[] {
  const { references } = model;
  const { language: said, languages = [] } = wanted;
  if (languages.length > 0) return inLanguages(model, wanted, languages);
  if (references.length > 0)
    return references.map((file, offset) => {
      const language = said ?? languageOf(model);
      return { name: basename(file, '.wav'), language, sid: 0, offset, reference: file };
    });
  const names = namesOf(model, wanted);
  return names.map((name, sid) => {
    const gender = genderOf(listedNames(model)[sid] ?? usualNames(model, names.length)?.[sid] ?? name);
    return { name, sid, ...spokenBy(model, names, sid, said), ...(gender && { gender }) };
  });
}

/** Lists each speaker once per language; except for the first, the language is added to the name: `F1`, `F1-ja`. */
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
    const language = said ?? SUPERTONIC_LANGUAGE;
    return { language, lang: (language.split('-')[0] ?? language).toLowerCase() };
  }
  if (model.family === 'kokoro') {
    // The name in the metadata counts first: one that the user chose does not tell the language.
    const letter = /^[a-z](?=[fm](?:_|$))/.exec(listedNames(model)[sid] ?? own[sid] ?? '')?.[0] ?? 'a';
    const [language, lang] = kokoroLanguage(said) ?? KOKORO_LANGUAGES[letter] ?? ['en-US', 'en-us'];
    return { language, ...(lang && { lang }), accent: language === 'en-GB' ? 'gb' : 'us' };
  }
  return { language: said ?? languageOf(model) };
}

function kokoroLanguage(said: string | undefined): readonly [string, string?] | undefined {
  if (said === undefined) return undefined;
  const known = Object.values(KOKORO_LANGUAGES).find(([tag]) => tag.toLowerCase() === said.toLowerCase());
  return known ?? Object.values(KOKORO_LANGUAGES).find(([tag]) => tag.split('-')[0] === said.split('-')[0]);
}

function namesOf(model: Model, { name, count, voices = [] }: SpeakerSpec): string[] {
  if (count <= 1) return [voices[0] ?? name];
  const own = listedNames(model);
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
  return family === 'supertonic' ? SUPERTONIC_SPEAKERS[count] : undefined;
}

/** @param name the name that the maker gave: `af_heart` of Kokoro, `F1` of Supertonic, `expr-voice-2-m` of Kitten */
function genderOf(name: string): Gender | undefined {
  const letter = /^(?:[a-z]([fm])(?:_|$)|([FM])\d$|expr-voice-\d-([fm])$)/.exec(name)?.slice(1).join('');
  if (!letter) return undefined;
  return letter.toLowerCase() === 'f' ? 'woman' : 'man';
}

/** Appends its number to a name that an earlier speaker has. */
function unique(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.map((name, sid) => {
    const own = seen.has(name) ? `${name}-${sid}` : name;
    seen.add(own);
    return own;
  });
}

/** The speakers that the metadata of a Kokoro or Kitten model lists. */
function listedNames({ family, files }: Model): string[] {
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
 * Reads the `.onnx.json` of a model, if it has one.
 * @returns `undefined` also for an invalid one: the model may speak without it
 */
export function piperOf({ files: { settings } }: Pick<Model, 'files'>): PiperConfig | undefined {
  if (settings === undefined || statSync(settings).size > LONGEST_CONFIG) return undefined;
  try {
    return readPiperConfig(readFileSync(settings, 'utf8'));
  } catch {
    return undefined;
  }
}
