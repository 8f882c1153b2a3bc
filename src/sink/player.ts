import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from '../aborted.ts';
import { ExitCode, TtsError } from '../error.ts';
import { namedPlayer, type PlayerCommand, playersOf } from './player-command.ts';
import { NEVER } from './player-live.ts';
import type { Sink } from './sink.ts';
import { type Programs, startPlayer } from './start-player.ts';

/** By then a player has failed that lacks its sound server, in milliseconds since its start. */
const TRIAL_MS = 150;

export interface PlayerOptions extends Programs {
  /** A program and its arguments, where the user named one; otherwise the platform's players are tried in turn. */
  readonly command: readonly string[] | undefined;
}

/**
 * Starts a player already, so that it is there when the sound comes.
 * @throws TtsError (output) when none can be started
 */
export async function openPlayer({ command, ...programs }: PlayerOptions): Promise<Sink> {
  const { platform } = programs;
  if (command) return startPlayer(namedPlayer(command, platform), programs);
  return openFirst(playersOf(platform), programs, noPlayer());
}

/**
 * The first player that can be started. One that fails before there is any sound, for want of the sound server that it
 * belongs to, makes room for the next one.
 * @param problem the error where none is left
 */
async function openFirst(
  [first, ...others]: readonly PlayerCommand[],
  programs: Programs,
  problem: TtsError,
): Promise<Sink> {
  if (!first) throw problem;
  const sink = await startPlayer(first, programs).catch((error) => {
    if (!(error instanceof TtsError)) throw error;
  });
  if (!sink) return openFirst(others, programs, problem);
  if (!('failure' in sink)) return sink;
  let isDecided = false;
  const tried = Promise.race([
    sink.ended,
    sleep(others.length > 0 ? TRIAL_MS : 0, undefined, { ref: false }),
  ]);
  const heir = sink.ended.then((failure) =>
    failure && !isDecided ? openFirst(others, programs, failure) : Promise.resolve(sink),
  );
  // That there is none is told when there is sound.
  heir.catch(() => {});
  const decide = async () => {
    isDecided = true;
    return sink.failure ? heir : sink;
  };
  return {
    isLive: true,
    left: heir.then(
      ({ left = NEVER }) => left,
      () => NEVER,
    ),
    async write(speech, signal) {
      // Sound that comes at once, as from the cache, would be lost with a player that is about to fail.
      await unlessAborted(tried, signal);
      return (await decide()).write(speech, signal);
    },
    // Where no player is left nothing is to be let go of, and what ended the run matters more.
    discard: () =>
      decide().then(
        (chosen) => chosen.discard(),
        () => {},
      ),
  };
}

function noPlayer(): TtsError {
  return new TtsError('there is no player for the sound', {
    exitCode: ExitCode.output,
    hint: 'write a file with -o, name a player with --player, or install one: apt-get install alsa-utils',
  });
}
