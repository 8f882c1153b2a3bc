import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { ExitCode, TtsError } from '../error.ts';
import { synced } from '../files/atomic-file.ts';
import { isReadOnly, notWritable, positionOf, wasClosed } from '../files/descriptor.ts';
import { unwritable } from '../files/writable.ts';
import type { Output } from '../host.ts';
import type { Encoding } from './encoding/encoding.ts';
import { streamingOf } from './encodings.ts';
import { deviceSink, pipeSink } from './pipe.ts';
import type { Sink } from './sink.ts';

/**
 * `> out.wav` gets right sizes at the end, `>> all.wav` does not.
 * @throws TtsError (output) for a terminal, for an encoding that needs a file, and if it cannot be inspected
 */
export function stdoutSink(stdout: Pick<Output, 'fd' | 'isTTY'>, encoding: Encoding): Sink {
  const { fd } = stdout;
  const kind = kindOf(stdout);
  if (kind.isFile()) return openFileSink(fd, startOf(fd, kind.size), encoding);
  const open = kind.isFIFO() || kind.isSocket() ? pipeSink : deviceSink;
  const sink = open(fd, 'stdout', streamingOf(encoding, 'stdout'));
  // stdout may be needed for messages.
  return { ...sink, discard: async () => {} };
}

/** @throws TtsError (output) as opening would */
export function isLiveStdout(stdout: Pick<Output, 'fd' | 'isTTY'>): boolean {
  return !kindOf(stdout).isFile();
}

function openFileSink(fd: number, start: number | undefined, encoding: Encoding): Sink {
  return {
    isLive: false,
    async write(track, signal) {
      const file = { fd, name: 'stdout', start, isWatched: true, path: `/proc/self/fd/${fd}` };
      const written = await encoding.record(file, track, signal);
      await synced(fd).catch((error) => {
        throw unwritable('stdout', error);
      });
      return { ...written, readerLeft: false };
    },
    discard: async () => {},
  };
}

function kindOf({ fd, isTTY }: Pick<Output, 'fd' | 'isTTY'>) {
  if (isTTY) throw onTerminal();
  try {
    const kind = fstatSync(fd);
    if (kind.isFile() ? isReadOnly(fd) : kind.isCharacterDevice() && wasClosed(fd)) throw notWritable();
    return kind;
  } catch (error) {
    throw unwritable('stdout', error);
  }
}

/** `undefined` if every write appends. */
function startOf(fd: number, size: number): number | undefined {
  try {
    return positionOf(fd);
  } catch {
    // Elsewhere than on Linux, `>` leaves an empty file.
    return size === 0 ? 0 : undefined;
  }
}

/** @throws TtsError (output) for a terminal; the system's error */
export async function openDevice(path: string): Promise<number> {
  // O_NOCTTY: that terminal's Ctrl-C must not reach this run.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  // node:tty loads the network stack.
  const { isatty } = await import('node:tty');
  if (!isatty(fd)) return fd;
  closeSync(fd);
  throw onTerminal();
}

function onTerminal(): TtsError {
  return new TtsError('audio is not written to a terminal', {
    exitCode: ExitCode.output,
    hint: 'name a file with -o out.wav, or send it through a pipe: tts … | aplay',
  });
}
