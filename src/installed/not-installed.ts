import { statSync } from 'node:fs';
import { type TtsError, usageError } from '../error.ts';
import { dataFolder } from '../files/folders.ts';
import type { Host } from '../host.ts';
import { bytesOf, loadCatalogue, offered } from './catalogue.ts';
import { isOwnFolder, voicesFolder } from './manifest.ts';

/** @returns the error for a voice of the catalogue that is not there; nothing is downloaded while speaking */
export function notInstalled(name: string, asked: string, host: Host): TtsError | undefined {
  const voice = offered(loadCatalogue(host), name);
  if (!voice) return undefined;
  const data = dataFolder(host);
  const folder = data === undefined ? undefined : voicesFolder(data);
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false }) && !isOwnFolder(folder, host.uid))
    return usageError(
      `${asked}: the voices in ${folder} are not used, since others may write there`,
      `correct its owner and its mode: chmod 700 ${folder}`,
    );
  const megabytes = Math.round(bytesOf(voice.files) / 1e6);
  return usageError(
    `${asked}: the voice ${voice.name} is not installed`,
    `tts voices install ${voice.name} (${megabytes} MB, ${voice.licence})`,
  );
}
