import { readFileSync } from 'node:fs';
import type { Plugin } from 'rolldown';

/** Files to copy next to the program, which reads them there. So the encoder's package need not be installed. */
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
