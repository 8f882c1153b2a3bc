import { createRequire } from 'node:module';
import { basename } from 'node:path';
import type { Plugin } from 'rolldown';
import { Used } from './used.ts';

const require = createRequire(import.meta.url);

/** WebAssembly as text in a program is read, compiled and decoded by every run; as a file it is read when it is needed. */
const WASM = /\/undici\/lib\/llhttp\/llhttp(_simd)?-wasm\.js$/;

/** Tables that are made anew by every run, though they never differ; undici uses two of them. */
const CONSTANTS = /\/undici\/lib\/llhttp\/constants\.js$/;

/** Evaluates the data in bundled packages with the build instead of with every run, which saves 1 ms. */
export function evaluated(): Plugin {
  const used = new Used([WASM, CONSTANTS]);
  return {
    name: 'evaluated',
    ...used.hooks('.config/evaluated.ts'),
    load(id) {
      if (CONSTANTS.test(id)) {
        used.add(CONSTANTS);
        const { ERROR, TYPE } = require(id);
        return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
      }
      if (!WASM.test(id)) return null;
      used.add(WASM);
      const fileName = basename(id).replace('-wasm.js', '.wasm');
      this.emitFile({ type: 'asset', fileName, source: require(id) });
      return `
        const { readFileSync } = require('node:fs');
        const { join } = require('node:path');
        module.exports = readFileSync(join(__dirname, '${fileName}'));`;
    },
  };
}
