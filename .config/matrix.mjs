import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Runs the end-to-end tests of speaking, or those that are named, on every Node that the built program promises to work
 * on: the binaries from the npm package `node`, kept in .cache/nodes. The tests themselves run on the Node that runs this.
 */
const MAJORS = [20, 22, 24, 26];
const COUNTING = '--reporter=./.config/counting-reporter.ts';
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}.cache/nodes`;
const platform = process.platform === 'win32' ? 'win' : process.platform;

const binaryOf = (major) =>
  `${folder}/node_modules/node${major}/bin/node${process.platform === 'win32' ? '.exe' : ''}`;

function install(majors) {
  mkdirSync(folder, { recursive: true });
  const packages = majors.map((major) => `node${major}@npm:node-${platform}-${process.arch}@${major}`);
  // Into a folder of their own, and without the scripts that would download.
  const options = ['--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', ...options, ...packages], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('the binaries of Node could not be installed');
}

function test(major, filters) {
  const binary = binaryOf(major);
  const version = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout?.trim();
  const arguments_ = ['run', '--config', '.config/vitest.config.ts', '--reporter=dot', COUNTING, ...filters];
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

const missing = MAJORS.filter((major) => !existsSync(binaryOf(major)));
if (missing.length > 0) install(missing);
const [, , ...typed] = process.argv;
const results = MAJORS.map((major) => test(major, typed.length > 0 ? typed : ['test/e2e/speak-']));
process.exitCode = results.every(Boolean) ? 0 : 1;
