import {
  constants,
  createReadStream,
  fstatSync,
  openSync,
  ReadStream,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { singleItem } from '../async.ts';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { pathOf } from '../files/paths.ts';
import { whileArriving } from '../text/live.ts';
import { fitting } from '../text/unicode.ts';
import { withoutControls } from './controls.ts';
import { decode } from './decode.ts';

/**
 * @param name of a file, "-" for stdin, empty for words
 * @param isLive true if the text may be heard while it is written
 * @returns the same `text` if it is spoken as it stands
 */
export type Prepare = (name: string, text: AsyncIterable<string>, isLive?: boolean) => AsyncIterable<string>;

export interface InputOptions {
  readonly words: readonly string[];
  /** "-" is standard input. */
  readonly files: readonly string[];
  readonly cwd: string;
  readonly stdin: () => Readable;
  readonly prepare?: Prepare | undefined;
  /** Without text. */
  readonly inputTimeoutMs?: number | undefined;
}

const BETWEEN_FILES = '\n\n';

/** UTF-16 units between turns of the event loop. */
const STEP = 4096;
/** What a piece costs, in UTF-16 units of work: Markdown comes in short blocks. */
const PIECE_UNITS = 32;

/** @throws TtsError (usage) */
export async function* readInput(
  { words, files, cwd, stdin, prepare = asItIs, inputTimeoutMs }: InputOptions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  if (words.length > 0) {
    yield* prepared('', singleItem(words.join(' ').replaceAll('\r\n', '\n')), prepare);
    return;
  }
  let first = true;
  for (const name of files) {
    if (!first) yield BETWEEN_FILES;
    first = false;
    const source = name === '-' ? abortable(stdin(), signal) : openFile(name, cwd, signal);
    const bytes = inputTimeoutMs === undefined ? source : inTime(source, name, inputTimeoutMs, signal);
    yield* prepared(name, decode(bytes, name === '-' ? 'stdin' : name), prepare);
  }
}

const asItIs: Prepare = (_, text) => text;

function prepared(name: string, text: AsyncIterable<string>, prepare: Prepare): AsyncIterable<string> {
  const plain = inSteps(withoutControls(text));
  const result = prepare(name, plain);
  return result === plain ? plain : inSteps(result);
}

async function* inSteps(text: AsyncIterable<string>): AsyncGenerator<string> {
  let sinceTurn = 0;
  for await (const piece of text) {
    for (let at = 0; at < piece.length; ) {
      const step = fitting(piece.slice(at, at + STEP + 1), STEP);
      at += step.length;
      sinceTurn += step.length + PIECE_UNITS;
      yield step;
      if (sinceTurn < STEP - 1) continue;
      await turn();
      sinceTurn = 0;
    }
  }
}

/** @throws TtsError (timeout) for a writer that hangs */
function inTime(
  source: AsyncIterable<Uint8Array>,
  name: string,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  return whileArriving(source, signal, async function* (arrivals) {
    for (;;) {
      const arrival = await arrivals.next(timeoutMs);
      if (!arrival) throw silentWriter(name, timeoutMs);
      if (arrival.done) return;
      yield arrival.value;
    }
  });
}

function silentWriter(name: string, timeoutMs: number): TtsError {
  const what = name === '-' ? 'stdin' : name;
  return new TtsError(`no text came from ${what} for ${timeoutMs / 1000} s`, {
    exitCode: ExitCode.timeout,
    hint: 'check the program that writes it, or wait longer with --input-timeout',
  });
}

/** The signal ends the wait for an open pipe. */
export async function* abortable(stream: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* addAbortSignal(signal, stream);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreadable('stdin', error);
  }
}

/** The position in it stays. `undefined` for a pipe. */
export function fileInStdin(stdin: Readable): Readable | undefined {
  if (!(stdin instanceof ReadStream)) return undefined;
  const { fd } = stdin as ReadStream & { readonly fd: number };
  const start = fstatSync(fd).isFile() ? offsetIn(fd) : undefined;
  return start === undefined ? undefined : createReadStream('', { fd, start, autoClose: false });
}

function offsetIn(fd: number): number | undefined {
  try {
    const [, offset] = /^pos:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
    return offset === undefined ? undefined : Number(offset);
  } catch {
    return undefined;
  }
}

export async function* openFile(name: string, cwd: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* addAbortSignal(signal, streamOf(pathOf(cwd, name)));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreadable(name, error);
  }
}

/** @throws TtsError (usage) behind the last byte, if the file was changed or replaced meanwhile */
export async function* openUnchanged(
  name: string,
  cwd: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const before = lookAt(name, cwd);
  yield* openFile(name, cwd, signal);
  const after = lookAt(name, cwd);
  const isSame = before.ino === after.ino && before.size === after.size && before.mtimeMs === after.mtimeMs;
  if (before.isFile() && !isSame)
    throw usageError(
      `${name} was changed while it was read`,
      'run the same command again when it is complete',
    );
}

/** @throws TtsError (usage) if it does not exist */
export function lookAt(name: string, cwd: string): Stats {
  try {
    return statSync(pathOf(cwd, name));
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** A blocked thread would outlast the run. */
function streamOf(path: string): Readable {
  if (!statSync(path).isFIFO()) return createReadStream(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

const reasons = new Map([
  ['ENOENT', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'it is not allowed'],
  ['EPERM', 'it is not allowed'],
]);

function unreadable(name: string, cause: unknown): TtsError {
  const code = String((cause as NodeJS.ErrnoException).code);
  return usageError(`cannot read ${name}: ${reasons.get(code) ?? code}`, 'check the name of the file', cause);
}

/** @param most UTF-16 units */
export async function readWhole(
  text: AsyncIterable<string>,
  most: number,
  tooLong: () => TtsError,
): Promise<string> {
  const pieces: string[] = [];
  let length = 0;
  for await (const piece of text) {
    length += piece.length;
    if (length > most) throw tooLong();
    pieces.push(piece);
  }
  return pieces.join('');
}
