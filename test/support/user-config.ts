import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sandbox } from './run.ts';

/** The path of the user's config. */
export function userConfig({ home }: Sandbox, name = 'config.json'): string {
  return join(home, '.config', 'tts', name);
}

/** Writes the user's config, a string unchanged and everything else as JSON; by default readable by the user only. */
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
