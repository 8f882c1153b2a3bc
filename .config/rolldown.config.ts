import { defineConfig } from 'rolldown';
import { aliases } from './aliases.ts';
import { assets } from './assets.ts';
import { chunk } from './chunks.ts';
import { finished } from './finished.ts';
import { notices } from './notices.ts';
import { latePatterns } from './patterns.ts';
import { raw } from './raw.ts';

// Chunks. The last two modules of `speaking` are shared by `asking` and `ownVoices`, which must load without each other.
const speaking = chunk('/src/cli/speak.ts', '/src/kit/tier-up.ts', '/src/sound/samples.ts');
const asking = chunk('/src/voices/service.ts', '/stand-ins/undici.cjs');
const starting = chunk('/src/main.ts');
const commandLine = chunk('/src/cli/command-line.ts');
const ownVoices = chunk('/src/engines/flite-thread.ts');
const installedVoices = chunk(
  ...['/src/voices/sources.ts', '/src/voices/installed.ts'],
  ...['/src/engines/external.ts', '/src/engines/model.ts'],
);

/** The program, and those of its threads and processes. Every `await import()` in the source starts a chunk. */
export default defineConfig([
  {
    input: { main: 'src/main.ts' },
    platform: 'node',
    tsconfig: true,
    // Lowers `await using`, which Node 20 does not know.
    transform: { target: 'es2023' },
    preserveEntrySignatures: 'allow-extension',
    // `help.ts` is imported statically by the program, and dynamically by the table of commands.
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
    // cosmiconfig needs these only for configs that are code, which are never read.
    external: ['typescript', 'import-fresh'],
    output: {
      dir: 'dist',
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      cleanDir: true,
      comments: false,
      // Less code to compile at the start, by a third. Names are kept for stack traces.
      minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
      // The chunks are CommonJS: `require` loads them without Node's loader of ECMAScript modules.
      dynamicImportInCjs: false,
      codeSplitting: {
        includeDependenciesRecursively: false,
        // Each module goes into the first group that matches.
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
