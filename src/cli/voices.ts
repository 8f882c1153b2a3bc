import type { Command } from 'commander';
import { ExitCode, usageError } from '../kit/error.ts';
import { dataFolder } from '../kit/folders.ts';
import { nearestName } from '../kit/words.ts';
import { howToSpeak, readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './commands.ts';
import type { VoicesLine } from './voices-list.ts';

export const words = ['install', 'remove', 'verify'];

export async function names(): Promise<readonly string[]> {
  const { loadCatalogue } = await import('../voices/install/catalogue.ts');
  return loadCatalogue({ env: {}, cwd: '' }).voices.map(({ name }) => name);
}

export async function run(context: Context): Promise<number> {
  const line = readSubcommand(describeCommand(), context, { most: Number.POSITIVE_INFINITY });
  if (!line) return ExitCode.ok;
  const { flags } = line;
  const [what, ...names] = line.words;
  const data = dataFolder(context.host);
  if (data === undefined)
    throw usageError(
      'there is no folder for voices: HOME names none',
      'set HOME, or name one with TTS_DATA_DIR',
    );
  const voices: VoicesLine = { flags, names, data };
  if (what === undefined) return (await import('./voices-list.ts')).listVoices(voices, context);
  if (what === 'install') return (await import('./voices-install.ts')).installVoices(voices, context);
  const { removeVoices, verifyVoices } = await import('./voices-install.ts');
  if (what === 'remove') return removeVoices(voices, context);
  if (what === 'verify') return verifyVoices(voices, context);
  const nearest = nearestName(what, words);
  throw usageError(
    `tts voices does not know "${what}"`,
    `${nearest ? `did you mean ${nearest}?` : `there are ${words.join(', ')};`} ${howToSpeak('tts voices')}`,
  );
}

export function describeCommand(): Command {
  return subcommand(
    'voices',
    'List natural voices that can be installed and those that are. install: download voices by name, and check them. remove, verify: the ones that are installed. HF_ENDPOINT names a mirror, TTS_DATA_DIR another folder.',
    'voices',
  ).argument('[install|remove|verify]');
}
