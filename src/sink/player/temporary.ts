import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessAborted } from '../../async.ts';
import type { Track } from '../../audio/pcm.ts';
import { unwritable } from '../../files/writable.ts';
import type { Written } from '../encoding/encoding.ts';
import { wav } from '../encoding/wav.ts';
import type { Sink } from '../sink.ts';
import { Hearing } from './hearing.ts';
import type { PlayerProcess } from './process.ts';

export type StartPlayer = (file: string) => Promise<PlayerProcess>;

/** A sink for players of files. */
export function temporarySink(start: StartPlayer): Sink {
  const hearing = new Hearing(undefined, Number.POSITIVE_INFINITY);
  let isPaused = false;
  let player: PlayerProcess | undefined;
  return {
    isLive: false,
    played: () => hearing.played,
    pause(now) {
      isPaused = now;
      hearing.pause(now);
      player?.pause(now);
    },
    async write(track, signal) {
      const folder = await mkdtemp(join(tmpdir(), 'tts-')).catch((error) => {
        throw unwritable(tmpdir(), error);
      });
      try {
        const file = join(folder, 'speech.wav');
        const written = await save(track, file, signal);
        player = await start(file);
        player.pause(isPaused);
        hearing.give(written.bytes, track.format);
        await play(player, signal);
        return { ...written, readerLeft: false, player: player.program };
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
      }
    },
    discard: async () => {},
  };
}

async function save(track: Track, file: string, signal: AbortSignal): Promise<Written> {
  const fd = openSync(file, 'wx+');
  try {
    return await wav.record({ fd, name: file, start: 0, path: file }, track, signal);
  } finally {
    closeSync(fd);
  }
}

async function play(player: PlayerProcess, signal: AbortSignal): Promise<void> {
  try {
    const failure = await unlessAborted(player.ended, signal);
    if (failure) throw failure;
  } finally {
    await player.stop();
  }
}
