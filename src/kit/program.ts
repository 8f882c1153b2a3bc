import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type Host, withoutSecrets } from './host.ts';
import { resolvesWithin } from './wait.ts';
import { printable, withoutEscapes } from './words.ts';

/** UTF-16 units of stderr that are kept. */
const MOST_WORDS = 4096;

/** Milliseconds that a process has to obey a signal, and its last output has to arrive after its end. */
const PATIENCE_MS = 200;

export interface ChildOptions {
  /** The child gets this environment without the secrets in it. */
  readonly env: Host['env'];
  /** The child uses the network: its environment keeps the passwords of proxies. */
  readonly usesNetwork?: boolean | undefined;
  /** The child is another process of this program, and gets the whole environment. */
  readonly isOwn?: true;
  /** The working folder of the child; this program's own by default. */
  readonly cwd?: string | undefined;
  /** A number is an open descriptor of this program. */
  readonly stdin: 'pipe' | 'ignore' | number;
  readonly stdout: 'pipe' | 'ignore';
  /** The number of further pipes, from descriptor 3 on. */
  readonly pipes?: number;
  /** Ends a process group. With it, the child leads a group of its own, and nothing of the group outlives the child. */
  readonly endGroup?: ((pid: number) => void) | undefined;
  /** The child ends when the signal aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** How a process ended: one of the three is set. */
export interface Exit {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The system's error where the program could not be started. */
  readonly failure: Error | undefined;
}

/** A running program. No other code starts one. */
export class Child {
  /** Rejects with the system's error where the program cannot be started. */
  readonly started: Promise<void>;
  /** Resolves when the process is gone. */
  readonly exited: Promise<Exit>;
  /** Resolves when the process is gone and its outputs have ended, which its own children may keep open. */
  readonly closed: Promise<Exit>;
  readonly #child: ChildProcess;
  #endGroup: ((pid: number) => void) | undefined;
  #said = '';
  #isHeld = false;
  #failure: Error | undefined;

