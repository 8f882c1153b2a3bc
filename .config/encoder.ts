import { readFileSync } from 'node:fs';
import type { Plugin } from 'rolldown';

/** Puts the MP3 encoder next to the program. The rest of its package, and what that depends on, stays out. */
export function encoder(): Plugin {
  return {
    name: 'encoder',
    generateBundle() {
      const source = readFileSync('node_modules/wasm-media-encoders/wasm/mp3.wasm');
      this.emitFile({ type: 'asset', fileName: 'mp3.wasm', source });
    },
  };
}
