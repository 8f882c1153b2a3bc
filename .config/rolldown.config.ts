import { defineConfig } from 'rolldown';
import { ascii } from './ascii.ts';
import { evaluated } from './evaluated.ts';
import { mended } from './mended.ts';
import { notices } from './notices.ts';
import { spared } from './spared.ts';
import { together } from './together.ts';

// What every command needs first, so that it is not drawn into what only some of them need.
const starting = together('/src/main.ts', '/src/cli/help.ts');
// What nearly every command ends with.
const telling = together('/src/main.ts', '/src/cli/tell.ts');
const keeping = together('/src/code-cache.ts');
const speaking = together('/src/cli/speak.ts', '/src/cli/speech.ts');

/**
 * Two programs: `main`, and the worker thread that speaks. Every `await import()` in the source is a chunk of its own, so
 * that a run loads only what it uses: that is what start-up time hangs on.
 */
export default defineConfig([
  {
    input: { main: 'src/main.ts' },
    platform: 'node',
    tsconfig: true,
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      spared(),
      mended(),
      evaluated(),
      starting.plugin,
      telling.plugin,
      keeping.plugin,
      speaking.plugin,
      ascii(),
      notices(),
    ],
    output: {
      dir: 'dist',
      format: 'cjs',
      entryFileNames: '[name].cjs',
      // Compiled code is kept under the name of its chunk: see src/code-cache.ts.
      chunkFileNames: '[name]-[hash].cjs',
      hashCharacters: 'hex',
      cleanDir: true,
      comments: false,
      // Node 20 finds no modules for an `import()` in code that was kept, see src/code-cache.ts; `require` there is ours.
      dynamicImportInCjs: false,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          { name: 'main', test: (id) => telling.has(id) },
          { name: 'code-cache', test: (id) => keeping.has(id) && !starting.has(id) },
          { name: 'speaking', test: (id) => speaking.has(id) && !starting.has(id) && !keeping.has(id) },
        ],
      },
    },
  },
  {
    input: { worker: 'src/service/engine/worker.ts' },
    platform: 'node',
    tsconfig: true,
    output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'worker-[name].cjs' },
  },
]);
