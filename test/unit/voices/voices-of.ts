import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { Notices } from '../../../src/cli/notices.ts';
import type { Host } from '../../../src/kit/host.ts';
import { loadSettings, type Setting } from '../../../src/options/load.ts';
import { chooseService } from '../../../src/voices/service-choice.ts';
import { openVoices, type Voices } from '../../../src/voices/voices.ts';
import { emptyFolder } from '../../support/folder.ts';

export const { signal } = new AbortController();

interface Machine {
  /** Without it, there are no programs. */
  readonly path?: string;
  readonly env?: Record<string, string>;
}

/** The voices of a run, with these options and this config of the user. */
export async function voicesOf(
  flags: Record<string, unknown>,
  config: object = {},
  { path = '', env = {} }: Machine = {},
): Promise<Voices> {
  const home = emptyFolder();
  const own = join(home, '.config', 'tts');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'config.json'), JSON.stringify(config));
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const host = {
    ...{
      env: { PATH: path, TTS_CACHE_DIR: join(home, 'cache'), ...env },
      cwd,
      home,
      platform: process.platform,
    },
    ...{ uid: process.geteuid?.(), pid: process.pid, realm: 'the test', isRunning: () => true },
    stderr: {
      fd: 2,
      isTTY: false,
      columns: 80,
      stream: new PassThrough().resume(),
    },
  } as unknown as Host;
  const context = { host, notices: new Notices(host), signal };
  const { settings, files } = await loadSettings({ flags }, context);
  const service = () => chooseService(settings, { ...context, files });
  const voices = await openVoices({ settings, service }, context);
  onTestFinished(() => voices[Symbol.asyncDispose]());
  return voices;
}

export function said<T>(value: T, name = 'p.csv, line 2, column speaker'): Setting<T> {
  return { value, origin: { place: 'option', name } };
}
