import type { Writable } from 'node:stream';
import { unlessAborted, yieldToEventLoop } from '../../async.ts';
import { ExitCode } from '../../error.ts';
import { isReaderGone } from '../../files/writable.ts';
import { RunText, type TextPlan } from '../../speech/text.ts';
import { EMPTY_LINE, type Piece, writtenOf } from '../../text/piece.ts';
import type { Context } from '../context.ts';
import { assertOpen, stdoutError } from '../terminal/print.ts';

/**
 * It is not an error if the reader leaves.
 * @throws TtsError (output)
 */
export async function showText(plan: TextPlan, { host, signal }: Context): Promise<number> {
  assertOpen(host.stdout);
  const { stream } = host.stdout;
  stream.on('error', () => {});
  let isBlank = true;
  const spacing = new Spacing();
  const printer = new Printer(stream, signal);
  const text = await RunText.open(plan, signal);
  for await (const piece of text.pieces(signal)) {
    const written: string = piece.kind === 'chapter' && !isBlank ? EMPTY_LINE : spacing.of(piece);
    isBlank &&= written.trim() === '';
    await printer.print(written);
    if (printer.hasReaderLeft) return ExitCode.ok;
  }
  if (isBlank) throw text.blank();
  await printer.print('\n');
  await printer.flush();
  return ExitCode.ok;
}

/** Words on the two sides of a mark are heard one by one, so they stay apart. */
class Spacing {
  #isAfterMark = false;
  #isAfterSpace = true;

  of(piece: Piece): string {
    if (piece.kind === 'pause' || piece.kind === 'voice') {
      this.#isAfterMark = true;
      return '';
    }
    const written = writtenOf(piece);
    if (written === '') return '';
    const isApart = this.#isAfterSpace || /^\n/u.test(written);
    const shown = this.#isAfterMark ? `${isApart ? '' : ' '}${written.replace(/^[^\S\n]+/u, '')}` : written;
    this.#isAfterMark = false;
    this.#isAfterSpace = /\s$/u.test(shown === '' ? ' ' : shown);
    return shown;
  }
}

/** UTF-16 units. */
const BATCH = 16_384;

/** Writes in one go what comes before other work of the process: a book has many short paragraphs. */
class Printer {
  hasReaderLeft = false;
  readonly #stream: Writable;
  readonly #signal: AbortSignal;
  #text = '';
  #writing: Promise<void> | undefined;

  constructor(stream: Writable, signal: AbortSignal) {
    this.#stream = stream;
    this.#signal = signal;
  }

  /** @throws TtsError (output) */
  async print(text: string): Promise<void> {
    this.#text += text;
    if (!this.#writing) {
      this.#writing = this.#write();
      // The error is thrown where somebody waits.
      this.#writing.catch(() => {});
    }
    if (this.#text.length > BATCH) await this.#writing;
  }

  async flush(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  async #write(): Promise<void> {
    await yieldToEventLoop();
    const text = this.#text;
    this.#text = '';
    const written = new Promise<Error | null | undefined>((resolve) => this.#stream.write(text, resolve));
    const error = await unlessAborted(written, this.#signal);
    if (error && !isReaderGone(error)) throw stdoutError(error);
    this.hasReaderLeft ||= error !== null && error !== undefined;
    this.#writing = undefined;
    if (this.#text !== '' && !this.hasReaderLeft) await this.print('');
  }
}
