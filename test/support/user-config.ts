import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sandbox } from './run.ts';

/** The settings of the user lie here. */
export function userConfig({ home }: Sandbox, name = 'config.json'): string {
  return join(home, '.config', 'tts', name);
}

/** Writes them: a string as it stands, all else as JSON. Nobody else may read them, as is proper, unless the mode says so. */
export function writeUserConfig(
  box: Sandbox,
  content: unknown,
  { name = 'config.json', mode = 0o600 } = {},
): string {
  const path = userConfig(box, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(path, mode);
  return path;
}
