import { defineConfig } from 'rolldown';
import { aliases } from './aliases.ts';
import { assets } from './assets.ts';
import { chunk } from './chunks.ts';
import { finished } from './finished.ts';
import { notices } from './notices.ts';
import { latePatterns } from './patterns.ts';
import { raw } from './raw.ts';

// The last two are used by `asking` and `ownVoices`, and each of them is to load without the other.
const speaking = chunk('/src/cli/speak.ts', '/src/kit/tier-up.ts', '/src/sound/samples.ts');
const asking = chunk('/src/voices/service.ts', '/stand-ins/undici.cjs');
const starting = chunk('/src/main.ts');
const commandLine = chunk('/src/cli/command-line.ts');
const ownVoices = chunk('/src/engines/flite-thread.ts');
const installedVoices = chunk(
  ...['/src/voices/sources.ts', '/src/voices/installed.ts'],
  ...['/src/engines/external.ts', '/src/engines/model.ts'],
);

/** `main`, and the programs of threads and processes of its own. Every `await import()` in the source is a chunk border. */
export default defineConfig([
  {
    input: { main: 'src/main.ts' },
    platform: 'node',
    tsconfig: true,
    // Lowers `await using`, which Node 20 does not know.
    transform: { target: 'es2023' },
    preserveEntrySignatures: 'allow-extension',
    // The help is asked for by the program itself, and is a row in the table of commands as well.
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false },
    plugins: [
      raw(),
      aliases(),
      speaking.plugin,
      asking.plugin,
      starting.plugin,
      commandLine.plugin,
      ownVoices.plugin,
      installedVoices.plugin,
      latePatterns(),
      notices(),
      assets(),
      finished(),
    ],
    // cosmiconfig loads these for config that is code, which is never read.
    external: ['typescript', 'import-fresh'],
    output: {
      dir: 'dist',
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      cleanDir: true,
      comments: false,
      // A start compiles a third less. The names stay for stack traces.
      minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
      // The chunks are CommonJS: `require` loads them without Node's loader of ECMAScript modules.
      dynamicImportInCjs: false,
      codeSplitting: {
        includeDependenciesRecursively: false,
        // A module goes into the first chunk that has it.
        groups: [
          { name: 'starting', test: starting.has },
          { name: 'command-line', test: commandLine.has },
          { name: 'speaking', test: speaking.has },
          { name: 'engines', test: ownVoices.has },
          { name: 'asking', test: asking.has },
          { name: 'installed', test: installedVoices.has },
        ],
      },
    },
  },
  {
    input: { model: 'src/engines/model-program.ts' },
    platform: 'node',
    tsconfig: true,
    output: { dir: 'dist', format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: 'model-[name].mjs' },
  },
  {
    input: { worker: 'src/engines/flite-worker.ts' },
    platform: 'node',
    tsconfig: true,
    output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'worker-[name].cjs' },
  },
  {
    input: { mp3: 'src/sound/encode/mp3-worker.ts' },
    platform: 'node',
    tsconfig: true,
    output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', chunkFileNames: 'mp3-[name].cjs' },
  },
]);
