import { statSync } from 'node:fs';
import type { ConfigFile } from './config-file.ts';

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
