import { ExitCode } from '../kit/error.ts';
import { brokenAt, columnsOf, table, visible } from '../kit/words.ts';
import { type Flags, loadSettings } from '../options/load.ts';
import {
  bytesOf,
  type Catalogue,
  isFree,
  loadCatalogue,
  type OfferedVoice,
  type Repository,
} from '../voices/install/catalogue.ts';
import { installedVoices, type Manifest } from '../voices/install/manifest.ts';
import type { Context } from './commands.ts';

/** The command line of `tts voices`. */
export interface VoicesLine {
  readonly flags: Flags;
  /** The names after the word of the command. */
  readonly names: readonly string[];
  /** The folder of all data. */
  readonly data: string;
}

/** A voice that can be installed, or is. */
interface Row {
  readonly voice: OfferedVoice | Manifest;
  readonly offer?: OfferedVoice | undefined;
  readonly manifest?: Manifest | undefined;
}

/** Works without a network: the catalogue is part of the program. */
export async function listVoices({ flags, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  await loadSettings({ flags }, context);
  const catalogue = loadCatalogue(host);
  const installed = installedVoices(data, host.uid);
  const speaks = await speakersOf(flags.language);
  const rows = rowsOf(catalogue, installed).filter(
    (row) => (flags.installed !== true || row.manifest) && speaks(row),
  );
  notices.result(
    notices.json
      ? { folder: data, voices: rows.map((row) => inJson(row, catalogue)) }
      : voiceTable(rows, columnsOf(host)),
  );
  return ExitCode.ok;
}

function rowsOf({ voices }: Catalogue, installed: readonly Manifest[]): Row[] {
  const offered = voices.map((offer): Row => {
    const manifest = installed.find(({ name, key }) => name === offer.name && key === offer.key);
    return { voice: offer, offer, manifest };
  });
  const others = installed.filter((manifest) => !offered.some((row) => row.manifest === manifest));
  return [...others.map((manifest): Row => ({ voice: manifest, manifest })), ...offered];
}

/** @param asked a tag, or the name of a language in English */
async function speakersOf(asked: unknown): Promise<(row: Row) => boolean> {
  if (typeof asked !== 'string') return () => true;
  const { matchesLanguage } = await import('../voices/language.ts');
  return ({ voice, manifest, offer }) => {
    const spoken = manifest?.speakers.map(({ language }) => language) ?? [];
    return [voice.language, ...spoken, ...(offer?.espeak ?? [])].some((tag) => matchesLanguage(tag, asked));
  };
}

function inJson({ voice, offer, manifest }: Row, { repositories }: Catalogue): object {
  const { name, key, language, quality, licence, class: kind } = voice;
  return {
    ...{ name, key, language, quality, bytes: bytesOf(voice.files), licence, class: kind },
    installed: manifest !== undefined,
    ...(offer && {
      trained: offer.trained,
      sources: offer.sources,
      speakers: offer.speakers,
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

const COLUMNS = ['NAME', 'LANGUAGE', 'MB', 'LICENCE', 'SPEED', 'QUALITY', ''];

function voiceTable(rows: readonly Row[], columns: number | undefined): string {
  if (rows.length === 0) return 'no voice matches';
  const lines = rows.map(({ voice, offer, manifest }) => [
    visible(voice.name),
    voice.language,
    String(Math.round(bytesOf(voice.files) / 1e6)),
    licenceInWords(voice),
    offer?.pace === undefined ? '-' : `${offer.pace}x`,
    voice.quality,
    manifest ? 'installed' : '',
  ]);
  const first = rows.find(({ manifest }) => !manifest);
  const notes = first
    ? [
        'SPEED is compared with real time, on a desktop with two threads.',
        `To install one: tts voices install ${first.voice.name}`,
      ]
    : [];
  const broken = notes.flatMap((note) => (columns === undefined ? note : brokenAt(note, columns)));
  return [table([COLUMNS, ...lines], columns), ...broken].join('\n');
}

/** A word, and whether anything speaks against using the voice for everything. */
function licenceInWords(voice: Row['voice']): string {
  if (!isFree(voice)) return voice.class === 'non-commercial' ? 'not for commerce' : 'not clear';
  const { licence, trained = '' } = voice;
  const short = /public domain|CC0|CC BY(?:-SA)?|Apache-2\.0|M-AILABS/.exec(licence)?.[0] ?? licence;
  return visible(trained.includes('lessac') ? `${short}, trained from lessac` : short);
}
