import { LanguageGuess } from '../text/language-guess.ts';
import { lazy } from '../text/unicode.ts';
import { LANGUAGE_NAMES } from './language-names.ts';

/** The parts of a BCP 47 tag in which voices differ. */
interface Tag {
  /** In lower case and in its shortest form: `de` for `deu`. */
  readonly language: string;
  readonly script: string | undefined;
  readonly region: string | undefined;
  /** A variant, an extension or a private use: `x-rp`. */
  readonly rest: string;
}

/** The languages of a voice: its own, and further ones under which it may be listed. */
export interface Speaking {
  readonly language?: string | undefined;
  readonly alsoSpeaks?: readonly string[] | undefined;
}

/**
 * A tag, or the name of a voice that begins with one: `pt-BR-FranciscaNeural`, `en-US_AllisonV3Voice`, `en_US/vctk_low`. A
 * script is written as `Latn`: `Kore` is a script, but `af_kore` is the name of a voice. Variants do not match, since any
 * word of five letters has their shape (`af_heart`).
 */
const TAG =
  /^(?<language>[A-Za-z]{2,3})(?:[-_](?<script>[A-Z][a-z]{3}))?(?:[-_](?<region>[A-Za-z]{2}|\d{3})(?<name>[-_:/]\S+)?)?$/;

/** The long form of the name of a voice: `Microsoft Server Speech Text to Speech Voice (pt-BR, FranciscaNeural)`. */
const LONG_NAME = /^Microsoft [^(),]*\((?<tag>[\w-]+), *(?<name>\w+)\)$/;

/** A region in lower case after an underscore: `en_us`, but also `is_it`, which may be no tag at all. */
const LOOSE = /_[a-z]{2}$/;

/** Codes that mean no language in particular. */
const NONE: ReadonlySet<string> = new Set(['mis', 'mul', 'und', 'zxx']);

/** The codes of the two written forms of Norwegian, with the code for both. */
const FORMS: ReadonlyMap<string, string> = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
]);

/** The language that a word asks for. */
interface LanguageQuery {
  readonly tag: Tag;
  /** True if the word is the name of a voice that begins with a tag. */
  readonly isName: boolean;
  /** True if no voice of another region may take the place. */
  readonly isStrict: boolean;
}

/** The least distance that means the right language, but another region. */
const OTHER_REGION = 10;

/** The countries of `es-419` (UN M49: Latin America and the Caribbean) that speak Spanish or Portuguese. */
const LATIN_AMERICA: ReadonlySet<string> = new Set(
  'AR BO BR CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV UY VE'.split(' '),
);

/**
 * True if a voice with this tag speaks the language that is asked for.
 * @param asked a tag (`de`, `de-AT`, `de_AT`), the English name of a language, or the name of a voice that begins with
 *   language and region, which matches only voices of its region; any other word matches nothing
 */
export function matchesLanguage(tag: string, asked: string): boolean {
  return distanceOf(tag, asked) < OTHER_REGION;
}

/**
 * Finds the voice for a language. The right region counts more than an earlier group.
 * @param groups the voices of an earlier group are preferred
 */
export function voiceForLanguage<V extends Speaking>(
  asked: string,
  groups: readonly (readonly V[])[],
): V | undefined {
  const nearest = groups.map((voices) => nearestOf(asked, voices));
  const [best] = [
    ...nearest.filter((near) => near.distance < OTHER_REGION),
    ...nearest.filter((near) => Number.isFinite(near.distance)),
  ];
  return best?.voice;
}

/**
 * @returns the English name of a language that is asked for, with its region if only that one counts ("Brazilian
 *   Portuguese"); `undefined` for a word that is not a language
 */
export function languageName(asked: string): string | undefined {
  const { tag, isStrict = false } = askedOf(asked) ?? {};
  const base = tag?.language ?? codeOf(asked);
  if (base === undefined) return undefined;
  return nameOf(isStrict && tag?.region ? `${base}-${tag.region}` : base);
}

/** @returns the English name of a tag with its region and script: "British English"; the tag itself if it has none */
export function fullLanguageName(tag: string): string {
  return nameOf(asWritten(tag)) ?? tag;
}

