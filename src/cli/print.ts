/** Lines on stdout, and questions at the terminal. */
import { writeSync } from 'node:fs';
import { wasClosed } from '../kit/descriptor.ts';
import { codeOf, ExitCode, TtsError } from '../kit/error.ts';
import { isReaderGone, systemError, unwritable } from '../kit/folders.ts';
import type { Output, RunContext } from '../kit/host.ts';
import { drained, unlessAborted, yieldToEventLoop } from '../kit/wait.ts';

/** Outputs that were written to through their stream. All later lines take it, too, which keeps their order. */
const streamed = new WeakSet<Output>();
/** Outputs that were found open once and are not checked again. */
const foundOpen = new WeakSet<Output>();

/**
 * Prints synchronously if possible, because the stream takes 2 ms to set up. A reader that has left is not an error.
 * @throws TtsError (output)
 */
export function printLine(stdout: Output, text: string): void {
  if (streamed.has(stdout)) {
    stdout.stream.write(`${text}\n`);
    return;
  }
  assertOpen(stdout);
  const bytes = Buffer.from(`${text}\n`);
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(stdout.fd, bytes, done);
  } catch (error) {
    if (isReaderGone(error as Error)) return;
    if (codeOf(error) !== 'EAGAIN') throw stdoutError(error);
    streamed.add(stdout);
    stdout.stream.on('error', () => {}).write(bytes.subarray(done));
  }
}

/** The descriptor of stderr. */
const STDERR = 2;

/**
 * Refuses a closed stdout, unless stderr is closed, too: programs that want only the exit status close both.
 * @throws TtsError (output)
 */
export function assertOpen(stdout: Output): void {
  if (foundOpen.has(stdout)) return;
  if (wasClosed(stdout.fd) && !wasClosed(STDERR)) throw stdoutError(systemError('EBADF'));
  foundOpen.add(stdout);
}

/** Waits until stdout takes more, so that the lines of a long output do not pile up in memory. */
export async function readerReady(stdout: Output): Promise<void> {
  await yieldToEventLoop();
  if (streamed.has(stdout)) await drained(stdout.stream);
}

export function stdoutError(cause: unknown): TtsError {
  return unwritable('stdout', cause, 'send it elsewhere');
}

/** @returns `undefined` if stdin is not a terminal */
export async function askYes(
  question: string,
  { host, notices, signal }: RunContext,
): Promise<boolean | undefined> {
  if (!host.stdin.isTTY) return undefined;
  const { stream } = host.stdin;
  notices.ask(`${question} [y/N] `);
  try {
    const answer = new Promise<boolean>((resolve, reject) => {
      stream.once('data', (line) => resolve(/^\s*y/i.test(String(line))));
      stream.once('end', () => resolve(false)).once('error', reject);
    });
    return await unlessAborted(answer, signal);
  } finally {
    stream.pause();
  }
}

/**
 * Reads a line without echo. Always restores the terminal.
 * @throws TtsError (interrupted) on Ctrl-C
 */
export async function askSecret(question: string, { host, notices, signal }: RunContext): Promise<string> {
  const [{ createInterface }, { Writable }] = await Promise.all([
    import('node:readline'),
    import('node:stream'),
  ]);
  const nowhere = new Writable({ write: (_bytes, _encoding, done) => done() });
  const lines = createInterface({ input: host.stdin.stream, output: nowhere, terminal: true });
  const answer = new Promise<string>((resolve, reject) => {
    const interrupt = () => reject(new TtsError('interrupted', { exitCode: ExitCode.interrupted }));
    lines
      .once('line', resolve)
      .once('SIGINT', interrupt)
      .once('close', () => resolve(''));
  });
  try {
    // The echo is off by now: the user may type at once.
    notices.ask(question);
    return await unlessAborted(answer, signal);
  } finally {
    lines.close();
    notices.ask('\n');
  }
}
