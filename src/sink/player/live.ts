import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { unlessAborted } from '../../async.ts';
import type { TtsError } from '../../error.ts';
import { outputOf } from '../../files/program-output.ts';
import { wav } from '../encoding/wav.ts';
import { Gate } from '../gate.ts';
import { nothingPoured, pour } from '../pipe.ts';
import type { Sink } from '../sink.ts';
import { Hearing } from './hearing.ts';
import type { PlayerProcess } from './process.ts';

export interface LiveSink extends Sink {
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  readonly failure: TtsError | undefined;
}

export const NEVER = new Promise<void>(() => {});

/** A closed player is a reader that left; a failed one is an error at once. */
export function liveSink(player: PlayerProcess, input: Writable): LiveSink {
  input.on('error', () => {});
  const hearing = new Hearing(() => input.writableLength);
  const gate = new Gate();
  const stop = async () => {
    input.destroy();
    await player.stop();
  };
  return {
    isLive: true,
    ended: player.ended,
    left: player.ended.then((failure) => (failure ? NEVER : undefined)),
    played: () => hearing.played,
    pause(isPaused) {
      // A program that the player has started may go on to read.
      gate.isClosed = isPaused;
      hearing.pause(isPaused);
      player.pause(isPaused);
    },
    get failure() {
      return player.failure;
    },
    async write(track, signal) {
      const poured = nothingPoured();
      const { name } = player;
      const pouring = pour(hearing.of(track), input, { name, encoding: wav, signal, poured, gate });
      // An ended player needs no more sound.
      pouring.catch(() => {});
      try {
        await unlessAborted(Promise.race([pouring, player.ended]), signal);
        const failure = await unlessAborted(player.ended, signal);
        if (failure) throw failure;
        // Some players stop at the length in the header.
        const { bytes, writtenBytes, isAll } = poured;
        return { player: player.program, bytes, writtenBytes, readerLeft: !isAll };
      } catch (error) {
        // The beginning of broken sound is played.
        await unlessAborted(player.ended, signal);
        throw error;
      } finally {
        await stop();
      }
    },
    discard: stop,
  };
}

/** The program is taken from here, whatever `PATH` says. */
const SYSTEM = '/usr/bin:/bin:/run/current-system/sw/bin';

/** Milliseconds. */
const MKFIFO_MS = 5000;

/** Node's own pipe for children is a socket, which `/dev/stdin` cannot open. */
export interface Pipe {
  readonly read: number;
  readonly write: number;
  /** The writer of the pipe may have left. */
  readonly wake: () => void;
  readonly remove: () => void;
}

/** @throws the system's error */
export async function makePipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), 'tts-'));
  const name = join(folder, 'pipe');
  const open = () => openSync(name, constants.O_WRONLY | constants.O_NONBLOCK);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await outputOf('mkfifo', [name], { env: { PATH: SYSTEM }, signal: AbortSignal.timeout(MKFIFO_MS) });
    // Each end waits for the other.
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

/** No reader waits. */
function touch(open: () => number): void {
  try {
    closeSync(open());
  } catch {}
}
