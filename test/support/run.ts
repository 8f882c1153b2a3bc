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
import { runHere } from './run-here.ts';

/** What is run. */
export const program = fileURLToPath(new URL('../../bin/tts.cjs', import.meta.url));

/** The Node that runs the program; another one than that of the tests for `npm run test:matrix`. */
export const node = process.env.TTS_TEST_NODE ?? process.execPath;

/** `runHere` opens its pipe by a way that only Linux has. */
const canRunHere = node === process.execPath && process.platform === 'linux';

/** Longer than nearly all runs take, shorter than the patience of a test. */
const HANGS_AFTER_MS = 90_000;

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text or bytes that end; "open" is a pipe that nobody writes to or closes. Otherwise there is nothing to read. */
  readonly stdin?: string | Uint8Array | 'open';
  /** A folder below the sandbox's own. */
  readonly cwd?: string;
  /** Run by somebody else than root. */
  readonly uid?: number;
  /** Milliseconds after which the run counts as hung. */
  readonly patience?: number;
  /** With it, stderr holds the lines that only a long run says, too. */
  readonly showsProgress?: boolean;
}

/** Arguments: the words of a line, at single spaces, or each by itself. */
export type Arguments = string | readonly string[];

export const wordsOf = (args: Arguments) =>
  typeof args === 'string' ? args.split(' ').filter(Boolean) : args;

export interface Ended {
  /** `null` where a signal ended it. */
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stdin: Writable;
  readonly ended: Promise<Ended>;
  /** Milliseconds from a signal to the end. */
  endBy(signal: NodeJS.Signals): Promise<{ ended: Ended; milliseconds: number }>;
}

/** A machine on which nothing is configured: an empty home, an empty folder, an empty environment. */
export class Sandbox {
  readonly home: string;
  /** Runs happen in it. */
  readonly folder: string;
  /** The command `tts` lies in it, so it can stand in a PATH. */
  readonly commands: string;
  /** Where libraries of players leave their folders, which would otherwise stay in that for temporary files. */
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

  /** The absolute path of a file in the folder. */
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

  /** Runs the program to its end in the process of the test if the options allow it: `runHere` says what that shows. */
  run(args: Arguments, options: RunOptions = {}): Promise<Ended> {
    const { env = {}, stdin, cwd = '.', uid, patience = HANGS_AFTER_MS } = options;
    const isForNode = Object.keys(env).some((name) => /^(?:NODE_|TMPDIR$)/.test(name));
    if (!canRunHere || isForNode || uid !== undefined || stdin === 'open') return this.tts(args, options);
    const begun = performance.now();
    const here = { env: this.#environment(env), stdin, cwd: join(this.folder, cwd), patience };
    const ended = runHere(wordsOf(args), here);
    return options.showsProgress ? ended : ended.then((run) => withoutProgress(run, begun));
  }

  start(args: Arguments, options: RunOptions = {}): Running {
    return this.#spawn(node, [program, ...wordsOf(args)], options);
  }

  /** Runs a line of bash, in which `tts` is the program. */
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
  // A run that has said why it ends and cannot end within 50 ms dies of the signal. A shell sees no difference.
  const status = ended.stderr === '' ? ended.status : (ended.status ?? 128 + constants.signals[signal]);
  return { ended: { ...ended, status }, milliseconds: performance.now() - begun };
}

/** What a process said, and how it ended. One that hangs is ended, and fails the test. */
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

/** Milliseconds. A run that takes longer says on stderr how far it is, as any run may on a busy machine. */
const LONG_RUN_MS = 10_000;
const PROGRESS = /^tts: (?:[^\n]* {2}[^\n]*|waiting [^\n]*)\n/gm;

function withoutProgress(run: Ended, begun: number): Ended {
  if (performance.now() - begun < LONG_RUN_MS) return run;
  return { ...run, stderr: run.stderr.replace(PROGRESS, '') };
}

/** The process and what it started. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** A service that was named, with a key and a speaker; one try, and every run asks it again. */
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

/** Expects a run that failed as it should: this status, one line that says what is expected or has a hint, nothing on stdout. */
export function expectFailure(run: Ended, status: number, message: RegExp): void {
  expect(run.stderr).toMatch(message);
  expect(run.stderr).toMatch(/^tts: [^\n]+(?:\nhint: [^\n]+|(?:; expected| must) [^\n]+)\n$/);
  expect({ status: run.status, stdout: run.stdout.toString('latin1') }).toEqual({ status, stdout: '' });
}

/** Whether a run has its own way with signals already, as Linux tells; before, it simply ends. */
export async function isListening({ child }: Pick<Running, 'child'>): Promise<boolean> {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)/m.exec(status)?.[1]}`);
    // SIGHUP, the last that the program listens to: SIGINT and SIGTERM are caught by Node itself before that.
    if ((caught & 1n) === 0n) return false;
  } catch {
    // Elsewhere than on Linux the wait below has to do.
  }
  await sleep(250);
  return true;
}