/** @returns the language of a voice that has it in its name: `pt` for `pt-BR-FranciscaNeural` */
export function languageInName(name: string): string | undefined {
  const asked = askedOf(name);
  return asked?.isName ? asked.tag.language : undefined;
}

/** Returns the language that the environment names, or English if it names none. */
export function systemLanguage(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.LC_ALL || env.LC_MESSAGES || env.LANG || '';
  const language = languageOf(named.split(/[.@]/)[0] ?? '');
  return language !== undefined && nameOf(language) !== undefined ? language : 'en';
}

/** @returns `English (GB)` for `en-GB`; the tag itself if it has no name */
export function shownLanguage(tag: string): string {
  const name = nameOf(languageOf(tag) ?? tag);
  const { region } = partsOf(asWritten(tag));
  if (name === undefined) return tag;
  return region === undefined ? name : `${name} (${region})`;
}

/**
 * Returns the language without region and written form, as its most common code.
 * @returns `undefined` for a word that is not a language, and for a tag of no language in particular
 */
export function baseLanguage(asked: string): string | undefined {
  return askedOf(asked)?.tag.language ?? codeOf(asked);
}

/**
 * Returns the language of the tag of a voice or a book. Unlike `baseLanguage`, this does not look up names of languages.
 * @returns `undefined` for a tag of no language in particular
 */
export function languageOf(tag: string): string | undefined {
  const [code = ''] = asWritten(tag).split('-');
  const language = canonical(code);
  return code === '' || NONE.has(code) ? undefined : (FORMS.get(language) ?? language);
}

/** @returns a tag as it is written, or the tag for the English name of a language; `undefined` for any other word */
export function languageTag(asked: string): string | undefined {
  return /^[a-z]{2,3}(?:[-_]|$)/i.test(asked) ? asked : baseLanguage(asked);
}

/** Returns the code for the English name of a language. */
function codeOf(asked: string): string | undefined {
  return codesByName().get(asked.trim().toLowerCase());
}

const codesByName = lazy(() => {
  const named = Object.entries(LANGUAGE_NAMES).map(([code, name]) => [name.toLowerCase(), code] as const);
  // Of two codes with the same name, the first counts.
  return new Map(named.reverse());
});

function nearestOf<V extends Speaking>(asked: string, voices: readonly V[]) {
  let nearest: { readonly voice: V | undefined; readonly distance: number } = {
    voice: undefined,
    distance: Number.POSITIVE_INFINITY,
  };
  for (const voice of voices) {
    const { language = '', alsoSpeaks = [] } = voice;
    const also = alsoSpeaks.map((tag) => distanceOf(tag, asked) + 0.5);
    const distance = Math.min(distanceOf(language, asked), ...also);
    if (distance < nearest.distance) nearest = { voice, distance };
  }
  return nearest;
}

/** Returns how far the tag of a voice is from the language asked for: 0 for the same tag, infinity for another language. */
function distanceOf(tag: string, asked: string): number {
  const spoken = asWritten(tag);
  if (NONE.has(spoken) || spoken === '') return Number.POSITIVE_INFINITY;
  if (spoken === asWritten(asked)) return 0;
  const own = partsOf(spoken);
  const wanted = askedOf(asked);
  const isSame = wanted ? own.language === wanted.tag.language : isNamed(own, asked);
  if (!isSame) return Number.POSITIVE_INFINITY;
  const distance = distanceWithin(own, wanted?.tag ?? { ...own, region: undefined });
  return wanted?.isStrict && distance >= OTHER_REGION ? Number.POSITIVE_INFINITY : distance;
}

/** Returns the distance of two tags of the same language. */
function distanceWithin(own: Tag, { script, region }: Tag): number {
  const special = own.rest === '' ? 0 : 4;
  const usual = own.region === undefined ? 1 : own.region === likelyRegion(own.language) ? 2 : 3;
  const isOtherScript = script !== undefined && own.script !== undefined && script !== own.script;
  if (isOtherScript || !isOfRegion(own, region)) return usual + special + OTHER_REGION;
  if (region === undefined) return usual + special;
  return (own.region === region ? 1 : 2) + special;
}

