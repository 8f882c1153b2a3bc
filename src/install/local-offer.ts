import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { usageError } from '../error.ts';
import type { OfferedVoice, PinnedFile } from '../installed/catalogue.ts';
import type { Manifest } from '../installed/manifest.ts';
import { missingEspeak, nameInFolder } from './espeak.ts';
import { hashOf } from './fetch/part.ts';
import { installOffered, partOf, repositoryOf } from './install.ts';
import type { Session } from './session.ts';
import { copyInto, openStore } from './store.ts';

const ESPEAK = 'espeak-ng-data';

/**
 * Installs a voice of the catalogue from files that somebody has copied to this machine.
 * @param place the folder, or the `.onnx` in it
 * @returns `undefined` if it is there already
 * @throws TtsError (usage) for other files than those of the catalogue
 */
export async function installCopied(
  offer: OfferedVoice,
  place: string,
  session: Session,
): Promise<Manifest | undefined> {
  const { catalogue, data, context } = session;
  const folder = statSync(place).isDirectory() ? place : dirname(place);
  openStore(data, context.host.uid);
  const isThere = async (file: PinnedFile, name: string) => isPinned(join(folder, name), file);
  // Copies: the files of the user are not to change with those of the voice.
  const bring = (file: PinnedFile, name: string, repository: string) =>
    copyInto(join(folder, name), partOf(file, repositoryOf(repository, session), session));
  for (const file of offer.files) {
    const name = basename(file.path);
    if (!(await isThere(file, name)))
      throw usageError(
        `${offer.name} is a voice of the catalogue, and ${name} in ${folder} is not its file`,
        'copy all files of that voice, or give your own one another name with --name',
      );
    bring(file, name, offer.from);
  }
  const shared = missingEspeak(catalogue, offer.espeak, data);
  const nameOf = (file: PinnedFile) => join(ESPEAK, nameInFolder(file));
  const found = await Promise.all(shared.map((file) => isThere(file, nameOf(file))));
  const isWhole = !found.includes(false);
  if (isWhole) for (const file of shared) bring(file, nameOf(file), 'espeak');
  return installOffered(offer, session, isWhole ? undefined : join(folder, ESPEAK));
}

async function isPinned(path: string, { size, sha256 }: PinnedFile): Promise<boolean> {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size === size && (await hashOf(path)).digest('hex') === sha256;
}
