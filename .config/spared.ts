import { fileURLToPath } from 'node:url';
import type { Plugin } from 'rolldown';
import { Used } from './used.ts';

interface Spared {
  /** Who loads it. */
  readonly importer: RegExp;
  readonly module: RegExp;
  /** A file of `stand-ins/` that takes its place. */
  readonly standIn: string;
}

/**
 * What bundled packages load at start-up and this tool never uses. Each entry was measured on Node 20; the tests that
 * run the built program show that nothing is missing.
 */
const SPARED: readonly Spared[] = [
  // commander can run subcommands as programs of their own; ours are functions. 4 ms.
  { importer: /\/commander\//, module: /^node:child_process$/, standIn: 'nothing' },
  // HTTP/2 is never offered to a server. 3 ms.
  { importer: /\/undici\//, module: /client-h2(\.js)?$/, standIn: 'nothing' },
  // undici asks whether a body is an IncomingMessage; ours are strings. 3 ms.
  { importer: /\/undici\/lib\/(core\/util|dispatcher\/client)\.js$/, module: /^node:http$/, standIn: 'http' },
  // Checks of itself, for which node:assert brings the formatting of differences with it. 2 ms.
  { importer: /\/undici\//, module: /^node:assert$/, standIn: 'assert' },
  // A tree of the names of headers, for whoever reads thousands of answers. With the collection of its memory 1 ms.
  { importer: /\/undici\/lib\/core\//, module: /^\.\/constants(\.js)?$/, standIn: 'header-names' },
  // The bodies of fetch: forms, blobs, web streams. A quarter of the chunk.
  { importer: /\/undici\//, module: /web\/fetch\/body\.js$/, standIn: 'nothing' },
];

/** @throws where a package has changed, so that nothing is loaded again in silence */
export function spared(): Plugin {
  const used = new Used(SPARED);
  return {
    name: 'spared',
    ...used.hooks('.config/spared.ts'),
    resolveId: {
      order: 'pre',
      handler(id, importer = '') {
        const found = SPARED.find((entry) => entry.importer.test(importer) && entry.module.test(id));
        if (!found) return null;
        used.add(found);
        return fileURLToPath(new URL(`stand-ins/${found.standIn}.cjs`, import.meta.url));
      },
    },
  };
}
