import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { probeRuntime } from '../../engines/model-process.ts';
import { usageError } from '../../kit/error.ts';
import { findProgram } from '../../kit/folders.ts';
import type { Host, RunContext } from '../../kit/host.ts';
import { outputOf, ProgramError } from '../../kit/program.ts';
import { printable } from '../../kit/words.ts';
import { failure } from './fetch.ts';
import { attempt, RUNTIME_FOLDERS, RUNTIME_VERSION, runtimesIn } from './manifest.ts';
import locks from './runtime-locks.json' with { type: 'json' };
import { partsFolder } from './store.ts';

export const RUNTIME = `sherpa-onnx ${RUNTIME_VERSION}`;

/** Bytes on disk, and bytes of the packages that npm downloads. */
export const RUNTIME_BYTES = { disk: 33_400_000, download: 11_100_000 };

type Kind = keyof typeof locks;

export interface RuntimeOptions {
  readonly data: string;
  /** Another program to load the runtime with, for tests of the source. */
  readonly program?: string;
  /** Other lock files, for tests of a wrong one. */
  readonly locks?: Readonly<Record<Kind, object>>;
  /** False looks only in the data folder, and not next to `tts`. */
  readonly looksBeside?: boolean;
}

/**
 * Finds the runtime, next to `tts` first, by loading it in a process of its own.
 * @returns the name of its package; `undefined` if none can be loaded
 */
export async function findRuntime(
  { data, program, looksBeside = true }: RuntimeOptions,
  { host, signal }: Pick<RunContext, 'host' | 'signal'>,
): Promise<string | undefined> {
  const runtimes = runtimesIn(data, host.uid);
  return (await probeRuntime({ ...host, program, runtimes, looksBeside }, signal)).name;
}

/**
 * Installs the runtime by npm, from a lock file that names every package with its checksum, and without running any script.
 * If the native package does not load, the one in WebAssembly takes its place.
 * @throws TtsError
 */
export async function installRuntime(options: RuntimeOptions, context: RunContext): Promise<void> {
  const { host, notices } = context;
  const npm = await findNpm(host);
  if (npm === undefined) throw noNpm();
  const fault = await installKind('native', npm, options, context);
  if (fault === undefined) return;
  notices.note(`the native runtime does not load here: ${fault}`);
  const second = await installKind('portable', npm, options, context);
  if (second !== undefined)
    throw failure(
      `the runtime ${RUNTIME} does not load: ${second}`,
      'install another version of Node, or choose a server or a program as an engine',
    );
  notices.note('installed the runtime in WebAssembly: it takes about four times as long as the native one');
}

/** @returns why the runtime does not load; `undefined` if it does */
async function installKind(
  kind: Kind,
  npm: readonly [string, ...string[]],
  { data, program, locks: chosen = locks }: RuntimeOptions,
  { host, signal }: RunContext,
): Promise<string | undefined> {
  const target = join(data, 'runtime', RUNTIME_FOLDERS[kind]);
  const folder = attempt(target, () => {
    mkdirSync(join(data, 'runtime'), { recursive: true, mode: 0o700 });
    mkdirSync(partsFolder(data), { recursive: true, mode: 0o700 });
    return mkdtempSync(join(partsFolder(data), 'runtime-'));
  });
  try {
    writePackage(folder, chosen[kind]);
    await runNpm(npm, folder, host, signal);
    const found = await probeRuntime({ ...host, program, runtimes: [folder], looksBeside: false }, signal);
    if (found.name === undefined) return found.fault;
    attempt(target, () => {
      rmSync(target, { recursive: true, force: true });
      renameSync(folder, target);
    });
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writePackage(folder: string, lock: object): void {
  const { name, version, packages } = lock as {
    name: string;
    version: string;
    packages: Record<string, object>;
  };
  const { dependencies } = packages[''] as { dependencies: object };
  const manifest = { name, version, private: true, dependencies };
  attempt(folder, () => {
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  });
}

const ARGUMENTS = [
  'ci',
  '--ignore-scripts',
  '--include=optional',
  '--omit=dev',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--prefer-offline',
  '--loglevel=error',
];

async function runNpm(
  [program, ...first]: readonly [string, ...string[]],
  cwd: string,
  { env }: Host,
  signal: AbortSignal,
): Promise<void> {
  try {
    await outputOf(program, [...first, ...ARGUMENTS], { env, cwd, signal, usesNetwork: true });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (!(cause instanceof ProgramError)) throw cause;
    throw failure(
      `npm could not install the runtime ${RUNTIME}: ${wordsOf(cause.message)}`,
      'check the network and the registry of npm (npm ping); a wrong checksum means that somebody changed a package',
    );
  }
}

/** Shortens the output of npm, which tells what is wrong in several lines, and then where its log is. */
function wordsOf(said: string): string {
  const lines = said.split('\n').map((line) => line.replace(/^npm (?:error|ERR!)\s*/i, '').trim());
  const telling = lines.filter((line) => line !== '' && !/complete log|_logs|\.log$/.test(line));
  return printable(telling.slice(0, 4).join(' ').slice(0, 300));
}

/**
 * Finds npm. The same Node runs it as JavaScript, because on Windows its own launcher would need a shell.
 * @returns the program and its first argument
 */
async function findNpm(host: Host): Promise<[string, ...string[]] | undefined> {
  const { env, execPath, platform } = host;
  const named = env.npm_execpath;
  const folder = dirname(execPath);
  const scripts = [
    ...(named && /^npm/.test(basename(named)) ? [named] : []),
    join(folder, '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js'),
  ];
  for (const script of scripts) {
    const real = await realpath(script).catch(() => undefined);
    if (real !== undefined) return [execPath, real];
  }
  if (platform === 'win32') return undefined;
  const found = await findProgram('npm', host);
  const real = found && (await realpath(found));
  if (real === undefined) return undefined;
  return real.endsWith('.js') ? [execPath, real] : [real];
}

function noNpm() {
  return usageError(
    `an installed voice needs the runtime ${RUNTIME}, and there is no npm to install it`,
    `install npm, or run where npm is: npm install -g sherpa-onnx-node@${RUNTIME_VERSION}`,
  );
}
