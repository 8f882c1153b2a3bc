import { defineConfig } from 'rolldown';
import { ascii } from './ascii.ts';
import { evaluated } from './evaluated.ts';
import { mended } from './mended.ts';
import { notices } from './notices.ts';
import { spared } from './spared.ts';
import { together } from './together.ts';

// The way to the compiled code: what is compiled anew by every run.
const starting = together('/src/main.ts');
const speaking = together(
  '/src/run.ts',
  '/src/commands.ts',
  '/src/cli/speak/command.ts',
  '/src/cli/speak/run.ts',
);

/**
 * Three programs: `main`, `brief`, and the worker thread that speaks. Every `await import()` in the source is a chunk of
 * its own, so that a run loads only what it uses: that is what start-up time hangs on.
 */
export default defineConfig([
  {
    // An entry of its own hands out its names as they are; for a chunk that is none rolldown makes a getter for each.
    input: { main: 'src/main.ts', speaking: 'src/run.ts' },
    platform: 'node',
    tsconfig: true,
    preserveEntrySignatures: 'allow-extension',
    plugins: [spared(), mended(), evaluated(), starting.plugin, speaking.plugin, ascii(), notices()],
    output: {
      dir: 'dist',
      format: 'cjs',
      entryFileNames: ({ name }) => (name === 'main' ? '[name].cjs' : '[name]-[hash].cjs'),
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
          { name: 'main', test: (id) => starting.has(id) },
          { name: 'speaking', test: (id) => speaking.has(id) && !starting.has(id) },
        ],
      },
    },
  },
  {
    input: { brief: 'src/brief.ts' },
    platform: 'node',
    tsconfig: true,
    output: {
      dir: 'dist',
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'brief-[name].cjs',
      comments: false,
    },
  },
  {
    input: { worker: 'src/service/engine/flite/worker.ts' },
    platform: 'node',
    tsconfig: true,
    output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'worker-[name].cjs' },
  },
]);
