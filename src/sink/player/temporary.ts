import { closeSync, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unlessAborted } from '../../async.ts';
import type { Speech } from '../../audio/pcm.ts';
import { unwritable } from '../../files/writable.ts';
import { record } from '../recording.ts';
import type { Delivery, Sink } from '../sink.ts';
import type { PlayerProcess } from './process.ts';

export type StartPlayer = (file: string) => Promise<PlayerProcess>;

/** For players of files. */
export function temporarySink(start: StartPlayer): Sink {
  return {
    isLive: false,
    async write(speech, signal) {
      const folder = await mkdtemp(join(tmpdir(), 'tts-')).catch((error) => {
        throw unwritable(tmpdir(), error);
      });
      try {
        const file = join(folder, 'speech.wav');
        const delivery = await save(speech, file, signal);
        const player = await start(file);
        await play(player, signal);
        return { ...delivery, player: player.program };
      } finally {
        await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
      }
    },
    discard: async () => {},
  };
}

async function save(speech: Speech, file: string, signal: AbortSignal): Promise<Delivery> {
  const fd = openSync(file, 'wx+');
  try {
    return await record({ fd, name: file, start: 0, path: file }, speech, signal);
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
