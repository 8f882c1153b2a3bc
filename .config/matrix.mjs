import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeOf } from './nodes.mjs';

/**
 * Runs the end-to-end tests of speaking, batches and formats, or the named ones, with the built program on every major
 * version of Node that it supports. The binaries come from the npm package `node` and are kept in .cache/nodes. The tests
 * themselves run on the current Node.
 */
const MAJORS = [20, 22, 24, 26];
const USUAL = ['speak-', 'batch', 'encode', 'books', 'play.test', 'voices.test'].map(
  (name) => `test/e2e/${name}`,
);
const COUNTING = '--reporter=./.config/counting-reporter.ts';
const root = fileURLToPath(new URL('..', import.meta.url));
function test(major, filters) {
  const binary = nodeOf(major);
  const version = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim();
  const arguments_ = ['run', '--project', 'e2e', '--reporter=dot', COUNTING, ...filters];
  const { status, stdout, stderr } = spawnSync('node_modules/.bin/vitest', arguments_, {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, TTS_TEST_NODE: binary },
    maxBuffer: 2 ** 28,
    shell: process.platform === 'win32',
  });
  const [counts = 'nothing ran'] = /^\d+ passed, .*$/m.exec(stdout) ?? [];
  console.log(`${version ?? `Node ${major}`}  ${counts}`);
  if (status !== 0) console.log(stdout + stderr);
  return status === 0;
}

const [, , ...typed] = process.argv;
const results = MAJORS.map((major) => test(major, typed.length > 0 ? typed : USUAL));
process.exitCode = results.every(Boolean) ? 0 : 1;
