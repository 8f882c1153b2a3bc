import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { ModelSpeaker } from '../source.ts';
import type { Model } from './families.ts';
import { metadataOf } from './metadata.ts';
import { LONGEST_CONFIG, type PiperConfig, readPiperConfig, tagOfEspeak } from './piper-config.ts';

interface Wanted {
  readonly name: string;
  readonly count: number;
  readonly voices?: readonly string[] | undefined;
  readonly language?: string | undefined;
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
export function speakersOf(model: Model, wanted: Wanted): ModelSpeaker[] {
  const { references } = model;
  const said = wanted.language;
  if (references.length > 0)
    return references.map((file) => {
      const language = said ?? languageOf(model);
      return { name: basename(file, '.wav'), language, sid: 0, reference: file };
    });
  const names = namesOf(model, wanted);
  return names.map((name, sid) => ({ name, sid, ...spokenBy(model, names, sid, said) }));
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

function namesOf(model: Model, { name, count, voices = [] }: Wanted): string[] {
  if (count <= 1) return [voices[0] ?? name];
  const own = listed(model);
  const piper = piperOf(model)?.speakerNames;
  const usual = model.family === 'supertonic' ? SUPERTONIC[count] : undefined;
  return unique(
    Array.from(
      { length: count },
      (_, sid) => voices[sid] ?? own[sid] ?? piper?.get(sid) ?? usual?.[sid] ?? `${name}-${sid}`,
    ),
  );
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
