import { findProgram } from '../find-program.ts';
import type { PlayerOptions } from './player.ts';
import { namedPlayer, playersOf } from './player-command.ts';

export interface FoundPlayer {
  /** The whole name of its program. */
  readonly file: string;
  /** Whether it is given the sound while that is made. */
  readonly isLive: boolean;
}

/** The player that would be started first. Nothing is started. */
export async function findPlayer({
  command,
  platform,
  path,
}: PlayerOptions): Promise<FoundPlayer | undefined> {
  for (const { program, input } of command ? [namedPlayer(command, platform)] : playersOf(platform)) {
    const file = await findProgram(program, path, platform);
    if (file) return { file, isLive: input !== 'file' };
  }
  return undefined;
}
