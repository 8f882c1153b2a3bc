import { readFileSync } from 'node:fs';
import type { Plugin } from 'rolldown';

/** Files that the program reads, by their names next to it. The rest of the encoder's package, and what that depends on, stays out. */
const ASSETS = {
  'mp3.wasm': 'node_modules/wasm-media-encoders/wasm/mp3.wasm',
  'page.html': 'src/serve/page.html',
};

export function assets(): Plugin {
  return {
    name: 'assets',
    generateBundle() {
      for (const [fileName, path] of Object.entries(ASSETS))
        this.emitFile({ type: 'asset', fileName, source: readFileSync(path) });
    },
  };
}
