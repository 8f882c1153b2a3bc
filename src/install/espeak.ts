import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Catalogue, espeakFiles, type PinnedFile } from '../installed/catalogue.ts';

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
  return `espeak/${repositories.espeak?.commit.slice(0, 8) ?? 'own'}`;
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
export function systemEspeak(voice: string): string | undefined {
  return SYSTEM_FOLDERS.find((folder) => neededOf(folder, voice) !== undefined);
}
