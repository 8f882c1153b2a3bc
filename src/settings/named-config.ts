import { statSync } from 'node:fs';
import { usageError } from '../error.ts';
import type { Host } from '../host.ts';
import { fromHome, pathOf } from '../path-of.ts';
import type { ConfigFile, Hide } from './config-file.ts';
import { readConfig, readPipedConfig } from './read-config.ts';

type Place = Pick<Host, 'cwd' | 'home'>;

/** The config file of a name. It may be a pipe. */
export async function loadNamed(
  name: string,
  host: Place,
  told: { readonly hide: Hide; readonly signal: AbortSignal },
): Promise<ConfigFile> {
  if (name === '') throw usageError('--config: "" is no name of a file', 'name a file with settings');
  const named = { path: located(name, host), place: 'user' as const };
  return isPiped(named.path) ? readPipedConfig(named, told) : readConfig(named, told.hide);
}

function located(name: string, { cwd, home }: Place): string {
  try {
    return pathOf(cwd, fromHome(name, home));
  } catch (cause) {
    throw usageError(`there is no ${name}`, 'correct the name, or name another file with --config', cause);
  }
}

/** Whoever reads what nobody may look at is told why. */
function isPiped(path: string): boolean {
  try {
    const stats = statSync(path);
    return !stats.isFile() && !stats.isDirectory();
  } catch {
    return false;
  }
}
