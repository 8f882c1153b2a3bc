import { defineConfig } from 'rolldown';
import { notices } from './notices.ts';
import { spared } from './spared.ts';

/**
 * Two programs, `main` and the speech worker. Every `await import()` in the source is a chunk of its own, so
 * that a run loads only what it uses: that is what start-up time hangs on.
 */
export default defineConfig({
  input: { main: 'src/main.ts', worker: 'src/service/engine/worker.ts' },
  platform: 'node',
  tsconfig: true,
  plugins: [spared(), notices()],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    cleanDir: true,
  },
});