/** True if the tag fits the region. A tag without one stands for the region where most people speak the language. */
function isOfRegion({ language, region }: Tag, wanted: string | undefined): boolean {
  if (wanted === undefined || region === wanted) return true;
  return region === undefined
    ? likelyRegion(language) === wanted
    : region === '419' && LATIN_AMERICA.has(wanted);
}

function isNamed({ language, region }: Tag, asked: string): boolean {
  const name = asked.trim().toLowerCase();
  const tags = region === undefined ? [language] : [language, `${language}-${region}`];
  return tags.some((tag) => nameOf(tag)?.toLowerCase() === name);
}

/** @returns `undefined` for a word that does not look like a tag, or has an unknown part */
function askedOf(word: string): LanguageQuery | undefined {
  const written = word.trim();
  const long = LONG_NAME.exec(written)?.groups;
  const {
    language = '',
    script,
    region,
    name,
  } = TAG.exec(long ? `${long.tag}-${long.name}` : written)?.groups ?? {};
  if (language === '' || NONE.has(language.toLowerCase()) || nameOf(language) === undefined) return undefined;
  if (region !== undefined && displayNames('region').of(region.toUpperCase()) === undefined) return undefined;
  if (script !== undefined && displayNames('script').of(script) === undefined) return undefined;
  const tag = partsOf(asWritten([language, script, region].filter(Boolean).join('-')));
  const isName = name !== undefined;
  return { tag, isName, isStrict: isName || LOOSE.test(written) };
}

/** Splits a tag. Parts of any other form go into `rest`, as in `en-gb-scotland` of espeak-ng. */
function partsOf(tag: string): Tag {
  const [code = '', ...others] = tag.split('-');
  const script = others[0] !== undefined && /^[a-z]{4}$/.test(others[0]) ? others.shift() : undefined;
  const region =
    others[0] !== undefined && /^(?:[a-z]{2}|\d{3})$/.test(others[0]) ? others.shift() : undefined;
  const language = canonical(code);
  return {
    language: FORMS.get(language) ?? language,
    script: script && script.charAt(0).toUpperCase() + script.slice(1),
    region: region && canonicalRegion(region),
    rest: others.join('-'),
  };
}

function canonical(code: string): string {
  return /^[a-z]{2,3}$/.test(code) ? (Intl.getCanonicalLocales(code)[0] ?? code) : code;
}

export function speaksLanguage({ language = '', alsoSpeaks = [] }: Speaking, asked: string): boolean {
  return [language, ...alsoSpeaks].some((tag) => matchesLanguage(tag, asked));
}

const UNREAD_BY_ESPEAK = ['ja', 'zh'];

/** True if espeak-ng names the characters in English instead of reading them. */
export function isUnreadByEspeak(language: string): boolean {
  return UNREAD_BY_ESPEAK.some((unread) => matchesLanguage(unread, language));
}

/** Returns the current code of a region: `GB` for `UK`. */
function canonicalRegion(region: string): string {
  return new Intl.Locale(`und-${region}`).region ?? region.toUpperCase();
}

function likelyRegion(language: string): string | undefined {
  return /^[a-z]{2,3}$/.test(language) ? new Intl.Locale(language).maximize().region : undefined;
}

function asWritten(word: string): string {
  return word.trim().toLowerCase().replaceAll('_', '-');
}

/** Characters of the longest code of a language. */
const LONGEST_CODE = 3;

function nameOf(tag: string): string | undefined {
  if (tag.length <= LONGEST_CODE) return LANGUAGE_NAMES[canonical(tag.toLowerCase())];
  try {
    return displayNames('language').of(tag);
  } catch {
    return undefined;
  }
}

const displays = new Map<string, Intl.DisplayNames>();

function displayNames(type: 'language' | 'region' | 'script'): Intl.DisplayNames {
  const known = displays.get(type) ?? new Intl.DisplayNames('en', { type, fallback: 'none' });
  displays.set(type, known);
  return known;
}

/** Returns the language of the voice, or that of the text if the voice's is unknown. */
export function spokenLanguage(language: string | undefined, text: string): string {
  if (language !== undefined && language !== 'und') return language;
  const written = new LanguageGuess();
  written.add(text);
  return written.language ?? 'en';
}
