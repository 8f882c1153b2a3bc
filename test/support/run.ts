import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { emptyFolder } from './folder.ts';
import { type RunningHere, runHere } from './run-here.ts';

/** The program that the tests run. */
export const program = fileURLToPath(new URL('../../bin/tts.cjs', import.meta.url));

/** The Node that runs the program; in `npm run test:matrix` it is not the one that runs the tests. */
export const node = process.env.TTS_TEST_NODE ?? process.execPath;

/** `runHere` reopens its pipe through /proc, which only Linux has. */
const canRunHere = node === process.execPath && process.platform === 'linux';

/** Longer than nearly all runs take, but shorter than the timeout of a test. */
const HANGS_AFTER_MS = 90_000;

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text or bytes, then the end; 'open' is a pipe that stays open without data. By default stdin is empty. */
  readonly stdin?: string | Uint8Array | 'open';
  /** The working folder, relative to that of the sandbox. */
  readonly cwd?: string;
  /** The user to run as, if not root. */
  readonly uid?: number;
  /** Milliseconds after which the run counts as hung. */
  readonly patience?: number;
  /** True to keep the progress lines, which only long runs print, in stderr. */
  readonly showsProgress?: boolean;
}

/** Arguments as a line that is split at spaces, or as a list. */
export type Arguments = string | readonly string[];

export const wordsOf = (args: Arguments) =>
  typeof args === 'string' ? args.split(' ').filter(Boolean) : args;

export interface Ended {
  /** `null` if a signal ended it. */
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stdin: Writable;
  readonly ended: Promise<Ended>;
  /** Sends a signal, and measures the milliseconds until the end. */
  endBy(signal: NodeJS.Signals): Promise<{ ended: Ended; milliseconds: number }>;
}

/** An unconfigured machine: an empty home, an empty working folder, and an empty environment. */
export class Sandbox {
  readonly home: string;
  /** The working folder of runs. */
  readonly folder: string;
  /** A folder with the command `tts`, for a PATH. */
  readonly commands: string;
  /**
   * XDG_RUNTIME_DIR, in which libraries of players leave folders; otherwise they would fill the folder of temporary files.
   */
  readonly #runtime: string;

