import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { unlessAborted } from '../../async.ts';
import { overheadBytes } from '../../audio/wav-header.ts';
import type { TtsError } from '../../error.ts';
import { pour } from '../pipe.ts';
import type { Sink } from '../sink.ts';
import type { PlayerProcess } from './process.ts';

export interface LiveSink extends Sink {
  /** Resolves when the player has ended, with the error where it failed. */
  readonly ended: Promise<TtsError | undefined>;
  /** The same, where it has failed by now. */
  readonly failure: TtsError | undefined;
}

/** For a reader that does not leave. */
export const NEVER = new Promise<void>(() => {});

/**
 * Sound on its way to a player that is running. One that is closed before the end is a reader that leaves, and one
 * that fails is an error, also while the sound is still being made.
 */
export function liveSink(player: PlayerProcess, input: Writable): LiveSink {
  // What goes wrong while nothing is written shows when something is.
  input.on('error', () => {});
  const stop = async () => {
    input.destroy();
    await player.stop();
  };
  return {
    isLive: true,
    ended: player.ended,
    left: player.ended.then((failure) => (failure ? NEVER : undefined)),
    get failure() {
      return player.failure;
    },
    async write(speech, signal) {
      const poured = { bytes: 0, isAll: false };
      const pouring = pour(speech, input, { name: player.name, signal, poured });
      // When the player ends first, it does not matter any more what becomes of this.
      pouring.catch(() => {});
      try {
        await unlessAborted(Promise.race([pouring, player.ended]), signal);
        const failure = await unlessAborted(player.ended, signal);
        if (failure) throw failure;
        // One that knows the length from the header does not wait for the end of the stream.
        const overhead = overheadBytes(speech.format, speech.bytes);
        return {
          player: player.program,
          bytes: poured.bytes,
          overheadBytes: overhead,
          readerLeft: !poured.isAll,
        };
      } catch (error) {
        // What has come of a sound that breaks off is heard to its end.
        await unlessAborted(player.ended, signal);
        throw error;
      } finally {
        await stop();
      }
    },
    discard: stop,
  };
}

const run = promisify(execFile);

/** Where POSIX programs are, whatever the user's own PATH says. */
const SYSTEM = '/usr/bin:/bin:/run/current-system/sw/bin';

/** A pipe of the system. What Node makes for a child is a socket, which nobody can open by the name `/dev/stdin`. */
export interface Pipe {
  /** File descriptors of the two ends. */
  readonly read: number;
  readonly write: number;
  /** Lets go of a reader that opens the pipe by its name when the writer has left: it waits for another writer. */
  readonly wake: () => void;
  readonly remove: () => void;
}

/** @throws what the system says when it has no such pipes */
export async function makePipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), 'tts-'));
  const name = join(folder, 'pipe');
  const open = () => openSync(name, constants.O_WRONLY | constants.O_NONBLOCK);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await run('mkfifo', [name], { env: { PATH: SYSTEM } });
    // Each end waits for the other to be opened, unless both are there already.
    const both = openSync(name, 'r+');
    const read = openSync(name, constants.O_RDONLY);
    const write = open();
    closeSync(both);
    return { read, write, wake: () => touch(open), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Opens and closes. Where that fails nobody is there to be woken: the reader has left, or the pipe is gone. */
function touch(open: () => number): void {
  try {
    closeSync(open());
  } catch {}
}
