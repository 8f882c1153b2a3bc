import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checksumOf } from '../../kit/checksum.ts';
import { TtsError, usageError } from '../../kit/error.ts';
import { type Catalogue, espeakFiles, type PinnedFile, type Repository } from './catalogue.ts';
import { addressIn } from './fetch.ts';
import type { InstalledFile, Manifest } from './manifest.ts';
import type { Session } from './session.ts';
import { copyInto, placeShared } from './store.ts';

/** Installs espeak-ng data that voices share: only the languages that are needed, each file once. */
export async function sharedEspeak(
  languages: readonly string[],
  session: Session,
): Promise<Manifest['espeak']> {
  const { catalogue, data } = session;
  const files = espeakFiles(catalogue, languages);
  if (files.length === 0) return undefined;
  const folder = espeakFolder(catalogue);
  for (const file of missingEspeak(catalogue, languages, data)) {
    const done = await session.download({
      ...file,
      name: `${ESPEAK_DATA}/${basename(file.path)}`,
      url: addressIn(session.hub, catalogue.repositories.espeak as Repository, file),
      most: file.size,
    });
    placeShared(done.path, join(data, folder, nameInFolder(file)));
    session.markUsed(done.path);
  }
  const installed: InstalledFile[] = [];
  for (const file of files) {
    const name = nameInFolder(file);
    const path = join(data, folder, name);
    const sha256 = file.sha256 ?? (await checksumOf(path));
    installed.push({ name, size: statSync(path).size, sha256 });
  }
  return { folder, files: installed };
}

interface OwnData {
  /** The name of espeak-ng's own voice. */
  readonly voice: string;
  /** Its language in the catalogue, if the catalogue has it. */
  readonly language: string | undefined;
  readonly stage: string;
  /** A folder of espeak-ng's data that came with the voice. */
  readonly own?: string | undefined;
}

/**
 * Installs espeak-ng data for a voice outside the catalogue: those that came with it, or the pinned ones if the hub gives
 * them, or a copy of the system's.
 * @throws TtsError if there are none
 */
export async function ownEspeak(
  { voice, language, stage, own }: OwnData,
  session: Session,
): Promise<Manifest['espeak']> {
  const copy = (from: string) => {
    for (const name of neededOf(from, voice) ?? [])
      copyInto(join(from, name), join(stage, ESPEAK_DATA, name));
  };
  if (own !== undefined && neededOf(own, voice)) {
    copy(own);
    return undefined;
  }
  const isThere =
    language !== undefined && missingEspeak(session.catalogue, [language], session.data).length === 0;
  const system = isThere ? undefined : systemEspeak(voice);
  try {
    if (language !== undefined) return await sharedEspeak([language], session);
  } catch (error) {
    if (!(error instanceof TtsError) || system === undefined) throw error;
    session.context.notices.note(`${error.message}; the data of the espeak-ng of this system are used`);
  }
  if (system === undefined)
    throw usageError(
      `the voice needs data of espeak-ng for ${voice}, and there are none`,
      'install espeak-ng, or put its folder espeak-ng-data next to the model',
    );
  copy(system);
  return undefined;
}

/** The folder of espeak-ng's data at its hub, next to a model, and in the folder of a voice. */
export const ESPEAK_DATA = 'espeak-ng-data';

/** Folders in which systems keep espeak-ng's data. */
const SYSTEM_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu/espeak-ng-data',
  '/usr/lib/aarch64-linux-gnu/espeak-ng-data',
  '/usr/lib/espeak-ng-data',
  '/usr/share/espeak-ng-data',
  '/usr/local/share/espeak-ng-data',
  '/opt/homebrew/share/espeak-ng-data',
];

/** Files that every language needs. */
const BASE = ['phontab', 'phonindex', 'phondata', 'intonations'];

/** Returns the shared folder, relative to the data folder. Its name contains the commit of its files. */
export function espeakFolder({ repositories }: Catalogue): string {
  const { espeak } = repositories;
  return `espeak/${espeak && 'commit' in espeak ? espeak.commit.slice(0, 8) : 'own'}`;
}

/** Returns the name of a file inside the shared folder. */
export function nameInFolder({ path }: Pick<PinnedFile, 'path'>): string {
  return path.startsWith(`${ESPEAK_DATA}/`) ? path.slice(ESPEAK_DATA.length + 1) : path;
}

/** @returns the language in the catalogue for a voice of espeak-ng; `undefined` if the catalogue lacks its data */
export function pinnedLanguage(catalogue: Catalogue, voice: string): string | undefined {
  const asked = voice.toLowerCase();
  const [language = ''] = asked.split('-');
  const files = catalogue.espeak.languages[language] ?? [];
  const names = files.map(({ path }) => basename(path).toLowerCase());
  // The file of French is called fr, but says that it is fr-fr, too.
  return names.includes(asked) || asked === `${language}-${language}` ? language : undefined;
}

export function missingEspeak(
  catalogue: Catalogue,
  languages: readonly string[],
  data: string,
): PinnedFile[] {
  const folder = join(data, espeakFolder(catalogue));
  return espeakFiles(catalogue, languages).filter((file) => {
    const stats = statSync(join(folder, nameInFolder(file)), { throwIfNoEntry: false });
    return stats?.size !== file.size;
  });
}

/** Returns the files of an espeak-ng data folder that a voice needs, as paths inside it; `undefined` if one is missing. */
export function neededOf(folder: string, voice: string): string[] | undefined {
  const [language = ''] = voice.toLowerCase().split('-');
  const dictionary = `${language === 'nb' ? 'no' : language}_dict`;
  const needed = [...BASE, dictionary];
  if (![...needed, 'lang'].every((name) => existsSync(join(folder, name)))) return undefined;
  const languages = readdirSync(join(folder, 'lang'), { recursive: true, encoding: 'utf8' });
  const files = languages
    .map((name) => `lang/${name}`)
    .filter((name) => statSync(join(folder, name)).isFile());
  return [...needed, ...files];
}

/** @returns a folder of the system with espeak-ng's data for a voice */
function systemEspeak(voice: string): string | undefined {
  return SYSTEM_FOLDERS.find((folder) => neededOf(folder, voice) !== undefined);
}
