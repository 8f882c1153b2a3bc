import { statSync } from 'node:fs';
import type { Host } from '../host.ts';
import { findConfig } from './config-places.ts';
import type { Hide } from './read-config.ts';
import type { ConfigFile } from './resolve.ts';

/**
 * Config files, checked, the strongest first: the one nearest to the working folder, then the user's own. A file that
 * was named is the only one; it may be a pipe. The parsers are loaded only when there is a file to read.
 * @throws TtsError (usage) naming the file and what is wrong in it
 */
export async function loadConfig(
  host: Host,
  named: string | undefined,
  told: { readonly hide: Hide; readonly signal: AbortSignal },
): Promise<ConfigFile[]> {
  if (named !== undefined) return [await (await import('./read-config.ts')).loadNamed(named, host, told)];
  const candidates = findConfig(host);
  if (candidates.length === 0) return [];
  const { readConfig } = await import('./read-config.ts');
  const loaded: ConfigFile[] = [];
  for (const candidate of candidates) {
    if (loaded.some(({ place }) => place === candidate.place)) continue;
    loaded.push(readConfig(candidate, told.hide));
  }
  return loaded;
}

/** Permission for the group, or for everybody, to read. */
const READ_BY_OTHERS = 0o044;

/** The user's own files that hold a key and can be read by others. Windows keeps permissions elsewhere. */
export function exposedFiles(files: readonly ConfigFile[], platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return [];
  return files
    .filter(({ place, values }) => place === 'user' && (values.apiKey ?? values.keys) !== undefined)
    .map(({ path }) => path)
    .filter((path) => ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & READ_BY_OTHERS) !== 0);
}
