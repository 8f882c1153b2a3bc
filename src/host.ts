import { homedir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';

export type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Input {
  readonly isTTY: boolean;
  /** Made at the first look: a run that needs no input never opens it. */
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
  /** What was typed behind the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  on(signal: Signal, listener: () => void): void;
  off(signal: Signal, listener: () => void): void;
}

export function hostOf(process: NodeJS.Process): Host {
  return {
    argv: process.argv.slice(2),
    env: process.env,
    get cwd() {
      return process.cwd();
    },
    get home() {
      return homedir();
    },
    platform: process.platform,
    pid: process.pid,
    stdin: {
      isTTY: isatty(0),
      get stream() {
        return process.stdin;
      },
    },
    stdout: outputOf(() => process.stdout, 1),
    stderr: outputOf(() => process.stderr, 2),
    on: (signal, listener) => void process.on(signal, listener),
    off: (signal, listener) => void process.off(signal, listener),
  };
}

function outputOf(stream: () => NodeJS.WriteStream, fd: number): Output {
  return {
    fd,
    isTTY: isatty(fd),
    get columns() {
      return stream().columns;
    },
    get stream() {
      return stream();
    },
  };
}
