import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { ExitCode, TtsError } from '../../error.ts';
import { findProgram } from '../../files/paths.ts';
import type { Programs } from '../encoding/encoding.ts';
import type { Sink } from '../sink.ts';
import type { PlayerCommand } from './commands.ts';
import { type LiveSink, liveSink, makePipe, type Pipe, type Running } from './live.ts';
import { PlayerProcess } from './process.ts';
import { temporarySink } from './temporary.ts';

/** Milliseconds between wake-ups of a player that starts after the end of the sound. */
const WAKE_MS = 50;

/**
 * A player of files starts when its file is complete.
 * @throws TtsError (output)
 */
export async function startPlayer(
  player: PlayerCommand,
  { platform, env }: Programs,
): Promise<Sink | LiveSink> {
  const { program } = player;
  if (player.input === 'file') {
    if (!(await findProgram(program, env.PATH ?? '', platform))) throw unstartable(program, NO_PROGRAM);
    return temporarySink((file) => start(program, player.args(file), 'ignore', env));
  }
  const { args, input } = player;
  const run =
    input === 'pipe' ? () => startPiped(program, args, env) : () => startOnStdin(program, args, env);
  return liveSink(await run(), run);
}

async function startOnStdin(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Running> {
  const player = await start(program, args, 'pipe', env);
  return { player, input: player.stdin };
}

async function startPiped(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Running> {
  const { read, write, wake, remove } = await pipeFor(program);
  try {
    const player = await start(program, args, read, env);
    const input = new Socket({ fd: write, readable: false, writable: true });
    input.once('close', () => {
      const timer = setInterval(wake, WAKE_MS);
      void player.ended.then(() => clearInterval(timer));
    });
    void player.ended.then(remove);
    return { player, input };
  } catch (error) {
    closeSync(write);
    remove();
    throw error;
  } finally {
    closeSync(read);
  }
}

function pipeFor(program: string): Promise<Pipe> {
  return makePipe().catch((cause) => {
    throw unstartable(program, 'no pipe can be made for it in the temporary folder', cause);
  });
}

const NO_PROGRAM = 'there is no such program';

const reasons = new Map([
  ['ENOENT', NO_PROGRAM],
  ['EACCES', 'it may not be run'],
]);

function start(...[program, ...how]: Parameters<typeof PlayerProcess.start>): Promise<PlayerProcess> {
  return PlayerProcess.start(program, ...how).catch((cause) => {
    if (!('syscall' in cause)) throw cause;
    throw unstartable(program, reasons.get(cause.code) ?? cause.code, cause);
  });
}

function unstartable(program: string, reason: string, cause?: unknown): TtsError {
  return new TtsError(`the player ${program} cannot be started: ${reason}`, {
    exitCode: ExitCode.output,
    hint: 'check --player, TTS_PLAYER and "player" in the config, or write a file with -o',
    cause,
  });
}
