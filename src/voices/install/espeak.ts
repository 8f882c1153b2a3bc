import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checksumOf } from '../../kit/checksum.ts';
import { TtsError, usageError } from '../../kit/error.ts';
import { type Catalogue, espeakFiles, type PinnedFile, type Repository } from './catalogue.ts';
import { addressIn } from './fetch.ts';
import type { InstalledFile, Manifest } from './manifest.ts';
import type { Session } from './session.ts';
import { copyInto, placeShared } from './store.ts';

/** Data of espeak-ng that voices share: only the languages that are needed, each file once. */
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
      name: `espeak-ng-data/${basename(file.path)}`,
      url: addressIn(session.hub, catalogue.repositories.espeak as Repository, file),
      most: file.size,
    });
    placeShared(done.path, join(data, folder, nameInFolder(file)));
    session.spend(done.path);
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
  /** The name of the voice in espeak-ng. */
  readonly voice: string;
  /** Its language in the catalogue, if it is there. */
  readonly language: string | undefined;
  readonly stage: string;
  /** A folder of espeak-ng's data that came with the voice. */
  readonly own?: string | undefined;
}

/**
 * Data for a voice that the catalogue does not know: the pinned ones if the hub gives them, otherwise a copy of those of the system.
 * @throws TtsError where there are none
 */
export async function ownEspeak(
  { voice, language, stage, own }: OwnData,
  session: Session,
): Promise<Manifest['espeak']> {
  const copy = (from: string) => {
    for (const name of neededOf(from, voice) ?? [])
      copyInto(join(from, name), join(stage, 'espeak-ng-data', name));
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

/** The folder of espeak-ng's data at its hub. */
const PREFIX = 'espeak-ng-data/';

/** Systems keep espeak-ng's data in one of these. */
const SYSTEM_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu/espeak-ng-data',
  '/usr/lib/aarch64-linux-gnu/espeak-ng-data',
  '/usr/lib/espeak-ng-data',
  '/usr/share/espeak-ng-data',
  '/usr/local/share/espeak-ng-data',
  '/opt/homebrew/share/espeak-ng-data',
];

const BASE = ['phontab', 'phonindex', 'phondata', 'intonations'];

/** The shared folder below that of all data. Its name tells the commit that its files come from. */
export function espeakFolder({ repositories }: Catalogue): string {
  const { espeak } = repositories;
  return `espeak/${espeak && 'commit' in espeak ? espeak.commit.slice(0, 8) : 'own'}`;
}

/** The name of a file inside the folder. */
export function nameInFolder({ path }: Pick<PinnedFile, 'path'>): string {
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length) : path;
}

/** @returns the language of a voice of espeak-ng in the catalogue; `undefined` where its data are not there */
export function pinnedLanguage(catalogue: Catalogue, voice: string): string | undefined {
  const asked = voice.toLowerCase();
  const [language = ''] = asked.split('-');
  const files = catalogue.espeak.languages[language] ?? [];
  const names = files.map(({ path }) => basename(path).toLowerCase());
  // The file of French says that it is fr-fr, too.
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

/** What a voice needs of espeak-ng's data in a folder of it: paths inside the folder. */
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