  /** @throws the reason of a signal that has aborted; the system's error, where `spawn` throws at once */
  constructor(program: string, args: readonly string[], options: ChildOptions) {
    const { env, usesNetwork, isOwn, cwd, stdin, stdout, pipes = 0, endGroup, signal } = options;
    signal?.throwIfAborted();
    this.#endGroup = endGroup;
    this.#child = spawn(program, args, {
      env: isOwn ? env : withoutSecrets(env, usesNetwork),
      cwd,
      stdio: [stdin, stdout, 'pipe', ...Array<'pipe'>(pipes).fill('pipe')],
      detached: endGroup !== undefined,
      windowsHide: true,
    });
    const child = this.#child;
    // An error also comes if the child runs as another user and cannot be sent a signal.
    child.on('error', (error) => {
      if (child.pid === undefined) this.#failure = error;
    });
    this.started = new Promise((resolve, reject) => void child.once('spawn', resolve).once('error', reject));
    this.exited = this.#when('exit');
    this.closed = this.#when('close');
    child.stdin?.on('error', () => {});
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-MOST_WORDS);
    });
    child.once('exit', () => {
      this.#kill('SIGKILL');
      // Another process may get the ID of the child.
      this.#endGroup = undefined;
    });
    const end = () => this.end();
    signal?.addEventListener('abort', end, { once: true });
    void this.closed.then(() => signal?.removeEventListener('abort', end));
  }

  /** `undefined` if the program could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    return pid !== undefined && exitCode === null && signalCode === null;
  }

  get stdin(): Writable {
    return this.#child.stdin as Writable;
  }

  get stdout(): Readable {
    return this.#child.stdout as Readable;
  }

  /** @param descriptor the first is 3 */
  pipe(descriptor: number): Readable & Writable {
    return this.#child.stdio[descriptor] as Readable & Writable;
  }

  /** The end of stderr. */
  get said(): string {
    return this.#said;
  }

  /** The last line of stderr, fit for a message; empty without one. */
  get lastWords(): string {
    return this.lastWordsBesides(/^$/);
  }

  /** @param dull matches lines that tell no reason, of which the last one is returned only if there is no other line */
  lastWordsBesides(dull: RegExp): string {
    const lines = withoutEscapes(this.#said)
      .trim()
      .split(/[\r\n]+/);
    return printable(lines.findLast((line) => !dull.test(line)) ?? lines.at(-1) ?? '');
  }

  /** Ends the child and its group at once, and closes outputs that another process may hold open. */
  end(): void {
    this.#kill('SIGKILL');
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** @param isHeld true stops the child until a call with false */
  hold(isHeld: boolean): void {
    if (isHeld !== this.#isHeld) this.#child.kill(isHeld ? 'SIGSTOP' : 'SIGCONT');
    this.#isHeld = isHeld;
  }

  /**
   * Asks the child to end, and kills it if it does not. Resolves when it is gone, or cannot be killed.
   * @param patienceMs how long it may take to end by itself
   */
  async stop(patienceMs = PATIENCE_MS): Promise<void> {
    this.#kill('SIGTERM');
    // A stopped child obeys only after it has continued.
    this.hold(false);
    this.#child.stderr?.destroy();
    if (!(await resolvesWithin(patienceMs, this.exited))) this.#kill('SIGKILL');
    await resolvesWithin(PATIENCE_MS, this.exited);
    this.#child.unref();
  }

  /** Waits until the child and its outputs have ended, but only for a moment. */
  async closedSoon(): Promise<void> {
    await resolvesWithin(PATIENCE_MS, this.closed);
  }

  /** Resolves when the child is gone and its stderr is complete. Another process may delay this only for a moment. */
  async spoken(): Promise<Exit> {
    const exit = await this.exited;
    await this.closedSoon();
    this.#child.stderr?.destroy();
    return exit;
  }

  /** @param how `unref`: the child does not keep this process running */
  keepAlive(how: 'ref' | 'unref'): void {
    this.#child[how]();
    for (const pipe of this.#child.stdio) (pipe as Socket | null)?.[how]();
  }

  #kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child;
    this.#child.kill(signal);
    if (!this.#endGroup || pid === undefined || signal === 'SIGTERM') return;
    try {
      this.#endGroup(pid);
    } catch {
      // Windows has no process groups, and the group may be gone.
    }
  }

  #when(event: 'exit' | 'close'): Promise<Exit> {
    return new Promise((resolve) => {
      const end = () => {
        const { exitCode, signalCode } = this.#child;
        const failure = this.#failure;
        resolve({ status: failure ? null : exitCode, signal: signalCode, failure });
      };
      this.#child.once(event, end);
      this.started.catch(end);
    });
  }
}

/** Bytes that {@link outputOf} takes of a program's stdout. */
const MOST_OUTPUT = 64 * 2 ** 20;

/** The failure of a program that did not end with status 0. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  /** True if the program wrote a reason to stderr. */
  readonly hasWords: boolean;

  constructor(said: string, { status, signal }: Exit) {
    super(said || `it ended with ${signal ?? `status ${status}`}`);
    this.hasWords = said !== '';
  }
}

export interface OutputOptions extends Pick<ChildOptions, 'env' | 'cwd' | 'usesNetwork'> {
  readonly signal: AbortSignal;
  /** Text to write to stdin, or the descriptor of a file that becomes stdin. */
  readonly input?: string | number;
}

/**
 * Runs a program to its end.
 * @returns what it wrote to stdout
 * @throws ProgramError with the text of stderr; the system's error; the signal's reason; Error for endless output
 */
export async function outputOf(
  program: string,
  args: readonly string[],
  { input = '', ...options }: OutputOptions,
): Promise<Buffer> {
  const stdin = typeof input === 'number' ? input : 'pipe';
  const child = new Child(program, args, { ...options, stdin, stdout: 'pipe' });
  await child.started;
  if (typeof input === 'string') child.stdin.end(input);
  try {
    const bytes = await allOf(child.stdout);
    const exit = await child.closed;
    if (exit.status === 0) return bytes;
    throw new ProgramError(child.said.trim(), exit);
  } catch (error) {
    child.end();
    options.signal.throwIfAborted();
    throw error;
  }
}

async function allOf(stdout: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stdout) {
    bytes += piece.length;
    if (bytes > MOST_OUTPUT) throw new Error(`it wrote more than ${MOST_OUTPUT} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Waits for the end of its input, which comes even if this program is killed, and then kills the group. */
const GUARD_SCRIPT = 'read -r _; kill -s KILL -- "-$1"; if [ -n "$2" ]; then rm -rf -- "$2"; fi';

/**
 * Makes sure that a child's process group is killed and a folder removed when this program ends, even by SIGKILL. Windows
 * has no process groups.
 * @param child leads a group of its own
 */
export function guard(
  child: Child,
  folder: string | undefined,
  { env, platform, endGroup }: Pick<Host, 'env' | 'platform' | 'endGroup'>,
): void {
  if (platform === 'win32' || child.pid === undefined) return;
  const options = { env, endGroup, stdin: 'pipe', stdout: 'ignore' } as const;
  const shell = new Child('/bin/sh', ['-c', GUARD_SCRIPT, 'sh', String(child.pid), folder ?? ''], options);
  shell.started.catch(() => {});
  shell.keepAlive('unref');
  void child.exited.then(() => shell.end());
}
