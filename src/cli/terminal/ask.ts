import { unlessAborted } from '../../async.ts';
import { ExitCode, TtsError } from '../../error.ts';
import type { Host, RunContext } from '../../host.ts';
import { withoutEscapes } from '../../printable.ts';

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

// Ctrl-C arrives as this character in raw mode.
const INTERRUPT = '\x03';
const END = '\x04';
const CLEAR_LINE = '\x15';
const BACKSPACES = new Set(['\x7f', '\b']);

/**
 * Reads a line without echo. Always restores the terminal.
 * @throws TtsError (interrupted) on Ctrl-C
 */
export async function askSecret(question: string, { host, notices, signal }: RunContext): Promise<string> {
  const { stream } = host.stdin;
  stream.setRawMode?.(true);
  try {
    // The question comes when the echo is off: the user may type at once.
    notices.ask(question);
    return await unlessAborted(line(stream), signal);
  } finally {
    stream.setRawMode?.(false);
    stream.pause();
    notices.ask('\n');
  }
}

function line(stream: Host['stdin']['stream']): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = '';
    const end = () => resolve('');
    const actions: Readonly<Record<string, () => void>> = {
      '\r': () => resolve(typed),
      '\n': () => resolve(typed),
      [INTERRUPT]: () => reject(new TtsError('interrupted', { exitCode: ExitCode.interrupted })),
      [END]: end,
    };
    const read = (piece: Buffer) => {
      for (const character of withoutEscapes(piece.toString())) {
        const action = actions[character];
        if (action) return action();
        typed = edited(typed, character);
      }
    };
    stream.on('data', read).once('end', end).once('error', reject);
  });
}

function edited(typed: string, character: string): string {
  if (BACKSPACES.has(character)) return typed.slice(0, -1);
  if (character === CLEAR_LINE) return '';
  return character < ' ' ? typed : typed + character;
}
