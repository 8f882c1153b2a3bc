import { isUtf8 } from 'node:buffer';
import { fstatSync, readFileSync, readlinkSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { usageError } from './error.ts';

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

interface Input {
  readonly isTTY: boolean;
  /** Made at the first look: a run that needs no input never opens it. Throws TtsError (usage) where it is a folder. */
  readonly stream: Readable & { setRawMode?(raw: boolean): unknown };
}

export interface Output {
  /** The file descriptor, for what streams cannot do: to look what kind of thing it is, to put a header right. */
  readonly fd: number;
  readonly isTTY: boolean;
  /** Width of the terminal now; 0 or undefined where there is none. */
  readonly columns: number | undefined;
  /** Made at the first look, since that sets the descriptor up for asynchronous use. */
  readonly stream: Writable;
}

/** All that the program takes from the process it runs in. */
export interface Host {
  /** What was typed behind the program's name; U+FFFD stands for what is not UTF-8. */
  readonly argv: readonly string[];
  /** Whether a U+FFFD in `argv` was typed as one; `undefined` where the system does not show the bytes. */
  isArgvUtf8(): boolean | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Absolute; `undefined` where the user has none. */
  readonly home: string | undefined;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  /** Names the space in which process IDs are unique: equal for processes that can see each other, as far as is known. */
  readonly realm: string;
  /** The number of the user to whom what is made here belongs; `undefined` where users have none (Windows). */
  readonly uid: number | undefined;
  /** Version and architecture of what runs the program: `v20.19.0-x64`. */
  readonly runtime: string;
  /** Whether a process with this number runs in this realm. */
  isRunning(pid: number): boolean;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: Signal, listener: () => void): void;
  off(signal: Signal, listener: () => void): void;
}

/** What a run says to people beside its sound. */
export interface Messages {
  quiet: boolean;
  verbose: boolean;
  /** Replaces a text by `***` wherever it would appear from now on. */
  hide(secret: string): void;
  /** What a person should know, though nothing is wrong. */
  note(text: string): void;
  /** What may become wrong. */
  warn(text: string): void;
  /** A warning that is dropped if an output error ends the run within a second. */
  doubt(text: string): void;
  /** One step, with `--verbose`. */
  detail(text: () => string): void;
  /** A question, behind which the answer is typed. */
  ask(question: string): void;
}

/** What every stage of a run needs. */
export interface RunContext {
  readonly host: Host;
  readonly notices: Messages;
  /** Aborts when the process is told to stop, with the error to end with. */
  readonly signal: AbortSignal;
}

/** The host that a process of Node is. */
export function hostOf(process: NodeJS.Process): Host {
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
    isRunning: (pid) => isRunning(process, pid),
    stdin: {
      get isTTY() {
        return isTerminal(process, 0);
      },
      get stream() {
        // Node would make an empty text of it.
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

/**
 * What HOME says, if that is a place at all, or else the list of users: some containers run as a number that is not in it.
 * Node would say the same, but brings a module along that nothing else needs.
 */
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

/** One boot of a system, and one namespace of processes (a container has its own); elsewhere than on Linux the machine. */
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
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
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

/** Looked up when asked, and where it is worth it: the module behind it brings the whole network stack along, 2 ms of a start. */
export function isTerminal(process: Pick<NodeJS.Process, 'getBuiltinModule'>, fd: number): boolean {
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
