import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { ExitCode, TtsError } from '../error.ts';
import { decode } from './decode.ts';

export interface InputOptions {
  readonly words: readonly string[];
  /** Names of files; "-" is standard input. */
  readonly files: readonly string[];
  readonly cwd: string;
  readonly stdin: () => Readable;
}

/** Between two files: where one ends, a paragraph ends. */
const BETWEEN_FILES = '\n\n';

/**
 * The text to speak, as it comes: words, files in their order, or else standard input.
 * @throws TtsError (usage) for a file that cannot be read or is no text
 */
export async function* readInput(
  { words, files, cwd, stdin }: InputOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (words.length > 0) {
    yield words.join(' ').replaceAll('\r\n', '\n');
    return;
  }
  let first = true;
  for (const name of files) {
    if (!first) yield BETWEEN_FILES;
    first = false;
    if (name === '-') yield* decode(abortable(stdin(), signal), 'stdin');
    else yield* decode(openFile(name, cwd, signal), name);
  }
}

/** Without this, Ctrl-C would wait for the next byte of an open pipe. */
async function* abortable(stream: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* addAbortSignal(signal, stream);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreadable('stdin', error);
  }
}

/** The bytes of a file, or of a named pipe. */
export async function* openFile(name: string, cwd: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(resolve(cwd, name), { signal });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreadable(name, error);
  }
}

const reasons = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'it is not allowed'],
  ['EPERM', 'it is not allowed'],
]);

function unreadable(name: string, cause: unknown): TtsError {
  const code = String((cause as NodeJS.ErrnoException).code);
  return new TtsError(`cannot read ${name}: ${reasons.get(code) ?? code}`, {
    exitCode: ExitCode.usage,
    hint: 'check the name behind -f',
    cause,
  });
}
