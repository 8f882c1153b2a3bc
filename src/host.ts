import type { Readable, Writable } from 'node:stream';

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
  /** Runs when all is done; nothing asynchronous may begin there. */
  onExit(listener: () => void): void;
}
