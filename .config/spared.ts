import type { Plugin } from 'rolldown';

/**
 * What bundled packages load at start-up and this tool never uses, with what stands in for it. Each entry was measured
 * on Node 20 and is guarded by the tests that run the built program.
 */
const SPARED: readonly { importer: RegExp; module: RegExp; standIn: string }[] = [
  // commander can run subcommands as programs of their own; ours are functions. Saves 4 ms.
  { importer: /node_modules\/commander\//, module: /^node:child_process$/, standIn: 'module.exports = {};' },
  // HTTP/2 is never offered to a server. Saves 3 ms.
  { importer: /node_modules\/undici\//, module: /client-h2(\.js)?$/, standIn: 'module.exports = {};' },
  // undici asks whether a body is an IncomingMessage; ours are strings. Saves 3 ms.
  {
    importer: /node_modules\/undici\/lib\/(core\/util|dispatcher\/client)\.js$/,
    module: /^node:http$/,
    standIn: 'exports.IncomingMessage = class {}; exports.maxHeaderSize = 16384;',
  },
  // Bodies of fetch: forms, blobs, web streams.
  { importer: /node_modules\/undici\//, module: /web\/fetch\/body\.js$/, standIn: 'module.exports = {};' },
  // Without a caller's `.ts` config there is nothing to compile; nor is JavaScript ever loaded as config.
  {
    importer: /node_modules\/cosmiconfig\//,
    module: /^(typescript|import-fresh)$/,
    standIn: 'module.exports = {};',
  },
];

export function spared(): Plugin {
  return {
    name: 'spared',
    resolveId: {
      order: 'pre',
      handler(id, importer = '') {
        const index = SPARED.findIndex((entry) => entry.importer.test(importer) && entry.module.test(id));
        return index < 0 ? null : `\0spared-${index}.cjs`;
      },
    },
    load(id) {
      const index = /^\0spared-(\d+)\.cjs$/.exec(id)?.[1];
      return index === undefined ? null : (SPARED[Number(index)]?.standIn ?? null);
    },
  };
}
