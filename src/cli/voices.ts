import { ExitCode, usageError } from '../kit/error.ts';
import { dataFolder } from '../kit/folders.ts';
import { brokenAt, columnsOf, table, visible } from '../kit/words.ts';
import { loadSettings, type Settings } from '../options/load.ts';
import type { Gender } from '../sound/voice.ts';
import {
  type Catalogue,
  downloadSize,
  isFree,
  loadCatalogue,
  type OfferedVoice,
  type Repository,
} from '../voices/install/catalogue.ts';
import { installedVoices, type Manifest } from '../voices/install/manifest.ts';
import { languageName, matchesLanguage, shownLanguage, systemLanguage } from '../voices/language.ts';
import type { CommandLine, Context } from './commands.ts';

export async function names(): Promise<readonly string[]> {
  return loadCatalogue({ env: {}, cwd: '' }).voices.map(({ name }) => name);
}

export async function run(
  { flags, words: [what, ...names] }: CommandLine,
  context: Context,
): Promise<number> {
  const data = dataFolder(context.host);
  if (data === undefined)
    throw usageError(
      'there is no folder for voices: HOME names none',
      'set HOME, or name one with TTS_DATA_DIR',
    );
  const { settings } = await loadSettings({ flags }, context);
  const line: VoicesLine = { settings, names, data };
  if (what === undefined) return listVoices(line, context);
  const { installVoices, removeVoices, verifyVoices } = await import('./voices-install.ts');
  const act = what === 'install' ? installVoices : what === 'remove' ? removeVoices : verifyVoices;
  return act(line, context);
}

/** The command line of `tts voices`. */
export interface VoicesLine {
  readonly settings: Settings;
  /** The names after the word of the command. */
  readonly names: readonly string[];
  /** The folder for all data of the program. */
  readonly data: string;
}

/** A voice that is offered, installed, or both. */
interface Row {
  readonly voice: OfferedVoice | Manifest;
  readonly offer?: OfferedVoice | undefined;
  readonly manifest?: Manifest | undefined;
}

