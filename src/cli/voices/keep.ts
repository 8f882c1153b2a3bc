import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ExitCode, TtsError, usageError } from '../../error.ts';
import { withVoicesLock } from '../../install/lock.ts';
import { openStore } from '../../install/store.ts';
import { removeVoice, wrongFiles } from '../../install/tidy.ts';
import { loadCatalogue } from '../../installed/catalogue.ts';
import {
  installAgain,
  installedVoices,
  isOwnFolder,
  type Manifest,
  voicesFolder,
} from '../../installed/manifest.ts';
import { nearestName } from '../../nearest.ts';
import { loadSettings } from '../../settings/load.ts';
import type { Context } from '../context.ts';
import type { VoicesLine } from './line.ts';

export async function removeVoices({ flags, names, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  await loadSettings({ flags }, context);
  if (names.length === 0)
    throw usageError('which voice?', 'tts voices --installed lists those that are there');
  const installed = found(names, data, context);
  openStore(data, host.uid);
  await withVoicesLock(data, context, async () => {
    for (const { name } of installed) removeVoice(data, name, host.uid);
  });
  const removed = installed.map(({ name }) => name);
  if (notices.json) notices.result({ removed });
  else notices.note(`removed ${removed.join(', ')}`);
  return ExitCode.ok;
}

/** Ends with 7 where a file is not as it was installed. */
export async function verifyVoices({ flags, names, data }: VoicesLine, context: Context): Promise<number> {
  const { host, notices } = context;
  await loadSettings({ flags }, context);
  const voices = names.length === 0 ? installedVoices(data, host.uid) : found(names, data, context);
  const checked: { name: string; wrong: string[] }[] = [];
  for (const voice of voices) checked.push({ name: voice.name, wrong: await wrongFiles(data, voice) });
  const damaged = checked.filter(({ wrong }) => wrong.length > 0);
  const again = voices.filter((_, at) => checked[at]?.wrong.length).map(installAgain);
  if (notices.json) notices.result({ voices: checked });
  if (damaged.length > 0)
    throw new TtsError(`${damaged.map(({ name }) => name).join(', ')}: not as installed`, {
      exitCode: ExitCode.service,
      hint: `install again: ${again.join('; ')}`,
      details: damaged.flatMap(({ name, wrong }) => wrong.map((each) => `${name}: ${each}`)),
    });
  if (!notices.json)
    notices.result(
      voices.length === 0
        ? 'no voice is installed'
        : checked.map(({ name }) => `${name}  all files are as installed`).join('\n'),
    );
  return ExitCode.ok;
}

function found(names: readonly string[], data: string, { host }: Context): Manifest[] {
  const installed = installedVoices(data, host.uid);
  return names.map((name) => {
    const voice = installed.find((each) => each.name === name || each.key === name);
    if (voice) return voice;
    const folder = join(voicesFolder(data), name);
    if (statSync(folder, { throwIfNoEntry: false }) && !isOwnFolder(folder, host.uid))
      throw usageError(`${folder} belongs to somebody else`, 'correct its owner and its mode');
    const isOffered = loadCatalogue(host).voices.some((each) => each.name === name);
    const nearest = nearestName(
      name,
      installed.map((each) => each.name),
    );
    throw usageError(
      isOffered
        ? `the voice ${name} is not installed`
        : `no installed voice is called ${JSON.stringify(name)}`,
      nearest ? `did you mean ${nearest}?` : 'tts voices --installed lists those that are there',
    );
  });
}
