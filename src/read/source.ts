import {
  constants,
  createReadStream,
  fstatSync,
  openSync,
  ReadStream,
  read,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { positionOf } from '../kit/descriptor.ts';
import { codeOf, ExitCode, TtsError, usageError } from '../kit/error.ts';
import { pathOf, reasonUnread } from '../kit/folders.ts';
import { inTime, singleItem } from '../kit/wait.ts';
import { labelOf } from '../text/piece.ts';
import { breaksOff, inTurn, through } from '../text/stage.ts';
import { Controls, Decoder, decode, decodeAll } from './decode.ts';
import type { Source } from './reading.ts';

/** Returns a source for the words of a command line or a table. */
export function wordsSource(words: string): Source {
  const encoded = Buffer.from(words);
  const bytes = () => singleItem(encoded);
  return { name: '', words, size: encoded.length, bytes, again: bytes };
}

/**
 * @param timeoutMs milliseconds that a writer may pause
 * @throws TtsError (usage) if there is no such file
 */
export function fileSource(name: string, cwd: string, timeoutMs?: number): Source {
  const stats = inputStats(name, cwd);
  const isFile = stats.isFile();
  const open = (signal: AbortSignal) => openFile(name, cwd, signal);
  return {
    name,
    path: isFile ? pathOf(cwd, name) : undefined,
    size: isFile ? stats.size : undefined,
    bytes: (signal) => unlessSilent(open(signal), name, timeoutMs, signal),
    again: isFile ? open : undefined,
  };
}

/**
 * Returns a source for stdin. If it is a file, it can be read again, from its current position.
 * @param timeoutMs milliseconds that a writer may pause
 */
export function stdinSource(stream: Readable, timeoutMs?: number): Source {
  const file = fileInStdin(stream);
  return {
    name: '-',
    size: file?.size,
    bytes: (signal) => unlessSilent(abortable(stream, signal), 'stdin', timeoutMs, signal),
    again: file && ((signal) => abortable(file.open(), signal)),
  };
}

/** Returns a function that may be called several times, unless the source is a pipe. */
export function repeatable(source: Source): Source['bytes'] {
  let isRead = false;
  return (signal) => {
    const bytes = isRead && source.again ? source.again(signal) : source.bytes(signal);
    isRead = true;
    return bytes;
  };
}

/**
 * Checks a source for a text reader.
 * @param look sees all of a text that can be read again
 * @returns a function that returns all its characters without control sequences
 * @throws TtsError (usage) for what is not text
 */
export async function openCharacters(
  source: Source,
  signal: AbortSignal,
  look: (text: string) => void = () => {},
): Promise<(signal: AbortSignal) => AsyncIterable<string>> {
  const { name, words } = source;
  if (words !== undefined) {
    const text = words.replaceAll('\r\n', '\n');
    look(text);
    return () => through(singleItem(text), new Controls());
  }
  const label = labelOf(name);
  if (source.again) for await (const text of decode(source.again(signal), label)) look(text);
  const bytes = repeatable(source);
  return (until) => through(bytes(until), inTurn(new Decoder(label), new Controls()));
}

function unlessSilent(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  milliseconds: number | undefined,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  if (milliseconds === undefined) return bytes;
  const late = () => breaksOff(silentWriter(name, milliseconds), 'silent');
  return inTime(bytes, { milliseconds, late }, signal);
}

function silentWriter(name: string, timeoutMs: number): TtsError {
  return new TtsError(`no text came from ${name} for ${timeoutMs / 1000} s`, {
    exitCode: ExitCode.timeout,
    hint: 'check the program that writes it, or wait longer with --input-timeout',
  });
}

/** Yields the bytes of a stream. The signal also ends the wait for an open pipe. */
export function abortable(stream: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  return bytesOf(() => stream, 'stdin', signal);
}

async function* bytesOf(open: () => Readable, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* addAbortSignal(signal, open());
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreadable(name, error);
  }
}

interface FileInStdin {
  /** Bytes after the current position. */
  readonly size: number;
  /** Opens the file without moving the position of stdin. */
  open(): Readable;
}

function fileInStdin(stdin: Readable): FileInStdin | undefined {
  if (!(stdin instanceof ReadStream)) return undefined;
  const { fd } = stdin as ReadStream & { readonly fd: number };
  const stats = fstatSync(fd);
  const start = stats.isFile() ? positionOf(fd) : undefined;
  if (start === undefined) return undefined;
  return { size: stats.size - start, open: () => createReadStream('', { fd, start, fs: LEFT_OPEN }) };
}

/** Keeps the descriptor open when a stream closes, since stdin may be read again. */
const LEFT_OPEN = { read, close: (_fd: number, done: (error: null) => void) => done(null) };

export function openFile(name: string, cwd: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  return bytesOf(() => streamOf(pathOf(cwd, name)), name, signal);
}

/**
 * Checks that the file stays the same.
 * @throws TtsError (usage) after the last byte, if it was changed or replaced meanwhile
 */
