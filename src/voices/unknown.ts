/** Errors and advice for voices that are not found. */
import type { Espeak } from '../engines/espeak.ts';
import { FLITE_VOICES } from '../engines/flite-voices.ts';
import { type TtsError, usageError } from '../kit/error.ts';
import { valueHint } from '../kit/hints.ts';
import type { RunContext } from '../kit/host.ts';
import { nearestName } from '../kit/words.ts';
import type { Voice } from '../sound/voice.ts';
import { installLine, isFree, loadCatalogue, notInstalled } from './install/catalogue.ts';
import { manifestsOf } from './installed.ts';
import {
  baseLanguage,
  fullLanguageName,
  isUnreadByEspeak,
  languageName,
  matchesLanguage,
  voiceForLanguage,
} from './language.ts';

const MOST_SHOWN = 20;

export interface Unknown {
  /** The setting that asks for the voice, for messages: `--speaker`. */
  readonly origin: string;
  /** The existing voices, as a message lists them. */
  readonly there: readonly string[];
  /** The end of the hint. */
  readonly remark?: string | undefined;
  /** Names of voices that can be installed. */
  readonly offered?: readonly string[];
}

export function noVoiceChosen(): TtsError {
  return usageError(
    'no speaker is chosen',
    'choose one with --speaker NUMBER, TTS_SPEAKER or "speaker" in a config file',
  );
}

/** @param who a number, or a number with the name that the config has for it */
export function unknownNumber(who: string, unknown: Unknown): TtsError {
  return usageError(
    `${unknown.origin}: the built-in service has no speaker ${who}`,
    `name the service that has it with --base-url; there are: ${shown(unknown)}`,
  );
}

export function unknownName(name: string, unknown: Unknown): TtsError {
  const { origin, there, offered = [] } = unknown;
  const guess = valueHint('speaker', name);
  const nearest = nearestName(name, [...there, ...offered]);
  const install = nearest && !there.includes(nearest) ? `tts voices install ${nearest} brings it; ` : '';
  const hint =
    there.length > 0
      ? `${nearest ? `did you mean ${nearest}? ${install}` : ''}there are: ${shown(unknown)}`
      : 'give its number, or name it under "speakers" in a config file';
  return usageError(`${origin}: no speaker is called ${JSON.stringify(name)}`, guess ?? hint);
}

function shown({ there, remark }: Unknown): string {
  const list = there.slice(0, MOST_SHOWN).join(', ');
  const all = there.length > MOST_SHOWN ? `${list}, ...; tts speakers lists all` : list;
  return remark === undefined ? all : `${all}; ${remark}`;
}

interface AdviceContext {
  readonly espeak: Espeak | undefined;
  readonly context: Pick<RunContext, 'host'>;
}

/**
 * Returns the error for a name or a number in the catalogue of voices, or for a language that no voice of this machine speaks.
 * @returns `undefined` for any other word
 */
export function installable(
  value: string | number,
  origin: string,
  machine: AdviceContext,
): TtsError | undefined {
  const error = notInstalled(value, origin, machine.context.host);
  if (error) return error;
  // A code of three letters without a shorter form is more likely the name of a person.
  if (typeof value === 'number' || baseLanguage(value)?.length !== 2) return undefined;
  return usageError(
    `${origin}: no voice of this machine speaks ${languageName(value)}`,
    adviceFor(value, machine),
  );
}

export function isOffered(name: string, { host }: Pick<RunContext, 'host'>): boolean {
  return notInstalled(name, '', host) !== undefined;
}

/** Returns the error for a voice that does not speak the language of `--language`. */
export function otherLanguage(
  { name, no, language = '' }: Pick<Voice, 'name' | 'no' | 'language'>,
  { asked, origin }: { readonly asked: string; readonly origin: string },
  machine: AdviceContext,
): TtsError {
  const [spoken, wanted] = [languageName(language) ?? language, languageName(asked)];
  if (wanted === undefined) return notALanguage(asked, origin);
  const isOtherRegion = spoken === wanted;
  const what = isOtherRegion
    ? `${fullLanguageName(language)}, and not ${fullLanguageName(asked)}`
    : `${spoken}, and not ${wanted}`;
  return usageError(`${origin}: the voice ${name ?? no} speaks ${what}`, adviceFor(asked, machine));
}

export function notALanguage(asked: string, origin = '--language'): TtsError {
  return usageError(
    `${origin}: ${JSON.stringify(asked)} is not a language`,
    'write a tag such as ja or pt-BR, or the English name of a language',
  );
}

/** Returns the names of all voices that can be installed. */
export function offeredNames({ host }: Pick<RunContext, 'host'>): readonly string[] {
  return loadCatalogue(host).voices.map(({ name }) => name);
}

/** Returns a hint for a language: a voice of this machine, one that can be installed, or that there is none. */
export function adviceFor(asked: string, { espeak, context }: AdviceContext): string {
  const base = baseLanguage(asked) ?? asked;
  const language = languageName(base) ?? asked;
  const isOf = (tag: string) => matchesLanguage(tag, base);
  const isOfRegion = (tag: string) => matchesLanguage(tag, asked);
  const own = [...manifestsOf(context), ...FLITE_VOICES.map((voice) => ({ ...voice, speakers: [voice] }))];
  const speaking = (isMeant: typeof isOf) =>
    own.find(({ speakers }) => speakers.some((speaker) => isMeant(speaker.language)));
  const offeredFor = (isMeant: typeof isOf) => {
    const voices = loadCatalogue(context.host).voices.filter(({ languages, language }) =>
      (languages ?? [language]).some(isMeant),
    );
    return voices.find(isFree) ?? voices[0];
  };
  const ofRegion = offeredFor(isOfRegion);
  const there = speaking(isOfRegion) ?? (ofRegion ? undefined : speaking(isOf));
  if (there) return `-s ${there.name} speaks ${language}`;
  const isReadable = !isUnreadByEspeak(base);
  const robot = isReadable && espeak && voiceForLanguage(base, [espeak.voices]);
  const offered = ofRegion ?? offeredFor(isOf);
  if (offered) return `${installLine(offered)}${robot ? `; until then, -s ${base} takes espeak-ng` : ''}`;
  if (robot) return `-s ${base} takes the voice of espeak-ng`;
  if (isReadable && !espeak) return `espeak-ng may speak ${language}: install it, then -s ${base}`;
  return `no voice that tts can install reads ${language}; a service or an engine of yours may: --base-url, --engine`;
}
