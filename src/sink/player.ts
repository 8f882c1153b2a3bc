import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { unlessAborted } from '../aborted.ts';
import { ExitCode, TtsError } from '../error.ts';
import { namedPlayer, type PlayerCommand, playersOf } from './player-command.ts';
import { temporarySink } from './player-file.ts';
import { type LiveSink, liveSink, NEVER } from './player-live.ts';
import { makePipe } from './player-pipe.ts';
import { PlayerProcess } from './player-process.ts';
import type { Sink } from './sink.ts';

/** By then a player has failed that lacks its sound server, in milliseconds since its start. */
const TRIAL_MS = 150;

/** How often a player is woken that was slower to begin than the sound took to end. */
const WAKE_MS = 50;

export interface PlayerOptions {
  /** A program and its arguments, where the user named one; otherwise the platform's players are tried in turn. */
  readonly command: readonly string[] | undefined;
  readonly platform: NodeJS.Platform;
}

/**
 * Starts a player already, so that it is there when the sound comes.
 * @throws TtsError (output) when none can be started
 */
export async function openPlayer({ command, platform }: PlayerOptions): Promise<Sink> {
  if (!command) return openFirst(playersOf(platform), noPlayer());
  const player = namedPlayer(command, platform);
  return open(player).catch((error) => {
    throw isUnstartable(error) ? unstartable(player.program, error) : error;
  });
}

/**
 * The first player that can be started. One that fails before there is any sound, for want of the sound server that it
 * belongs to, makes room for the next one.
 * @param problem the error where none is left
 */
async function openFirst([first, ...others]: readonly PlayerCommand[], problem: TtsError): Promise<Sink> {
  if (!first) throw problem;
  const sink = await open(first).catch((error) => {
    if (!isUnstartable(error)) throw error;
  });
  if (!sink) return openFirst(others, problem);
  if (!('failure' in sink)) return sink;
  let isDecided = false;
  const tried = Promise.race([
    sink.ended,
    sleep(others.length > 0 ? TRIAL_MS : 0, undefined, { ref: false }),
  ]);
  const heir = sink.ended.then((failure) =>
    failure && !isDecided ? openFirst(others, failure) : Promise.resolve(sink),
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

async function open(player: PlayerCommand): Promise<Sink | LiveSink> {
  const { program } = player;
  if (player.input === 'file')
    return temporarySink((file) =>
      PlayerProcess.start(program, player.args(file), 'ignore').catch((error) => {
        throw isUnstartable(error) ? unstartable(program, error) : error;
      }),
    );
  if (player.input === 'pipe') return openPiped(program, player.args);
  const running = await PlayerProcess.start(program, player.args, 'pipe');
  return liveSink(running, running.stdin as Writable);
}

async function openPiped(program: string, args: readonly string[]): Promise<Sink> {
  const { read, write, wake, remove } = await makePipe();
  try {
    const running = await PlayerProcess.start(program, args, read);
    const input = new Socket({ fd: write, readable: false, writable: true });
    input.once('close', () => {
      const timer = setInterval(wake, WAKE_MS);
      void running.ended.then(() => clearInterval(timer));
    });
    void running.ended.then(remove);
    return liveSink(running, input);
  } catch (error) {
    closeSync(write);
    remove();
    throw error;
  } finally {
    closeSync(read);
  }
}

/** Whether it is the system that refuses: to run the program, or to make the pipe that it needs. */
function isUnstartable(error: unknown): boolean {
  return error instanceof Error && ('syscall' in error || 'cmd' in error);
}

const reasons = new Map([
  ['ENOENT', 'there is no such program'],
  ['EACCES', 'it may not be run'],
]);

function unstartable(program: string, cause: unknown): TtsError {
  const { code = '' } = cause as NodeJS.ErrnoException;
  return new TtsError(`the player ${program} cannot be started: ${reasons.get(code) ?? code}`, {
    exitCode: ExitCode.output,
    hint: 'check --player, TTS_PLAYER and "player" in the config, or write a file with -o',
    cause,
  });
}

function noPlayer(): TtsError {
  return new TtsError('there is no player for the sound', {
    exitCode: ExitCode.output,
    hint: 'write a file with -o, name a player with --player, or install one: apt-get install alsa-utils',
  });
}
