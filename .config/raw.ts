import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'rolldown';

/** Makes `import text from './FILE?raw'` return the text of a file, as in vitest. */
export function raw(): Plugin {
  return {
    name: 'raw',
    resolveId(source, importer = '') {
      return source.endsWith('?raw') ? resolve(dirname(importer), source) : undefined;
    },
    load(id) {
      if (!id.endsWith('?raw')) return undefined;
      return `export default ${JSON.stringify(readFileSync(id.slice(0, -'?raw'.length), 'utf8'))}`;
    },
  };
}
