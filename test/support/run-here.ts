import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { type Host, type Output, processHost } from '../../src/kit/host.ts';
import type { main as entry } from '../../src/main.ts';
import type { Ended } from './run.ts';

const built = createRequire(import.meta.url);

interface Surroundings {
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | Uint8Array | undefined;
  readonly cwd: string;
  /** Milliseconds after which the run counts as hung. */
  readonly patience: number;
}

export interface RunningHere {
  /** What it has printed so far. */
  readonly said: { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<Ended>;
  /** Does what a signal does that the program listens for. */
  send(signal: string): void;
}

/** True during a run. Only one is possible, since it sets the working folder of the process. */
let isBusy = false;

/**
 * Runs `main` of the built program in this process, with its own arguments, environment, working folder and streams, at a
 * tenth of the cost of a process. A real process is needed to test its start and end, signals, terminals, a reader that
 * leaves, memory and another user.
 * @returns `undefined` while another run is in this process
 */
export function runHere(
  args: readonly string[],
  { env, stdin, cwd, patience }: Surroundings,
): RunningHere | undefined {
  if (isBusy) return undefined;
  const end = processWith({ exitCode: undefined, ...quiet });
  const errors: Buffer[] = [];
  const stdout = openPipe();
  const listeners = new Map<string, () => void>();
  const host: Host = {
    ...processHost(processWith({ argv: ['', '', ...args], env, cwd: () => cwd })),
    isArgvUtf8: () => true,
    stdin: { isTTY: false, stream: Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]) },
    stdout: stdout.output,
    stderr: { fd: 2, isTTY: false, columns: undefined, stream: gathering(errors) },
    on: (signal, listener) => void listeners.set(signal, listener),
    off: (signal) => void listeners.delete(signal),
  };
  const { main } = built('../../dist/main.cjs') as { main: typeof entry };
  const before = process.cwd();
  const words = () => Buffer.concat(errors).toString();
  isBusy = true;
  process.chdir(cwd);
  const run = main(end, host).finally(() => {
    process.chdir(before);
    isBusy = false;
  });
  const send = (signal: string) => listeners.get(signal)?.();
  onTestFinished(async () => {
    // A service ends at once at a second signal.
    for (let over = false; !over; ) {
      send('SIGTERM');
      over = await Promise.race([run.then(() => true), sleep(20, false)]);
    }
  });
  const ended = inTime(run, patience, words).then(async () => {
    return { status: Number(end.exitCode), stdout: await stdout.end(), stderr: words() };
  });
  ended.catch(nothing);
  const said = {
    get stdout() {
      return stdout.read().toString();
    },
    get stderr() {
      return words();
    },
  };
  return { said, ended, send };
}

const nothing = () => {};
/** A run ends neither this process nor what listens to it. */
const quiet = { removeAllListeners: nothing, once: nothing, kill: nothing, exit: nothing };

/** This process with some properties replaced. */
function processWith(own: Partial<Record<keyof NodeJS.Process, unknown>>): NodeJS.Process {
  const properties = Object.entries(own).map(([name, value]) => [name, { value, writable: true }]);
  return Object.create(process, Object.fromEntries(properties));
}

/** The reading end of a named pipe that is already unlinked; it stays open, so that the pipe can be reopened through it. */
let pipe: number | undefined;

/** Opens a real pipe for stdout, since the program may close its stdout. */
function openPipe(): { readonly output: Output; read(): Buffer; end(): Promise<Buffer> } {
  pipe ??= makePipe();
  const reader = new Socket({ fd: reopened(pipe, constants.O_RDONLY), writable: false });
  const pieces: Buffer[] = [];
  reader.on('data', (piece) => pieces.push(piece));
  const read = () => Buffer.concat(pieces);
  const over = once(reader, 'close');
  const fd = reopened(pipe, constants.O_WRONLY);
  let stream: Socket | undefined;
  const output: Output = {
    fd,
    isTTY: false,
    columns: undefined,
    get stream() {
      stream ??= new Socket({ fd, readable: false });
      return stream;
    },
  };
  const end = async () => {
    if (stream) stream.end();
    else if (isPipe(fd)) closeSync(fd);
    await over;
    return read();
  };
  return { output, read, end };
}

function makePipe(): number {
  const folder = mkdtempSync(join(tmpdir(), 'tts-test-'));
  const path = join(folder, 'stdout');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  rmSync(folder, { recursive: true });
  return fd;
}

function reopened(fd: number, mode: number): number {
  return openSync(`/proc/self/fd/${fd}`, mode | constants.O_NONBLOCK);
}

/** False if the program has closed the descriptor, even if its number was reused. */
function isPipe(fd: number): boolean {
  try {
    return fstatSync(fd).ino === fstatSync(pipe as number).ino;
  } catch {
    return false;
  }
}

function gathering(pieces: Buffer[]): Writable {
  return new Writable({
    write(piece: Buffer, _, done) {
      pieces.push(piece);
      done();
    },
  });
}

async function inTime(run: Promise<void>, patience: number, words: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hung, after it said: ${words()}`)), patience);
  });
  await Promise.race([run, hangs]).finally(() => clearTimeout(timer));
}
