import { ExitCode } from '../kit/error.ts';
import { brokenAt, columnsOf, table, visible } from '../kit/words.ts';
import { type Flags, loadSettings } from '../options/load.ts';
import {
  bytesOf,
  type Catalogue,
  isFree,
  loadCatalogue,
  type OfferedVoice,
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

interface Row {
  readonly name: string;
  readonly key: string;
  readonly language: string;
  readonly bytes: number;
  readonly licence: string;
  readonly class: string;
  readonly pace: number | undefined;
  readonly quality: string;
  readonly isInstalled: boolean;
  readonly offer?: OfferedVoice;
  readonly manifest?: Manifest;
}

/** Works without a network: the catalogue is part of the program. */
export async function listVoices({ flags, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  await loadSettings({ flags }, context);
  const catalogue = loadCatalogue(host);
  const installed = installedVoices(data, host.uid);
  const speaks = await speakersOf(flags.language);
  const rows = rowsOf(catalogue, installed).filter(
    (row) => (flags.installed !== true || row.isInstalled) && speaks(row),
  );
  notices.result(
    notices.json
      ? { folder: data, voices: rows.map((row) => inJson(row, catalogue)) }
      : voiceTable(rows, columnsOf(host)),
  );
  return ExitCode.ok;
}

function rowsOf({ voices }: Catalogue, installed: readonly Manifest[]): Row[] {
  const known = voices.map((offer): Row => {
    const manifest = installed.find(({ name, key }) => name === offer.name && key === offer.key);
    const { name, key, language, licence, pace, quality } = offer;
    return {
      name,
      key,
      language,
      licence,
      pace,
      quality,
      class: offer.class,
      offer,
      bytes: bytesOf(offer.files),
      isInstalled: manifest !== undefined,
      ...(manifest && { manifest }),
    };
  });
  const others = installed.filter(({ name }) => !known.some((row) => row.name === name && row.isInstalled));
  const own = others.map((manifest): Row => {
    const { name, key, language, licence, quality } = manifest;
    return {
      name,
      key,
      language,
      licence,
      pace: undefined,
      quality,
      class: manifest.class,
      manifest,
      bytes: bytesOf(manifest.files),
      isInstalled: true,
    };
  });
  return [...own, ...known];
}

/** @param asked a tag, or the name of a language in English */
async function speakersOf(asked: unknown): Promise<(row: Row) => boolean> {
  if (typeof asked !== 'string') return () => true;
  const { matchesLanguage } = await import('../voices/language.ts');
  return ({ language, manifest, offer }) => {
    const spoken = manifest?.speakers.map((speaker) => speaker.language) ?? [];
    return [language, ...spoken, ...(offer?.espeak ?? [])].some((tag) => matchesLanguage(tag, asked));
  };
}

function inJson(row: Row, { repositories }: Catalogue): object {
  const { offer, manifest } = row;
  const { name, key, language, quality, bytes, licence, isInstalled } = row;
  const shared = { name, key, language, quality, bytes, licence, class: row.class, installed: isInstalled };
  const offered = offer && {
    trained: offer.trained,
    sources: offer.sources,
    speakers: offer.speakers,
    sampleRate: offer.sampleRate,
    realTime: offer.pace,
    number: offer.number,
    repository: repositories[offer.from]?.repo,
    commit: repositories[offer.from]?.commit,
    files: offer.files,
  };
  const known = manifest && {
    number: manifest.number,
    sampleRate: manifest.sampleRate,
    source: manifest.source,
    checked: manifest.checked,
    names: manifest.speakers.map((speaker) => speaker.name),
  };
  return { ...shared, ...offered, ...known };
}

const COLUMNS = ['NAME', 'LANGUAGE', 'MB', 'LICENCE', 'SPEED', 'QUALITY', ''];

function voiceTable(rows: readonly Row[], columns: number | undefined): string {
  if (rows.length === 0) return 'no voice matches';
  const lines = rows.map((row) => [
    visible(row.name),
    row.language,
    String(Math.round(row.bytes / 1e6)),
    licenceInWords(row),
    row.pace === undefined ? '-' : `${row.pace}x`,
    row.quality,
    row.isInstalled ? 'installed' : '',
  ]);
  const offered = rows.find((row) => !row.isInstalled);
  const notes = offered
    ? [
        'SPEED is compared with real time, on a desktop with two threads.',
        `To install one: tts voices install ${offered.name}`,
      ]
    : [];
  const broken = notes.flatMap((note) => (columns === undefined ? note : brokenAt(note, columns)));
  return [table([COLUMNS, ...lines], columns), ...broken].join('\n');
}

/** A word, and whether anything speaks against using the voice for everything. */
function licenceInWords(row: Row): string {
  if (!isFree(row)) return row.class === 'non-commercial' ? 'not for commerce' : 'not clear';
  const short = /public domain|CC0|CC BY(?:-SA)?|Apache-2\.0|M-AILABS/.exec(row.licence)?.[0] ?? row.licence;
  const isDerived = /lessac/.test(row.offer?.trained ?? row.manifest?.trained ?? '');
  return visible(isDerived ? `${short}, trained from lessac` : short);
}