/** Lists voices without a network: the catalogue is part of the program. */
async function listVoices({ settings, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  const catalogue = loadCatalogue(host);
  const installed = installedVoices(data, host.uid);
  const asked = settings.language?.value;
  const isInstalled = settings.installed.value;
  const speaks = (row: Row, language: string) =>
    languagesOf(row).some((tag) => matchesLanguage(tag, language));
  const rows = rowsOf(catalogue, installed).filter(
    (row) => (!isInstalled || row.manifest) && (asked === undefined || speaks(row, asked)),
  );
  if (notices.json) {
    notices.result({ folder: data, voices: rows.map((row) => inJson(row, catalogue)) });
    return ExitCode.ok;
  }
  const own = systemLanguage(host.env);
  const ranks = new Map(
    rows.map((row) => [row, Number(!row.manifest) + 2 * Number(!speaks(row, asked ?? own))]),
  );
  const columns = columnsOf(host);
  const isShort = columns !== undefined && asked === undefined && !settings.all.value && !isInstalled;
  const ordered = rows.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  const shown = isShort ? ordered.filter((row) => row.manifest || speaks(row, own)) : ordered;
  const more = ordered.length - shown.length;
  if (shown.length === 0 && asked !== undefined) {
    const name = languageName(asked);
    if (name === undefined) throw (await import('../voices/unknown.ts')).notALanguage(asked);
    const { advice } = await import('./language-check.ts');
    notices.result(`no voice of the list speaks ${name}: ${await advice(asked, context)}`);
    return ExitCode.ok;
  }
  const further = `${more} more speak other languages than ${languageName(own)}: tts voices --all, or --language de`;
  const notes = more > 0 ? [further] : [];
  notices.result(voiceTable(shown, columns, notes));
  return ExitCode.ok;
}

function languagesOf({ voice, manifest, offer }: Row): readonly string[] {
  const spoken = manifest?.speakers.map(({ language }) => language) ?? [];
  return [voice.language, ...spoken, ...(offer?.languages ?? []), ...(offer?.espeak ?? [])];
}

function rowsOf({ voices }: Catalogue, installed: readonly Manifest[]): Row[] {
  const offered = voices.map((offer): Row => {
    const manifest = installed.find(({ name, key }) => name === offer.name && key === offer.key);
    return { voice: offer, offer, manifest };
  });
  const others = installed.filter((manifest) => !offered.some((row) => row.manifest === manifest));
  return [...others.map((manifest): Row => ({ voice: manifest, manifest })), ...offered];
}

function inJson({ voice, offer, manifest }: Row, { repositories }: Catalogue): object {
  const { name, key, language, quality, licence, class: kind } = voice;
  return {
    name,
    key,
    language,
    quality,
    bytes: downloadSize(voice.files),
    licence,
    class: kind,
    installed: manifest !== undefined,
    ...(offer && {
      trained: offer.trained,
      sources: offer.sources,
      speakers: offer.speakers,
      languages: offer.languages,
      gender: offer.gender,
      samples: offer.samples,
      sampleRate: offer.sampleRate,
      realTime: offer.pace,
      number: offer.number,
      ...placeInJson(repositories[offer.from]),
      files: offer.files,
    }),
    ...(manifest && {
      number: manifest.number,
      sampleRate: manifest.sampleRate,
      source: manifest.source,
      checked: manifest.checked,
      names: manifest.speakers.map((speaker) => speaker.name),
    }),
  };
}

function placeInJson(repository: Repository | undefined): object {
  if (!repository) return {};
  if ('releases' in repository) return { repository: repository.releases };
  return { repository: repository.repo, commit: repository.commit };
}

const COLUMNS = ['NAME', 'VOICE', 'LANGUAGE', 'MB', 'LICENCE', 'SPEED', ''];

function voiceTable(rows: readonly Row[], columns: number | undefined, last: readonly string[]): string {
  if (rows.length === 0) return 'no voice is installed; tts voices lists those that can be';
  const lines = rows.map(({ voice, offer, manifest }) => [
    visible(voice.name),
    gendersOf(offer?.gender ?? manifest?.speakers[0]?.gender),
    offer?.languages ? `${offer.languages.length} languages` : visible(shownLanguage(voice.language)),
    String(Math.round(downloadSize(voice.files) / 1e6)),
    licenceInWords(voice),
    offer?.pace === undefined ? '-' : `${offer.pace}x`,
    manifest ? 'installed' : '',
  ]);
  const first = rows.find(({ manifest }) => !manifest);
  const notes = first
    ? [
        'SPEED is compared with real time, on a desktop with two threads.',
        `To install one: tts voices install ${first.voice.name}`,
      ]
    : [];
  const broken = [...notes, ...howToHear(rows), ...last].flatMap((note) =>
    columns === undefined ? note : brokenAt(note, columns),
  );
  return [table([COLUMNS, ...lines], columns), ...broken].join('\n');
}

/** @returns `woman`, or `3 women, 2 men` */
function gendersOf(gender: OfferedVoice['gender']): string {
  if (gender === undefined) return '-';
  if (typeof gender === 'string') return gender;
  const words: readonly (readonly [Gender, string])[] = [
    ['woman', 'women'],
    ['man', 'men'],
    ['neutral', 'neutral'],
  ];
  const counted = words.flatMap(([one, many]) => {
    const number = gender[one] ?? 0;
    return number === 0 ? [] : [`${number} ${number === 1 ? one : many}`];
  });
  return counted.join(', ');
}

/** Returns the command to hear an installed voice, and the makers' pages with samples of others, each page once. */
function howToHear(rows: readonly Row[]): string[] {
  const pages = new Map<string, string[]>();
  for (const { voice, offer, manifest } of rows) {
    if (offer?.samples === undefined || manifest) continue;
    pages.set(offer.samples, [...(pages.get(offer.samples) ?? []), voice.name]);
  }
  const there = rows.find(({ manifest }) => manifest);
  const lines = [...pages].map(([page, names]) => `To hear ${shortList(names)}: ${page}`);
  return there
    ? [`To hear ${visible(there.voice.name)}: tts -s ${visible(there.voice.name)} --play "Hello."`, ...lines]
    : lines;
}

/** Voices that a line names one by one. */
const MOST_NAMED = 3;

function shortList(names: readonly string[]): string {
  const [first = ''] = names;
  return names.length > MOST_NAMED ? `${first} and ${names.length - 1} more` : names.join(', ');
}

const NOT_FREE: Readonly<Record<string, string>> = {
  'non-commercial': 'not for commerce',
  'limits of use': 'limits of use',
};

/** Returns the short name of a licence, or the limits of use that it sets. */
function licenceInWords(voice: Row['voice']): string {
  if (!isFree(voice)) return NOT_FREE[voice.class] ?? 'not clear';
  const { licence, trained = '' } = voice;
  const short = /public domain|CC0|CC BY(?:-SA)?|Apache-2\.0|M-AILABS/.exec(licence)?.[0] ?? licence;
  return visible(trained.includes('lessac') ? `${short}, trained from lessac` : short);
}
