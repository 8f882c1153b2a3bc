import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode, TtsError } from '../../error.ts';
import { withoutKeys } from '../../host.ts';
import { printable, withoutEscapes } from '../../printable.ts';

/** UTF-16 units of stderr. */
const SAID = 4096;

/** Of players that end with 0 without having played. */
const UNHEARD: Readonly<Record<string, RegExp>> = { ffplay: /audio open failed/ };

const PATIENCE_MS = 200;

export class PlayerProcess {
  readonly program: string;
  readonly name: string;
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  failure: TtsError | undefined;
  readonly #child: ChildProcess;
  #said = '';

  private constructor(program: string, child: ChildProcess) {
    this.program = program;
    this.name = basename(program);
    this.#child = child;
    // The player may run as another user.
    child.on('error', () => {});
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-SAID);
    });
    this.ended = this.#end();
  }

  /**
   * @param stdin a descriptor, or what to make
   * @throws the system's error
   */
  static async start(
    program: string,
    args: readonly string[],
    stdin: 'pipe' | 'ignore' | number,
    env: NodeJS.ProcessEnv,
  ): Promise<PlayerProcess> {
    const child = spawn(program, args, {
      env: withoutKeys(env),
      stdio: [stdin, 'ignore', 'pipe'],
      windowsHide: true,
    });
    const player = new PlayerProcess(program, child);
    await once(child, 'spawn');
    return player;
  }

  get stdin(): Writable | null {
    return this.#child.stdin;
  }

  /** Resolves when the player is gone, or cannot be stopped. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    this.#child.stderr?.destroy();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE_MS);
    const over = new AbortController();
    const patience = sleep(2 * PATIENCE_MS, undefined, { signal: over.signal }).catch(() => {});
    await Promise.race([this.ended, patience]);
    over.abort();
    clearTimeout(timer);
    this.#child.unref();
  }

  async #end(): Promise<TtsError | undefined> {
    const exit = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.#child.once('exit', (...how) => resolve(how));
    });
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    const [status, signal] = await exit;
    // Its children may keep its stderr open.
    await Promise.race([closed, sleep(PATIENCE_MS, undefined, { ref: false })]);
    this.#child.stderr?.destroy();
    const isUnheard = UNHEARD[this.name]?.test(this.#said);
    if (status !== 0 || isUnheard) this.failure = this.#failed(signal ?? `exit status ${status}`);
    return this.failure;
  }

  #failed(how: string): TtsError {
    const lines = withoutEscapes(this.#said)
      .trimEnd()
      .split(/[\r\n]/);
    const lastLine = printable(lines.at(-1) ?? '');
    return new TtsError(`the player ${this.name} failed: ${lastLine || how}`, {
      exitCode: ExitCode.output,
      hint: 'choose another player with --player, or write a file with -o',
    });
  }
}
