import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readFileSync, readlinkSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { codeOf, ExitCode, TtsError, usageError } from './error.ts';

/** A signal that ends the run. */
type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** A signal after which the run continues. Windows has none. */
type UserSignal = 'SIGUSR1' | 'SIGUSR2';

interface Input {
  readonly isTTY: boolean;
  /** Opened at the first access, which throws TtsError (usage) if stdin is a folder. */
  readonly stream: Readable & { setRawMode?(raw: boolean): unknown };
}

export interface Output {
  readonly fd: number;
  readonly isTTY: boolean;
  /** The current width of the terminal; 0 or `undefined` without one. */
  readonly columns: number | undefined;
  /** Opened at the first access, which sets the descriptor up for asynchronous use. */
  readonly stream: Writable;
}

/** Everything that the program uses of its process and its environment. */
export interface Host {
  /** The arguments; U+FFFD stands for bytes that are not UTF-8. */
  readonly argv: readonly string[];
  /** False if a U+FFFD in `argv` stands for other bytes; `undefined` if the system does not show them. */
  isArgvUtf8(): boolean | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The absolute path of the home folder; `undefined` for a user without one. */
  readonly home: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  /** Identifies the boot of a machine, or the container, within which process IDs are unique. */
  readonly realm: string;
  /** The ID of the user; `undefined` on Windows. */
  readonly uid: number | undefined;
  /** Version and architecture of Node: `v20.19.0-x64`. */
  readonly runtime: string;
  readonly execPath: string;
  /** True if a process of this realm has this ID. */
  isRunning(pid: number): boolean;
  /** Asks a process to end. Throws if it does not exist. */
  askToEnd(pid: number): void;
  /** Asks a run to check whether it is paused. Throws if it does not exist. */
  askToLook(pid: number): void;
  /** Kills a process group. Throws if it does not exist. */
  endGroup(pid: number): void;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: EndSignal | UserSignal, listener: () => void): void;
  off(signal: EndSignal | UserSignal, listener: () => void): void;
}

/** The parts of a host that finding and starting a program needs. */
export type ProgramHost = Pick<Host, 'env' | 'platform'>;

interface Messages {
  quiet: boolean;
  verbose: boolean;
  /** Replaces the secret with `***` in all later output. */
  hide(secret: string): void;
  /** Shows this name, which the user gave, unchanged in all output, even if it contains a secret. */
  spare(name: string): void;
  /** Prints a line of information, where nothing is wrong. */
  note(text: string): void;
  warn(text: string): void;
  /** Prints a warning, but drops it if an output error ends the run within a second. */
  warnLater(text: string): void;
  /** Prints a step of the run if `--verbose` is set. */
  detail(text: () => string): void;
  /** Prints a question, without a line break after it. */
  ask(question: string): void;
  /**
   * Asks for a text that is not shown while it is typed.
   * @returns `undefined` if no person is at a terminal
   */
  askSecret(question: string, signal: AbortSignal): Promise<string | undefined>;
}

export interface RunContext {
  readonly host: Host;
  readonly notices: Messages;
  /** The reason is the error that ends the run. */
  readonly signal: AbortSignal;
}

export function processHost(process: NodeJS.Process): Host {
  return {
    argv: process.argv.slice(2),
    isArgvUtf8,
    env: process.env,
    get cwd() {
      return workingFolder(process);
    },
    get home() {
      return homeFolder(process);
    },
    platform: process.platform,
    pid: process.pid,
    get realm() {
      return realmOf(process);
    },
    uid: process.geteuid?.(),
    runtime: `${process.version}-${process.arch}`,
    execPath: process.execPath,
    isRunning: (pid) => isRunning(process, pid),
    askToEnd: (pid) => void process.kill(pid, 'SIGTERM'),
    askToLook: (pid) => void process.kill(pid, 'SIGUSR2'),
    endGroup: (pid) => void process.kill(-pid, 'SIGKILL'),
    stdin: {
      get isTTY() {
        return isTerminal(process, 0);
      },
      get stream() {
        // Node would read a folder as empty.
        if (fstatSync(0).isDirectory())
          throw usageError('stdin is a folder', 'redirect a file, or use a pipe');
        return process.stdin;
      },
    },
    stdout: outputOf(process, 'stdout'),
    stderr: outputOf(process, 'stderr'),
    on: (signal, listener) => void process.on(signal, listener),
    off: (signal, listener) => void process.off(signal, listener),
  };
}

function isArgvUtf8(): boolean | undefined {
  try {
    return isUtf8(readFileSync('/proc/self/cmdline'));
  } catch {
    return undefined;
  }
}

/** Does what `os.homedir()` does, but loads `node:os` only for a user without HOME, as in a container. */
function homeFolder(process: NodeJS.Process): string | undefined {
  try {
    const named = process.platform === 'win32' ? undefined : process.env.HOME;
    const home = named ?? process.getBuiltinModule('node:os').homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}

function workingFolder(process: NodeJS.Process): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw usageError('the working folder is gone', 'change to a folder that exists', cause);
  }
}

/** The realm is the boot and the process namespace on Linux, and elsewhere the name of the machine. */
function realmOf(process: NodeJS.Process): string {
  const machine = () => process.getBuiltinModule('node:os').hostname();
  if (process.platform !== 'linux') return machine();
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')}${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return machine();
  }
}

