import type { Host } from '../host.ts';
import { type ConfigPath, findConfig } from './config-places.ts';

/** What a config file says, checked: each value is of its rule's kind. */
export interface ConfigFile {
  readonly path: string;
  /** Where it lies: relative paths in it begin here. */
  readonly folder: string;
  readonly place: ConfigPath['place'];
  readonly values: Readonly<Record<string, unknown>>;
}

/** Told what must never be shown. */
export type Hide = (secret: string) => void;

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
  if (named !== undefined) return [await (await import('./named-config.ts')).loadNamed(named, host, told)];
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
