import { readFileSync, statSync } from 'node:fs';
import { shortName } from '../../engines/engine.ts';
import { type TtsError, usageError } from '../../kit/error.ts';
import { dataFolder, pathOf, reasonUnread } from '../../kit/folders.ts';
import { isOwnFolder } from '../../kit/guard.ts';
import type { Host } from '../../kit/host.ts';
import type { Gender } from '../../sound/voice.ts';
import bundled from './catalogue.json' with { type: 'json' };
import { installedVoices, voicesFolder } from './manifest.ts';

/** A file of a repository, with one of the two checksums; an archive has the SHA-256. */
export interface PinnedFile {
  readonly path: string;
  /** The name of its repository, if not that of the voice. */
  readonly from?: string;
  /** Its name in the folder of the voice, if not that of the path. */
  readonly as?: string;
  /** Bytes. */
  readonly size: number;
  /** True if the size is approximate, so that only the checksum verifies the file. */
  readonly isAbout?: boolean;
  readonly sha256?: string;
  readonly md5?: string;
}

/** A repository of a hub at a commit; or the https address of releases, whose files may change but keep their names. */
export type Repository = { readonly repo: string; readonly commit: string } | { readonly releases: string };

/** A voice that can be installed. */
export interface OfferedVoice {
  readonly name: string;
  /** The name of the voice at its hub: `en_GB-cori-medium`. */
  readonly key: string;
  /** The number of its first speaker; the others have the next numbers. */
  readonly number: number;
  /** The name of its repository in the catalogue. */
  readonly from: string;
  /** A tag of BCP 47. */
  readonly language: string;
  /** All languages of each of its speakers, `language` first; only if there are several. */
  readonly languages?: readonly string[];
  readonly quality: string;
  /** Hz. */
  readonly sampleRate: number;
  /** Speed in multiples of real time, on a desktop with two threads, if a public catalogue tells it. */
  readonly pace?: number;
  readonly speakers: number;
  /** The factor that gives its speakers a natural pace; by default 1. */
  readonly speed?: number;
  /** The speakers that are offered; without it, all are. */
  readonly speakerList?: readonly OfferedSpeaker[];
  /** The gender of its only speaker, or the number of speakers of each gender. */
  readonly gender?: Gender | Readonly<Partial<Record<Gender, number>>>;
  /** A page of its maker with samples. */
  readonly samples?: string;
  readonly licence: string;
  readonly class: string;
  /** What the voice was trained from. */
  readonly trained: string;
  /** The number of public files that were found with the same checksum; 0 for a voice outside the catalogue. */
  readonly sources: number;
  /** Languages whose espeak-ng data it needs. */
  readonly espeak: readonly string[];
  readonly files: readonly PinnedFile[];
}

interface OfferedSpeaker {
  readonly name: string;
  readonly sid: number;
  readonly gender?: Gender;
}

export interface Catalogue {
  readonly repositories: Readonly<Record<string, Repository>>;
  readonly espeak: {
    readonly licence: string;
    readonly base: readonly PinnedFile[];
    readonly languages: Readonly<Record<string, readonly PinnedFile[]>>;
  };
  readonly voices: readonly OfferedVoice[];
}

/**
 * Returns the catalogue of this program, or one of the user's own for a mirror with other voices.
 * @throws TtsError (usage)
 */
export function loadCatalogue(host: Pick<Host, 'env' | 'cwd'>): Catalogue {
  const { TTS_VOICES_CATALOGUE: named } = host.env;
  if (!named) return bundled as Catalogue;
  try {
    const own = JSON.parse(readFileSync(pathOf(host.cwd, named), 'utf8')) as Partial<Catalogue>;
    if (!Array.isArray(own.voices) || !own.repositories || !own.espeak) throw new Error('it has other keys');
    return own as Catalogue;
  } catch (cause) {
    throw usageError(
      `${named} is not a catalogue of voices (TTS_VOICES_CATALOGUE): ${reasonUnread(cause)}`,
      'it has the form of src/voices/install/catalogue.json; unset the variable for the catalogue of tts',
      cause,
    );
  }
}

/** @throws TtsError (usage) for a repository that the catalogue does not name */
export function repositoryOf(name: string, { catalogue }: { readonly catalogue: Catalogue }): Repository {
  const repository = catalogue.repositories[name];
  if (!repository) throw usageError(`the catalogue has no repository ${name}`, 'correct the catalogue');
  return repository;
}

/** Finds a voice by its short name or its key, in upper or lower case. */
export function offered({ voices }: Catalogue, name: string): OfferedVoice | undefined {
  const asked = name.toLowerCase();
  return voices.find((voice) => voice.name === asked || voice.key.toLowerCase() === asked);
}

/** Finds the voice with a speaker of this name, which may be short (`heart`) or with the voice (`kokoro:af_heart`). */
function offeredSpeaker({ voices }: Catalogue, name: string): OfferedVoice | undefined {
  const asked = name.toLowerCase();
  return voices.find(({ name: voice, speakerList = [] }) =>
    speakerList.some((speaker) =>
      [speaker.name, `${voice}:${speaker.name}`, shortName(speaker.name)].includes(asked),
    ),
  );
}

/** True for a licence that lets everybody use the voice for everything, at most with the name of its maker. */
export function isFree({ class: kind }: Pick<OfferedVoice, 'class'>): boolean {
  return kind === 'free' || kind === 'attribution';
}

export function downloadSize(files: readonly { readonly size: number }[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Returns the files of espeak-ng's data for these languages. */
export function espeakFiles({ espeak }: Catalogue, languages: readonly string[]): readonly PinnedFile[] {
  if (languages.length === 0) return [];
  return [...espeak.base, ...languages.flatMap((language) => espeak.languages[language] ?? [])];
}

/** The first number of each voice is that of the one before it plus this. */
export const NUMBERS_PER_VOICE = 1000;

/**
 * @param asked the name of a voice or a speaker, or the number of a speaker
 * @returns the error for a voice of the catalogue that is not installed: speaking downloads nothing
 */
export function notInstalled(asked: string | number, origin: string, host: Host): TtsError | undefined {
  const catalogue = loadCatalogue(host);
  const own = typeof asked === 'string' ? offered(catalogue, asked) : undefined;
  const voice =
    own ??
    (typeof asked === 'string'
      ? offeredSpeaker(catalogue, asked)
      : catalogue.voices.find(({ number }) => asked >= number && asked < number + NUMBERS_PER_VOICE));
  const data = dataFolder(host);
  if (!voice || installedVoices(data, host.uid).some(({ name }) => name === voice.name)) return undefined;
  const folder = data === undefined ? undefined : voicesFolder(data);
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false }) && !isOwnFolder(folder, host.uid))
    return usageError(
      `${origin}: the voices in ${folder} are not used, since others may write there`,
      `correct its owner and its mode: chmod 700 ${folder}`,
    );
  const who = own ? `the voice ${voice.name}` : `${asked} is a speaker of the voice ${voice.name}, which`;
  return usageError(`${origin}: ${who} is not installed`, installLine(voice));
}

/** Returns the command that installs a voice, with its size and its licence. */
export function installLine({ name, files, licence }: OfferedVoice): string {
  return `tts voices install ${name} (${Math.round(downloadSize(files) / 1e6)} MB, ${licence})`;
}
