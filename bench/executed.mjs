// `node bench/executed.mjs [--list] [arguments of tts]` counts the files of src that a run executes, with V8's coverage of
// an unbundled copy. Without arguments the run is `tts hello -o out.wav` with the built-in voice.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const [, , ...typed] = process.argv;
const isListed = typed[0] === '--list';
const given = typed.slice(isListed ? 1 : 0);
const args = given.length > 0 ? given : ['hello', '-q', '-o', 'out.wav'];

const names = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
const sources = new Set(names.filter((name) => /(?<!\.d)\.ts$/.test(name)));
// Inside the repository, so that packages are found.
const copy = mkdtempSync(join(root, '.executed-'));
const coverage = join(copy, 'coverage');

async function copySource() {
  const input = ['src/main.ts', 'src/engines/flite-worker.ts'].map((path) => join(root, path));
  const bundle = await rolldown({
    input,
    // Bundle only source, packages that are ECMAScript modules, and the helper of `await using`, whose id begins with NUL.
    external: (id) => !/^(?:[./\0]|@echogarden.speex|@oxc-project|strip-ansi|ansi-regex)/.test(id),
    platform: 'node',
    transform: { target: 'es2023' },
    treeshake: false,
  });
  await bundle.write({
    dir: copy,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    preserveModules: true,
    preserveModulesRoot: root,
  });
  writeFileSync(join(copy, 'src/engines/worker.cjs'), "require('./flite-worker.cjs');");
  writeFileSync(join(copy, 'run.cjs'), "require('./src/main.cjs').main(process);");
}

/** Paths of the source files that were executed, by the main thread or a worker. */
function executedFiles() {
  const found = new Set();
  for (const name of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8'));
    for (const { url } of result.filter(({ url }) => url.startsWith('file:'))) {
      const path = relative(join(copy, 'src'), fileURLToPath(url)).replace(/cjs$/, 'ts');
      if (sources.has(path)) found.add(path);
    }
  }
  return [...found].sort();
}

try {
  await copySource();
  const env = { ...process.env, HOME: copy, XDG_CACHE_HOME: join(copy, 'cache'), NODE_V8_COVERAGE: coverage };
  execFileSync(process.execPath, [join(copy, 'run.cjs'), ...args], { cwd: copy, env, stdio: 'inherit' });
  const files = executedFiles();
  if (isListed) console.log(files.join('\n'));
  console.log(`${files.length} of ${sources.size} files executed by tts ${args.join(' ')}`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
