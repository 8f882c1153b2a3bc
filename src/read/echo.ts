import { createWriteStream, openSync } from 'node:fs';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import type { Host } from '../kit/host.ts';
import { drained, unlessAborted } from '../kit/wait.ts';
import { printableLines } from '../kit/words.ts';
import { Controls } from './decode.ts';

/** Bytes that are buffered for the voice. Reading waits only when it is further behind. */
const MOST_BEHIND = 64 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** Shows a text while it is read aloud, and the rest once the voice has stopped. */
export class Echo {
  /** The text for the voice. */
  readonly text: Readable;
  readonly #source: Readable;
  readonly #shown: Promise<void>;
  readonly #isOnTerminal: boolean;
  #isSilent = false;
  #isInLine = false;

  constructor(source: Readable, output: Writable, isOnTerminal = false) {
    this.#isOnTerminal = isOnTerminal;
    const text = new PassThrough({ highWaterMark: MOST_BEHIND });
    text.on('error', () => {});
    this.text = text;
    this.#source = source;
    this.#shown = this.#show(source, text, output);
  }

  /** @returns what a message on the same terminal must begin with: a line feed if the text is within a line */
  breakLine(): '' | '\n' {
    const isInLine = this.#isInLine && this.#isOnTerminal;
    this.#isInLine = false;
    return isInLine ? '\n' : '';
  }

  /**
   * Shows the remaining text without speaking it.
   * @throws the signal's reason
   */
  async finish(signal: AbortSignal): Promise<void> {
    this.#isSilent = true;
    this.text.resume();
    // An open pipe would keep the process running.
    await unlessAborted(this.#shown, signal).finally(() => this.#source.destroy());
  }

  async #show(source: Readable, text: PassThrough, output: Writable): Promise<void> {
    let isSeen = true;
    // If the reader of the shown text leaves, the voice continues.
    output.on('error', () => {
      isSeen = false;
    });
    const shown = this.#isOnTerminal ? new TerminalText() : undefined;
    const show = async (piece: string | Uint8Array) => {
      if (isSeen && piece.length > 0 && !output.write(piece)) await drained(output);
    };
    try {
      for await (const piece of source) {
        this.#isInLine = piece.at(-1) !== LINE_FEED;
        await show(shown?.push(piece) ?? piece);
        if (!this.#isSilent && !text.destroyed && !text.write(piece)) await drained(text);
      }
      await show(shown?.end() ?? '');
      text.end();
    } catch (error) {
      text.destroy(error as Error);
    }
  }
}

/** Makes untrusted text safe for a terminal, piece by piece. */
class TerminalText {
  readonly #decoder = new TextDecoder();
  readonly #controls = new Controls();
  #isAfterReturn = false;

  push(bytes: Uint8Array): string {
    return this.#fit([...this.#controls.push(this.#decoder.decode(bytes, { stream: true }))].join(''));
  }

  end(): string {
    return this.#fit([...this.#controls.push(this.#decoder.decode()), ...this.#controls.end()].join(''));
  }

  #fit(text: string): string {
    if (text === '') return '';
    // The line end was already shown with the previous piece.
    const rest = this.#isAfterReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#isAfterReturn = text.endsWith('\r');
    return printableLines(rest);
  }
}

/** @param isTaken true if stdout carries the sound, so that the text must go to the terminal */
export function echoOf(
  { stdin, stdout, stderr }: Pick<Host, 'stdin' | 'stdout' | 'stderr'>,
  isTaken: boolean,
): Echo {
  if (!isTaken) return new Echo(stdin.stream, stdout.stream, stdout.isTTY);
  const terminal = openTerminal();
  return terminal
    ? new Echo(stdin.stream, terminal, true)
    : new Echo(stdin.stream, stderr.stream, stderr.isTTY);
}

function openTerminal(): Writable | undefined {
  try {
    return createWriteStream('/dev/tty', { fd: openSync('/dev/tty', 'w') });
  } catch {
    return undefined;
  }
}
