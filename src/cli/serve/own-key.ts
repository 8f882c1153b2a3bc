import type { Host } from '../../host.ts';
import { checkedKey } from '../../settings/key.ts';
import { readKeyFile } from '../../settings/key-file.ts';

const NAME = 'TTS_API_KEY_FILE';

/**
 * The key in the file that the environment names, as containers are given it.
 * @throws TtsError (usage) where it cannot be read, or holds none
 */
export async function keyInFile(host: Host, signal: AbortSignal): Promise<string | undefined> {
  const path = host.env[NAME];
  if (!path) return undefined;
  const named = { value: path, origin: { place: 'environment', name: NAME } } as const;
  const value = await readKeyFile(named, { cwd: host.cwd, home: host.home, signal });
  return checkedKey({ value, origin: named.origin }).value;
}
