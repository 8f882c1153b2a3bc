import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Sandbox } from './run.ts';

export const COLUMNS = 106;
const ROWS = 16;
const PROMPT = '$ ';
/** Matches a screen whose last line is an empty prompt. */
export const READY = /(^|\n)\$ *$/;

/** A real terminal that runs a shell until the end of the test. */
export class Tmux {
  readonly #socket = `tests-${process.pid}`;

  constructor(machine: Sandbox, env: Readonly<Record<string, string>>) {
    const path = `${machine.commands}:${process.env.PATH}`;
    const shell = [
      'env',
      '-i',
      `HOME=${machine.home}`,
      `PATH=${path}`,
      'TERM=screen',
      'LC_ALL=C.UTF-8',
      'HISTFILE=',
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ];
    const size = ['-x', String(COLUMNS), '-y', String(ROWS), '-c', machine.folder];
    const bash = ['bash', '--norc', '--noprofile', '-i'];
    this.#run('-f', '/dev/null', 'new-session', '-d', ...size, ...shell, `PS1=${PROMPT}`, ...bash);
    onTestFinished(() => void this.#run('kill-server'));
  }

  type(line: string, key: string): void {
    if (line) this.#run('send-keys', '-l', line);
    this.#run('send-keys', key);
  }

  async shows(what: RegExp): Promise<void> {
    do await sleep(200);
    while (!what.test(stripVTControlCharacters(this.screen())));
  }

  /** The text on the screen, with colours as escape sequences. */
  screen(): string {
    return this.#run('capture-pane', '-e', '-p').trimEnd();
  }

  #run(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, ...args], { encoding: 'utf8' });
  }
}
