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
import { nothingPoured, type Poured, pour } from '../pipe.ts';
import type { Sink } from '../sink.ts';
import { Hearing } from './hearing.ts';
import type { PlayerProcess } from './process.ts';
import { type Take, Takes } from './takes.ts';

export interface LiveSink extends Sink {
  /** Resolves with the error of a player that failed. */
  readonly ended: Promise<TtsError | undefined>;
  readonly failure: TtsError | undefined;
}

export const NEVER = new Promise<void>(() => {});

/** A player, and the pipe that it reads. */
export interface Running {
  readonly player: PlayerProcess;
  readonly input: Writable;
}

/**
 * A closed player is a reader that left; a failed one is an error at once.
 * @param again starts the player once more, for what comes after a drop
 */
export function liveSink(first: Running, again: () => Promise<Running>): LiveSink {
  const { ended } = first.player;
  first.input.on('error', () => {});
  let running = first;
  const hearing = new Hearing(() => running.input.writableLength);
  const gate = new Gate();
  return {
    isLive: true,
    ended,
    readerGone: ended.then((failure) => (failure ? NEVER : undefined)),
    played: () => hearing.played,
    idle: () => hearing.idle,
    pause(isPaused) {
      // A program that the player has started may go on to read.
      gate.isClosed = isPaused;
      hearing.pause(isPaused);
      running.player.pause(isPaused);
    },
    get failure() {
      return first.player.failure;
    },
    async write(track, signal) {
      track.drops?.listenFirst(() => hearing.drop());
      const takes = new Takes(track);
      const poured = nothingPoured();
      for (let take: Take | undefined = takes.first(); take; ) {
        const { dropped } = take;
        const heard = { track: hearing.of(take.track), dropped };
        const isHeard = await play(running, heard, { signal, poured, gate });
        if (isHeard) return { ...poured, player: first.player.program, readerLeft: !poured.isAll };
        take = await unlessAborted(takes.next(), signal);
        if (take) running = await again();
      }
      return { ...poured, player: first.player.program, readerLeft: false };
    },
    discard: () => stop(running),
  };
}

interface Playing {
  readonly signal: AbortSignal;
  readonly poured: Poured;
  readonly gate: Gate;
}

/**
 * @returns false if the sound was dropped: then it ends at once
 * @throws TtsError (output); what the track throws
 */
async function play(
  { player, input }: Running,
  { track, dropped }: Take,
  { signal, poured, gate }: Playing,
): Promise<boolean> {
  const silence = () => {
    player.kill();
    input.destroy();
  };
  input.on('error', () => {});
  if (dropped?.aborted) silence();
  dropped?.addEventListener('abort', silence, { once: true });
  const pouring = pour(track, input, { name: player.name, encoding: wav, signal, poured, gate });
  // An ended player needs no more sound.
  pouring.catch(() => {});
  try {
    await unlessAborted(Promise.race([pouring, player.ended]), signal);
    const failure = await unlessAborted(player.ended, signal);
    if (failure && !dropped?.aborted) throw failure;
    return !dropped?.aborted;
  } catch (error) {
    if (dropped?.aborted && !signal.aborted) return false;
    // The beginning of broken sound is played.
    await unlessAborted(player.ended, signal);
    throw error;
  } finally {
    dropped?.removeEventListener('abort', silence);
    await stop({ player, input });
  }
}

async function stop({ player, input }: Running): Promise<void> {
  input.destroy();
  await player.stop();
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
