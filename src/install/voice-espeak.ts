import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { TtsError, usageError } from '../error.ts';
import { espeakFiles, type Repository } from '../installed/catalogue.ts';
import type { InstalledFile, Manifest } from '../installed/manifest.ts';
import { espeakFolder, missingEspeak, nameInFolder, neededOf, systemEspeak } from './espeak.ts';
import { addressIn } from './fetch/hub.ts';
import { hashOf } from './fetch/part.ts';
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
    const sha256 = file.sha256 ?? (await hashOf(path)).digest('hex');
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
