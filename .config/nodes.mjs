import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const isWindows = process.platform === 'win32';
const folder = fileURLToPath(new URL('../.cache/nodes', import.meta.url));

const pathOf = (major) => `${folder}/node_modules/node${major}/bin/node${isWindows ? '.exe' : ''}`;

/** @returns the binary of a major version of Node, from the npm package `node`, kept in .cache/nodes */
export function nodeOf(major) {
  if (!existsSync(pathOf(major))) install(major);
  return pathOf(major);
}

function install(major) {
  mkdirSync(folder, { recursive: true });
  const platform = isWindows ? 'win' : process.platform;
  const binary = `node${major}@npm:node-${platform}-${process.arch}@${major}`;
  // Without install scripts, which would download more.
  const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', ...options, binary], {
    stdio: 'inherit',
    shell: isWindows,
  });
  if (status !== 0) throw new Error(`Node ${major} could not be installed`);
}
