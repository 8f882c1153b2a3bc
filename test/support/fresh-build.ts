import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** When the newest file of a folder was modified, in ms since 1970; 0 for a missing folder. */
function newest(folder: string): number {
  try {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
    return Math.max(0, ...names.map((name) => statSync(join(root, folder, name)).mtimeMs));
  } catch {
    return 0;
  }
}

/** Fails if the build is older than the source, since end-to-end tests run the build. */
export function setup(): void {
  const built = statSync(join(root, 'dist', 'main.cjs'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built < newest('src'))
    throw new Error('dist is older than src: run `npm run build`, or `npm run test:e2e`');
}
