import { LanguageGuess } from '../text/language-guess.ts';
import { lazy } from '../text/unicode.ts';
import { LANGUAGE_NAMES } from './language-names.ts';

/** A tag of BCP 47, as far as voices differ in it. */
interface Tag {
  /** In small letters, in its shortest form: `de` for `deu`. */
  readonly language: string;
  readonly script: string | undefined;
  readonly region: string | undefined;
  /** A variant, an extension or a private use: `x-rp`. */
  readonly rest: string;
}

/** A voice speaks its own language, and may be listed under further tags. */
export interface Speaking {
  readonly language?: string | undefined;
  readonly alsoSpeaks?: readonly string[] | undefined;
}

/**
 * Language, script and region. A script is written as `Latn`: `af_kore` is the name of a voice, and `Kore` is a script. Variants are
 * left out, since any word of five letters has their shape (`af_heart`). Names of voices begin so: `pt-BR-FranciscaNeural`,
 * `en-US_AllisonV3Voice`, `en_US/vctk_low`.
 */
const TAG =
  /^(?<language>[A-Za-z]{2,3})(?:[-_](?<script>[A-Z][a-z]{3}))?(?:[-_](?<region>[A-Za-z]{2}|\d{3})(?<name>[-_:/]\S+)?)?$/;

/** The long form of such a name: `Microsoft Server Speech Text to Speech Voice (pt-BR, FranciscaNeural)`. */
const LONG_NAME = /^Microsoft [^(),]*\((?<tag>[\w-]+), *(?<name>\w+)\)$/;

/** A region in small letters after an underscore: `en_us`, but also `is_it`, which may be no tag at all. */
const LOOSE = /_[a-z]{2}$/;

/** Codes of no language in particular. */
const NONE: ReadonlySet<string> = new Set(['mis', 'mul', 'und', 'zxx']);

/** Norwegian has one code for all of it, and two for its written forms. */
const FORMS: ReadonlyMap<string, string> = new Map([
  ['nb', 'no'],
  ['nn', 'no'],
]);

/** What a word asks for. */
interface LanguageQuery {
  readonly tag: Tag;
  /** The word is the name of a voice, which begins with its tag. */
  readonly isName: boolean;
  /** No voice of another region stands in for the one that is asked for. */
  readonly isStrict: boolean;
}

/** From here on, a voice speaks the language of another region. */
const OTHER_REGION = 10;

/** The countries of `es-419` (UN M49: Latin America and the Caribbean) that speak Spanish or Portuguese. */
const LATIN_AMERICA: ReadonlySet<string> = new Set(
  'AR BO BR CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV UY VE'.split(' '),
);

/**
 * True if a voice of this tag speaks what is asked for.
 * @param asked a tag (`de`, `de-AT`, `de_AT`), the English name of a language, or the name of a voice that begins with language and
 *   region, which matches only voices of its region; any other word matches nothing
 */
export function matchesLanguage(tag: string, asked: string): boolean {
  return distanceOf(tag, asked) < OTHER_REGION;
}

/**
 * Finds the voice for a language. One of the region that is asked for is better than one of an earlier group.
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
 * @returns the English name of a language that is asked for, with its region where only that one counts ("Brazilian Portuguese");
 *   `undefined` for a word that is not a language
 */
export function languageName(asked: string): string | undefined {
  const { tag, isStrict = false } = askedOf(asked) ?? {};
  const base = tag?.language ?? codeOf(asked);
  if (base === undefined) return undefined;
  return nameOf(isStrict && tag?.region ? `${base}-${tag.region}` : base);
}

/** @returns the language of a voice that has it in its name: `pt` for `pt-BR-FranciscaNeural` */
export function languageInName(name: string): string | undefined {
  const asked = askedOf(name);
  return asked?.isName ? asked.tag.language : undefined;
}

/** The language that the environment of a system names; English where it names none. */
export function systemLanguage(env: Readonly<Record<string, string | undefined>>): string {
  const named = env.LC_ALL || env.LC_MESSAGES || env.LANG || '';
  const language = languageOf(named.split(/[.@]/)[0] ?? '');
  return language !== undefined && nameOf(language) !== undefined ? language : 'en';
}

/** @returns `English (GB)` for `en-GB`; the tag itself where it has no name */
export function shownLanguage(tag: string): string {
  const name = nameOf(languageOf(tag) ?? tag);
  const { region } = partsOf(asWritten(tag));
  if (name === undefined) return tag;
  return region === undefined ? name : `${name} (${region})`;
}

/**
 * The language without its region and its form, as the code that is most often used.
 * @returns `undefined` for a word that is not a language, and for a tag of no language in particular
 */
export function baseLanguage(asked: string): string | undefined {
  return askedOf(asked)?.tag.language ?? codeOf(asked);
}

/**
 * The language of the tag that a voice has, or a book: it is not looked up among the names of languages.
 * @returns `undefined` for a tag of no language in particular
 */
export function languageOf(tag: string): string | undefined {
  const [code = ''] = asWritten(tag).split('-');
  const language = canonical(code);
  return code === '' || NONE.has(code) ? undefined : (FORMS.get(language) ?? language);
}

/** The code for the English name of a language. */
function codeOf(asked: string): string | undefined {
  return codesByName().get(asked.trim().toLowerCase());
}

const codesByName = lazy(() => {
  const named = Object.entries(LANGUAGE_NAMES).map(([code, name]) => [name.toLowerCase(), code] as const);
  // Of two codes with one name, the first counts.
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

/** 0 is the same, and infinity another language. */
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

/** Both are of one language. */
function distanceWithin(own: Tag, { script, region }: Tag): number {
  const special = own.rest === '' ? 0 : 4;
  const usual = own.region === undefined ? 1 : own.region === likelyRegion(own.language) ? 2 : 3;
  const isOtherScript = script !== undefined && own.script !== undefined && script !== own.script;
  if (isOtherScript || !isOfRegion(own, region)) return usual + special + OTHER_REGION;
  if (region === undefined) return usual + special;
  return (own.region === region ? 1 : 2) + special;
}

/** A language without a region is that of the region where most people speak it. */
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

/** @returns `undefined` for what no tag looks like, and where a part of it is not known */
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

/** Takes what it knows of a tag, such as one of espeak-ng, which may have another form (`en-gb-scotland`). */
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

const UNREAD_BY_ESPEAK = ['ja', 'zh'];

/** True where espeak-ng names the characters in English instead of reading them. */
export function isUnreadByEspeak(language: string): boolean {
  return UNREAD_BY_ESPEAK.some((unread) => matchesLanguage(unread, language));
}

/** `GB` for `UK`. */
function canonicalRegion(region: string): string {
  return new Intl.Locale(`und-${region}`).region ?? region.toUpperCase();
}

function likelyRegion(language: string): string | undefined {
  return /^[a-z]{2,3}$/.test(language) ? new Intl.Locale(language).maximize().region : undefined;
}

function asWritten(word: string): string {
  return word.trim().toLowerCase().replaceAll('_', '-');
}

/** Characters. */
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

/** Where it is unknown which language a voice speaks, the text does. */
export function spokenLanguage(language: string | undefined, text: string): string {
  if (language !== undefined && language !== 'und') return language;
  const written = new LanguageGuess();
  written.add(text);
  return written.language ?? 'en';
}
