import { usageError } from '../kit/error.ts';
import { dataFolder } from '../kit/folders.ts';
import type { CommandLine, Context } from './commands.ts';
import type { VoicesLine } from './voices-list.ts';

export async function names(): Promise<readonly string[]> {
  const { loadCatalogue } = await import('../voices/install/catalogue.ts');
  return loadCatalogue({ env: {}, cwd: '' }).voices.map(({ name }) => name);
}

export async function run(
  { flags, words: [what, ...names] }: CommandLine,
  context: Context,
): Promise<number> {
  const data = dataFolder(context.host);
  if (data === undefined)
    throw usageError(
      'there is no folder for voices: HOME names none',
      'set HOME, or name one with TTS_DATA_DIR',
    );
  const line: VoicesLine = { flags, names, data };
  if (what === undefined) return (await import('./voices-list.ts')).listVoices(line, context);
  const { installVoices, removeVoices, verifyVoices } = await import('./voices-install.ts');
  const act = what === 'install' ? installVoices : what === 'remove' ? removeVoices : verifyVoices;
  return act(line, context);
}
