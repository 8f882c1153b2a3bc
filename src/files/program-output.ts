import type { Readable } from 'node:stream';
import { Child, type ChildOptions, type Exit } from './child.ts';

/** Bytes that a program may write to stdout. */
const MOST_OUTPUT = 64 * 2 ** 20;

/** A program that did not end with 0. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  readonly hasWords: boolean;

  constructor(said: string, { status, signal }: Exit) {
    super(said || `it ended with ${signal ?? `status ${status}`}`);
    this.hasWords = said !== '';
  }
}

export interface OutputOptions extends Pick<ChildOptions, 'env' | 'cwd' | 'usesNetwork'> {
  readonly signal: AbortSignal;
  /** The text is written to stdin. */
  readonly input?: string;
}

/**
 * Runs a program to its end.
 * @returns what it wrote to stdout
 * @throws ProgramError with the program's words; the system's error; the signal's reason; Error for endless output
 */
export async function outputOf(
  program: string,
  args: readonly string[],
  { input = '', ...options }: OutputOptions,
): Promise<Buffer> {
  const child = new Child(program, args, { ...options, stdin: 'pipe', stdout: 'pipe' });
  await child.started;
  child.stdin.end(input);
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