function isRunning(process: NodeJS.Process, pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return false;
  }
  return process.platform !== 'linux' || !hasEnded(pid);
}

/** An ended process still takes signals until its parent reads its status, which init in a container may never do. */
function hasEnded(pid: number): boolean {
  try {
    return /^State:\s[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

function outputOf(process: NodeJS.Process, name: 'stdout' | 'stderr'): Output {
  const fd = name === 'stdout' ? 1 : 2;
  return {
    fd,
    get isTTY() {
      return isTerminal(process, fd);
    },
    get columns() {
      return process[name].columns;
    },
    get stream() {
      return process[name];
    },
  };
}

/** `node:tty` loads the network stack, which takes 2 ms. */
function isTerminal(process: Pick<NodeJS.Process, 'getBuiltinModule'>, fd: number): boolean {
  return mayBeTerminal(fd) && process.getBuiltinModule('node:tty').isatty(fd);
}

function mayBeTerminal(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    return !(found.isFile() || found.isFIFO() || found.isSocket());
  } catch {
    return true;
  }
}

const MEANINGS: Record<EndSignal, { what: string; exitCode: ExitCode }> = {
  SIGINT: { what: 'interrupted', exitCode: ExitCode.interrupted },
  SIGTERM: { what: 'terminated', exitCode: ExitCode.terminated },
  SIGHUP: { what: 'the terminal is gone', exitCode: ExitCode.hangup },
};

/** Makes a signal that aborts, with the error that ends the run, when the process is asked to end. */
export function interruption(host: Host): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const listeners = Object.entries(MEANINGS).map(([name, { what, exitCode }]) => {
    const listener = () => controller.abort(new TtsError(what, { exitCode }));
    host.on(name as EndSignal, listener);
    return () => host.off(name as EndSignal, listener);
  });
  return { signal: controller.signal, stop: () => listeners.forEach((off) => void off()) };
}

/** Ignores signals that may come before or after a run: SIGUSR2 would end the process, SIGUSR1 start its debugger. */
export function outliveUserSignals(host: Host): void {
  if (host.platform === 'win32') return;
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) host.on(signal, () => {});
}

/** A process that a signal ended has this status plus the number of the signal. */
const SIGNALS = 128;

/** Milliseconds that an interrupted process has to end by itself. */
const GRACE_MS = 50;

const STANDARD_STREAMS = [0, 1, 2];

type Process = Pick<NodeJS.Process, 'exit' | 'kill' | 'once' | 'pid' | 'platform' | 'getBuiltinModule'> & {
  exitCode?: number | string | null | undefined;
};

/** @param isAsked true if a signal has asked the process to end, whatever its status */
export function endWith(status: number, process: Process, isAsked = false): void {
  process.exitCode = status;
  const dieOfSignal = () => process.kill(process.pid, status - SIGNALS);
  process.once('exit', () => {
    const isTyped = status === ExitCode.interrupted && isOnTerminal(process);
    closeLostTerminals(process);
    // bash continues its loop after a child that returns 130, but not after one that the signal ended.
    if (isTyped) dieOfSignal();
  });
  // Some work, such as the lookup of a host name, cannot be cancelled.
  if (status > SIGNALS) setTimeout(dieOfSignal, GRACE_MS).unref();
  else if (isAsked) setTimeout(() => process.exit(), GRACE_MS).unref();
}

function isOnTerminal(process: Process): boolean {
  return process.platform !== 'win32' && STANDARD_STREAMS.some((fd) => isTerminal(process, fd));
}

/** Closes descriptors of a lost terminal: Node 20 crashes on exit if the terminal that it was started on is gone. */
function closeLostTerminals(process: Process): void {
  for (const fd of STANDARD_STREAMS) if (isLostTerminal(process, fd)) closeSync(fd);
}

/** True for a device that is no terminal any more. Major number 1, such as /dev/null, never was one. */
function isLostTerminal(process: Process, fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev >> 8 !== 1 && !isTerminal(process, fd);
  } catch {
    return false;
  }
}

/** Variables that hold a secret of this program, or name a file with one. No other program gets them; output hides them. */
export const SECRET_VARIABLES = [
  'TTS_API_KEY',
  'TTS_API_KEY_FILE',
  'TTS_ENGINE_KEY',
  'TTS_ENGINE_KEY_FILE',
  'HF_TOKEN',
] as const;

/** Variables with addresses that may hold a user and a password. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'];

/** Yields the values that no output may show. The name of a file is no secret. */
export function* secretsIn(env: Host['env']): Generator<string> {
  for (const name of SECRET_VARIABLES) if (!name.endsWith('_FILE')) yield env[name]?.trim() ?? '';
}

/** @param usesNetwork true keeps the passwords of proxies */
export function withoutSecrets(env: Host['env'], usesNetwork = false): Record<string, string | undefined> {
  const rest = { ...env };
  for (const name of SECRET_VARIABLES) delete rest[name];
  for (const name of usesNetwork ? [] : PROXIES) {
    const address = rest[name];
    if (address !== undefined) rest[name] = withoutPossibleLogin(address);
  }
  return rest;
}

/** Removes all that may be a login, also from an address that is no valid URL, such as `user:password@host:3128`. */
function withoutPossibleLogin(address: string): string {
  const start = address.indexOf('://');
  const scheme = start < 0 ? '' : address.slice(0, start + 3);
  return scheme + address.slice(Math.max(scheme.length, address.lastIndexOf('@') + 1));
}
