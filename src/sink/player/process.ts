import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { ExitCode, TtsError } from '../../error.ts';
import { Child } from '../../files/child.ts';

/** What players say that end with 0 and have played nothing. */
const UNHEARD: Readonly<Record<string, RegExp>> = { ffplay: /audio open failed/ };

export class PlayerProcess {
  readonly program: string;
  readonly name: string;
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  failure: TtsError | undefined;
  readonly #child: Child;

  private constructor(program: string, child: Child) {
    this.program = program;
    this.name = basename(program);
    this.#child = child;
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
    const child = new Child(program, args, { env, stdin, stdout: 'ignore' });
    await child.started;
    return new PlayerProcess(program, child);
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  /** Sound that the device has is still heard, for a moment. */
  pause(isPaused: boolean): void {
    this.#child.hold(isPaused);
  }

  /** Silence is worth more than a player that ends well. */
  kill(): void {
    this.#child.end();
  }

  /** Resolves when the player is gone, or cannot be stopped. */
  stop(): Promise<void> {
    return this.#child.stop();
  }

  async #end(): Promise<TtsError | undefined> {
    const { status, signal } = await this.#child.spoken();
    const isUnheard = UNHEARD[this.name]?.test(this.#child.said);
    if (status !== 0 || isUnheard) this.failure = this.#failed(signal ?? `exit status ${status}`);
    return this.failure;
  }

  #failed(how: string): TtsError {
    return new TtsError(`the player ${this.name} failed: ${this.#child.lastWords || how}`, {
      exitCode: ExitCode.output,
      hint: 'choose another player with --player, or write a file with -o',
    });
  }
}
