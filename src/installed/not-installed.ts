import { statSync } from 'node:fs';
import { type TtsError, usageError } from '../error.ts';
import { dataFolder } from '../files/folders.ts';
import type { Host } from '../host.ts';
import { bytesOf, loadCatalogue, type OfferedVoice, offered, offeredSpeaker } from './catalogue.ts';
import { isOwnFolder, voicesFolder } from './manifest.ts';

/** @returns the error for a voice of the catalogue that is not there; nothing is downloaded while speaking */
export function notInstalled(name: string, asked: string, host: Host): TtsError | undefined {
  const catalogue = loadCatalogue(host);
  const voice = offered(catalogue, name) ?? offeredSpeaker(catalogue, name);
  if (!voice) return undefined;
  const data = dataFolder(host);
  const folder = data === undefined ? undefined : voicesFolder(data);
  if (folder !== undefined && statSync(folder, { throwIfNoEntry: false }) && !isOwnFolder(folder, host.uid))
    return usageError(
      `${asked}: the voices in ${folder} are not used, since others may write there`,
      `correct its owner and its mode: chmod 700 ${folder}`,
    );
  const isOne = offered(catalogue, name) !== undefined;
  const who = isOne ? `the voice ${voice.name}` : `${name} is a speaker of the voice ${voice.name}, which`;
  return usageError(`${asked}: ${who} is not installed`, installLine(voice));
}

/** The command that installs a voice, with its size and its licence. */
export function installLine({ name, files, licence }: OfferedVoice): string {
  return `tts voices install ${name} (${Math.round(bytesOf(files) / 1e6)} MB, ${licence})`;
}