export async function* openUnchanged(
  name: string,
  cwd: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const before = inputStats(name, cwd);
  yield* openFile(name, cwd, signal);
  const after = inputStats(name, cwd);
  const isSame = before.ino === after.ino && before.size === after.size && before.mtimeMs === after.mtimeMs;
  if (before.isFile() && !isSame)
    throw usageError(
      `${name} was changed while it was read`,
      'run the same command again when it is complete',
    );
}

/** @throws TtsError (usage) if the file does not exist */
export function inputStats(name: string, cwd: string): Stats {
  try {
    return statSync(pathOf(cwd, name));
  } catch (error) {
    throw unreadable(name, error);
  }
}

/**
 * Bytes per read. V8 keeps larger pieces alive until it enlarges its young generation: for a table of 250,000 rows, that
 * would take 40 MB more.
 */
const PIECE_BYTES = 16 * 1024;

/** Opens without blocking: a blocked thread would outlast the run. Files such as /proc/kmsg look regular but block. */
function streamOf(path: string): Readable {
  const stats = statSync(path);
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  if (stats.isFIFO()) return new Socket({ fd: openSync(path, flags), readable: true, writable: false });
  if (!stats.isFile()) return createReadStream(path);
  return createReadStream('', { fd: openSync(path, flags), highWaterMark: PIECE_BYTES });
}

const remedies = new Map([
  ['EISDIR', 'name a file in it'],
  ['EACCES', 'check its permissions'],
  ['EPERM', 'check its permissions'],
  ['EAGAIN', 'name a file that ends'],
]);

function unreadable(name: string, cause: unknown): TtsError {
  const code = codeOf(cause);
  const forFile = remedies.get(code) ?? 'check the name of the file';
  const isAddress = code === 'ENOENT' && /^https?:\/\//i.test(name);
  const remedy = isAddress ? 'tts fetches no pages; send one through a pipe: curl -s URL | tts' : forFile;
  return usageError(`cannot read ${name}: ${reasonUnread(cause)}`, remedy, cause);
}

/**
 * Reads a small file, or what comes through a pipe.
 * @param most bytes of a file, or UTF-16 units from a pipe
 * @throws the system's error; TtsError (usage) for damaged text
 */
export async function readSmall(
  path: string,
  most: number,
  tooLong: () => TtsError,
  signal: AbortSignal,
): Promise<string> {
  const stats = statSync(path);
  if (stats.size > most) throw tooLong();
  if (stats.isFile() || stats.isDirectory()) return decodeAll(readFileSync(path), path);
  // A pipe may have no writer or no end: only the signal ends the wait.
  return readWhole(decode(openFile(path, '', signal), path), most, tooLong);
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

/** A non-blank line. Lines count from 1. */
interface Line {
  readonly line: number;
  readonly content: string;
}

/** @param most UTF-16 units per line */
export async function* filledLines(
  text: AsyncIterable<string>,
  most: number,
  tooLong: (line: number) => TtsError,
): AsyncGenerator<Line> {
  let pieces: string[] = [];
  let length = 0;
  let line = 1;
  for await (const piece of text) {
    const [first = '', ...rest] = piece.split('\n');
    pieces.push(first);
    length += first.length;
    if (length > most) throw tooLong(line);
    for (const next of rest) {
      const content = pieces.join('');
      if (content.trim() !== '') yield { line, content };
      line += 1;
      pieces = [next];
      length = next.length;
    }
  }
  const content = pieces.join('');
  if (content.trim() !== '') yield { line, content };
}

/** Notes whether a source has bytes, and whether it has printed characters. */
export class Watched {
  readonly source: Source;
  hasBytes = false;
  hasText = false;

  constructor(source: Source) {
    const { again, words } = source;
    this.source = {
      ...source,
      bytes: (signal) => this.#watch(source.bytes(signal)),
      again: again && ((signal) => this.#watch(again(signal))),
    };
    this.hasText = (words ?? '').trim() !== '';
  }

  async *#watch(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.hasBytes ||= piece.length > 0;
      this.hasText ||= piece.some((byte) => byte > SPACE && byte < ASCII_END);
      yield piece;
    }
  }
}

/** Bytes between these two are printed ASCII characters. */
const SPACE = 0x20;
const ASCII_END = 0x7f;

/** The error for a text without anything to speak. */
export class NothingToSay extends TtsError {
  constructor(why: string, hint: string) {
    super(`nothing to say: ${why}`, { exitCode: ExitCode.usage, hint });
  }
}

/**
 * Returns the error for sources without anything to speak.
 * @param remarks from their readers
 */
export function nothingToSay(sources: readonly Watched[], remarks: readonly string[]): NothingToSay {
  if (sources.some(({ hasText }) => hasText))
    return new NothingToSay(
      ['the text has no words that are spoken', ...remarks].join('; '),
      'tts --show-text shows what is spoken of it; in Markdown, --code read and --footnotes read leave less out',
    );
  const [only, ...others] = sources;
  if (others.length > 0 || only?.source.name !== '-' || only.hasBytes) return blankText();
  return new NothingToSay(
    'no text came from stdin',
    'give words, or a file with -f; a program that was to write the text may have failed',
  );
}

export function blankText(): NothingToSay {
  return new NothingToSay('the text is blank', 'give words, a file with -f, or text through a pipe');
}
