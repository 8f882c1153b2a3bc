import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of a folder of sample files in any folder above the repository; `undefined` if there is none. */
export function sampleFolder(name: string): string | undefined {
  let folder = fileURLToPath(new URL('../..', import.meta.url));
  for (let above = dirname(folder); above !== folder; above = dirname(folder)) {
    folder = above;
    const samples = join(folder, 'shared', 'samples', name);
    if (existsSync(samples)) return samples;
  }
  return undefined;
}

export function samplesIn(folder: string | undefined, ending: string): readonly string[] {
  return folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(ending));
}