  constructor() {
    const root = emptyFolder();
    this.home = join(root, 'home');
    this.folder = join(root, 'home', 'work');
    this.commands = join(root, 'commands');
    mkdirSync(this.folder, { recursive: true });
    this.#runtime = join(root, 'runtime');
    mkdirSync(this.commands);
    mkdirSync(this.#runtime, { mode: 0o700 });
    writeFileSync(join(this.commands, 'tts'), `#!/bin/sh\nexec '${node}' '${program}' "$@"\n`);
    chmodSync(join(this.commands, 'tts'), 0o755);
    for (const open of [root, this.home, this.folder]) chmodSync(open, 0o755);
  }

  /** The absolute path of a file in the working folder. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file, with the folders above it. */
  file(name: string, content: string | Uint8Array = ''): string {
    const path = this.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  read(name: string): Buffer {
    return readFileSync(this.path(name));
  }

  list(): string[] {
    return readdirSync(this.folder).sort();
  }

  /** Runs the program to its end, in a process of its own. */
  tts(args: Arguments, options: RunOptions = {}): Promise<Ended> {
    return this.start(args, options).ended;
  }

  /** Runs the program to its end, if the options allow it in the process of the test, as {@link runHere} describes. */
  run(args: Arguments, options: RunOptions = {}): Promise<Ended> {
    const begun = performance.now();
    const run = this.startHere(args, options);
    if (!run) return this.tts(args, options);
    return options.showsProgress ? run.ended : run.ended.then((ended) => withoutProgress(ended, begun));
  }

  /** Starts the program in the process of the test; `undefined` if that is not possible. */
  startHere(args: Arguments, options: RunOptions = {}): RunningHere | undefined {
    const { env = {}, stdin, cwd = '.', uid, patience = HANGS_AFTER_MS } = options;
    const isForNode = Object.keys(env).some((name) => /^(?:NODE_|TMPDIR$)/.test(name));
    if (!canRunHere || isForNode || uid !== undefined || stdin === 'open') return undefined;
    const here = { env: this.#environment(env), stdin, cwd: join(this.folder, cwd), patience };
    return runHere(wordsOf(args), here);
  }

  start(args: Arguments, options: RunOptions = {}): Running {
    return this.#spawn(node, [program, ...wordsOf(args)], options);
  }

  /** Runs a bash command line, in which `tts` is the program. */
  shell(line: string, options: RunOptions = {}): Promise<Ended> {
    return this.startShell(line, options).ended;
  }

  startShell(line: string, options: RunOptions = {}): Running {
    return this.#spawn('bash', ['-c', line], options);
  }

  #spawn(command: string, args: readonly string[], options: RunOptions): Running {
    const { env = {}, stdin, cwd = '.', uid, patience = HANGS_AFTER_MS } = options;
    const child = spawn(command, args, {
      cwd: join(this.folder, cwd),
      env: this.#environment(env),
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
      ...(uid !== undefined && { uid, gid: uid }),
    });
    onTestFinished(() => endGroup(child));
    child.stdin?.on('error', () => {});
    if (stdin !== undefined && stdin !== 'open') child.stdin?.end(stdin);
    const begun = performance.now();
    const all = gather(child, patience);
    const ended = options.showsProgress ? all : all.then((run) => withoutProgress(run, begun));
    ended.catch(() => {});
    return {
      child,
      stdout: child.stdout as Readable,
      stdin: child.stdin as Writable,
      ended,
      endBy: async (signal) => endBy(child, ended, signal),
    };
  }

  #environment(more: Readonly<Record<string, string>>): Record<string, string> {
    const PATH = `${this.commands}:${process.env.PATH}`;
    return { PATH, HOME: this.home, XDG_RUNTIME_DIR: this.#runtime, LC_ALL: 'C.UTF-8', ...more };
  }
}

async function endBy(child: ChildProcess, end: Promise<Ended>, signal: NodeJS.Signals) {
  const begun = performance.now();
  child.kill(signal);
  const ended = await end;
  // A run that has printed why it ends, but cannot end within 50 ms, is killed by the signal. A shell sees the same status.
  const status = ended.stderr === '' ? ended.status : (ended.status ?? 128 + constants.signals[signal]);
  return { ended: { ...ended, status }, milliseconds: performance.now() - begun };
}

/** Collects the output and the status of a process. One that hangs is ended, and fails the test. */
function gather(child: ChildProcess, patience: number): Promise<Ended> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (piece) => stdout.push(piece));
  child.stderr?.on('data', (piece) => stderr.push(piece));
  const hangs = setTimeout(() => endGroup(child), patience);
  const ended = once(child, 'close').then(([status, signal]) => {
    clearTimeout(hangs);
    const said = Buffer.concat(stderr).toString();
    if (signal === 'SIGKILL' && !child.killed) throw new Error(`hung, after it said: ${said}`);
    return { status: status as number | null, stdout: Buffer.concat(stdout), stderr: said };
  });
  ended.catch(() => {});
  return ended;
}

/** Milliseconds after which a run prints its progress on stderr, which may happen to any run on a busy machine. */
const LONG_RUN_MS = 10_000;
const PROGRESS = /^tts: (?:[^\n]* {2}[^\n]*|waiting [^\n]*)\n/gm;

function withoutProgress(run: Ended, begun: number): Ended {
  if (performance.now() - begun < LONG_RUN_MS) return run;
  return { ...run, stderr: run.stderr.replace(PROGRESS, '') };
}

/** Ends a process and the processes that it started. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** The environment for a service, with a key and a speaker; without retries and without the cache. */
export function named(url: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    TTS_BASE_URL: url,
    TTS_API_KEY: KEY,
    TTS_SPEAKER: '7',
    TTS_RETRIES: '0',
    TTS_CACHE: '0',
    ...more,
  };
}

export const KEY = 'key-of-the-tests-5up3r53cr37';

/** Expects a proper failure: this status, one line with a hint or with what was expected, and nothing on stdout. */
export function expectFailure(run: Ended, status: number, message: RegExp): void {
  expect(run.stderr).toMatch(message);
  expect(run.stderr).toMatch(/^tts: [^\n]+(?:\nhint: [^\n]+|(?:; expected| must) [^\n]+)\n$/);
  expect({ status: run.status, stdout: run.stdout.toString('latin1') }).toEqual({ status, stdout: '' });
}

/** True once a run handles signals itself, which Linux reports; before that, a signal just kills it. */
export async function isListening({ child }: Pick<Running, 'child'>): Promise<boolean> {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)/m.exec(status)?.[1]}`);
    // Checks SIGHUP, the last signal that the program handles: Node itself handles SIGINT and SIGTERM earlier.
    if ((caught & 1n) === 0n) return false;
  } catch {
    // Without /proc, the wait below has to suffice.
  }
  await sleep(250);
  return true;
}
