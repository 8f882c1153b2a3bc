// `npm run bench` measures the table of docs/speed.md, on the current Node and on Node 24 (from the npm package `node`), and
// writes it. `--node PATH`, repeatable, measures other binaries, and `--only TEXT` only rows with TEXT in their names; then
// nothing is written. NODE_EXTRA_CA_CERTS is removed for all commands: Node 20 parses the certificates at every start, which
// would improve ratios.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nodeOf } from '../.config/nodes.mjs';
import { rows } from './rows.mjs';

const { node: named, only } = parseArgs({
  options: { node: { type: 'string', multiple: true }, only: { type: 'string' } },
}).values;
const root = fileURLToPath(new URL('..', import.meta.url));
const work = mkdtempSync(join(process.env.BENCH_DIR ?? tmpdir(), 'tts-bench-'));
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const withoutService = {
  ...inherited,
  HOME: work,
  XDG_CONFIG_HOME: join(work, 'config'),
  XDG_CACHE_HOME: join(work, 'cache'),
  TTS_CACHE: '0',
};
const env = { ...withoutService, TTS_API_KEY: 'bench-key' };

const server = fork(new URL('server.mjs', import.meta.url), { env });
const [port] = await once(server, 'message');
const address = (body) => `http://127.0.0.1:${port}/${body}`;

/** The commands for one Node binary, as rows.mjs describes them. */
function commandsOf(node) {
  const tts = (...args) => [node, join(root, 'bin/tts.cjs'), ...args];
  return {
    tts,
    speak: (body, ...args) => tts('hello', '-s', '3', '--base-url', address(body), ...args),
    curl: (body, ...args) => ['curl', '-s', ...args, '-d', '{}', `${address(body)}/tts`],
    address,
    idle: [node, '-e', '0'],
    work,
    out: join(work, 'out.wav'),
    env,
    withoutService: { env: withoutService },
  };
}

const majorOf = (node) => Number(execFileSync(node, ['-p', 'process.versions.node.split(".")[0]']));

/** The aim for a version: its own, or that of the closest older one. */
const aimOf = (most, major) => most[Object.keys(most).findLast((each) => Number(each) <= major)];

async function cellsOf({ measure, most = {}, unit, digits }, { node, major }) {
  const value = await measure(commandsOf(node));
  const aim = aimOf(most, major);
  const shown = `${value.toFixed(digits)} ${unit}`;
  return [
    aim === undefined || value <= aim ? shown : `**${shown}**`,
    aim === undefined ? '' : `${aim} ${unit}`,
  ];
}

function writeTable(lines) {
  const path = join(root, 'docs/speed.md');
  const page = readFileSync(path, 'utf8');
  const block = /(<!-- bench: begin.*?-->\n).*?(<!-- bench: end -->)/s;
  writeFileSync(
    path,
    page.replace(block, (_, begin, end) => `${begin}${lines.join('\n')}\n${end}`),
  );
}

try {
  const nodes = (named ?? [process.execPath, nodeOf(24)]).map((node) => ({ node, major: majorOf(node) }));
  const lines = [];
  const line = (...cells) => {
    lines.push(`| ${cells.join(' | ')} |`);
    console.log(lines.at(-1));
  };
  line('what', ...nodes.flatMap(({ major }) => [`Node ${major}`, 'at most']));
  line('---', ...nodes.flatMap(() => ['---', '---']));
  for (const row of rows.filter(({ what }) => what.includes(only ?? ''))) {
    const cells = [];
    for (const node of nodes) cells.push(...(await cellsOf(row, node)));
    line(row.what, ...cells);
  }
  if (named === undefined && only === undefined) writeTable(lines);
} finally {
  server.kill();
  rmSync(work, { recursive: true, force: true });
}
