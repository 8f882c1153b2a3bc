import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from '../../async.ts';
import { counted } from '../../audio/pcm.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { findProgram } from '../../files/paths.ts';
import type { Programs } from '../encoding/encoding.ts';
import type { Sink } from '../sink.ts';
import { namedPlayer, type PlayerCommand, type PlayerOptions, playersOf } from './commands.ts';
import { type LiveSink, NEVER } from './live.ts';
import { startPlayer } from './start.ts';

/** Milliseconds in which a player without its sound server fails. */
const TRIAL_MS = 150;

/** A player that fails before it took more than pipes and buffers hold has played nothing. */
const UNHEARD_BYTES = 512 * 1024;

interface Failed {
  readonly program: string;
  readonly failure: TtsError;
}

/**
 * It is called before there is sound.
 * @throws TtsError (output) if none starts
 */
export async function openPlayer({ command, ...programs }: PlayerOptions): Promise<Sink> {
  const { platform } = programs;
  if (command) return startPlayer(namedPlayer(command, platform), programs);
  return openFirst(playersOf(platform), programs);
}

async function openFirst(
  [first, ...others]: readonly PlayerCommand[],
  programs: Programs,
  failed: readonly Failed[] = [],
): Promise<Sink> {
  if (!first) throw noneLeft(failed);
  const sink = await startPlayer(first, programs).catch((error) => {
    if (!(error instanceof TtsError)) throw error;
  });
  if (!sink) return openFirst(others, programs, failed);
  if (!('failure' in sink)) return sink;
  const withThis = (failure: TtsError) => [...failed, { program: first.program, failure }];
  return inSuccession(sink, {
    trialMs: others.length > 0 ? TRIAL_MS : 0,
    next: (failure) => openFirst(others, programs, withThis(failure)),
    asUnheard: async (failure) => {
      const isLeft = failed.length === 0 && (await areThere(others, programs));
      return isLeft ? failure : noneLeft(withThis(failure));
    },
  });
}

interface Succession {
  readonly trialMs: number;
  readonly next: (failure: TtsError) => Promise<Sink>;
  readonly asUnheard: (failure: TtsError) => Promise<TtsError>;
}

async function areThere(players: readonly PlayerCommand[], { env, platform }: Programs): Promise<boolean> {
  const found = await Promise.all(
    players.map(({ program }) => findProgram(program, env.PATH ?? '', platform)),
  );
  return found.some(Boolean);
}

function inSuccession(sink: LiveSink, { trialMs, next, asUnheard }: Succession): Sink {
  let isDecided = false;
  const tried = Promise.race([sink.ended, sleep(trialMs, undefined, { ref: false })]);
  const heir = sink.ended.then((failure) => (failure && !isDecided ? next(failure) : Promise.resolve(sink)));
  heir.catch(() => {});
  let played = sink.played;
  let current: Sink = sink;
  let isPaused = false;
  const decide = async () => {
    isDecided = true;
    const chosen = await (sink.failure ? heir : sink);
    played = chosen.played;
    current = chosen;
    if (isPaused) chosen.pause?.(true);
    return chosen;
  };
  return {
    isLive: true,
    readerGone: heir.then(
      ({ readerGone = NEVER }) => readerGone,
      () => NEVER,
    ),
    played: () => played?.() ?? 0,
    pause(now) {
      isPaused = now;
      current.pause?.(now);
    },
    async write(track, signal) {
      // Sound from the cache comes at once, and a failing player would lose it.
      await unlessAborted(tried, signal);
      const chosen = await decide();
      let taken = 0;
      const pcm = counted(track.pcm, (bytes) => {
        taken += bytes;
      });
      return chosen.write({ ...track, pcm }, signal).catch(async (error) => {
        const isUnheard = error === sink.failure && taken < UNHEARD_BYTES;
        throw isUnheard ? await asUnheard(error) : error;
      });
    },
    discard: () =>
      decide().then(
        (chosen) => chosen.discard(),
        () => {},
      ),
  };
}

function noneLeft(failed: readonly Failed[]): TtsError {
  const [first, ...others] = failed;
  if (!first)
    return new TtsError('there is no player for the sound', {
      exitCode: ExitCode.output,
      hint: 'write a file with -o, name a player with --player, or install one: apt-get install alsa-utils',
    });
  const names = failed.map(({ program }) => program).join(', ');
  const could = others.length > 0 ? `none of ${names} could play` : 'no other player was found';
  return new TtsError(first.failure.message, {
    exitCode: ExitCode.output,
    hint: `${could}; on a machine without a sound device write a file with -o FILE; tts doctor checks the player`,
    cause: first.failure,
  });
}
