import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode, TtsError } from '../kit/error.ts';
import { findProgram } from '../kit/folders.ts';
import { unlessAborted } from '../kit/wait.ts';
import type { Programs } from '../sound/encode/encoding.ts';
import { counted } from '../sound/pcm.ts';
import {
  type LiveSink,
  liveSink,
  makePipe,
  NEVER,
  type Pipe,
  PlayerProcess,
  type Running,
  temporarySink,
} from './player.ts';
import type { Sink } from './sink.ts';

export interface PlayerOptions extends Programs {
  /** Otherwise the platform's players are tried. */
  readonly command: readonly string[] | undefined;
}

export type PlayerCommand = { readonly program: string } & (
  | {
      readonly input: 'stdin' | 'pipe';
      readonly args: readonly string[];
    }
  | { readonly input: 'file'; args(file: string): readonly string[] }
);

function onStdin(program: string, ...args: string[]): PlayerCommand {
  return { program, args, input: 'stdin' };
}

/** mpv reports errors on stderr and must not read the keyboard. */
const mpv = onStdin('mpv', '--no-input-terminal', '--msg-level=all=error', '--no-video', '-');
const ffplay = onStdin('ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-');
const play = onStdin('play', '-q', '-t', 'wav', '-');

const linux: readonly PlayerCommand[] = [
  // "-" means raw samples up to PipeWire 1.2.
  { program: 'pw-play', args: ['/dev/stdin'], input: 'pipe' },
  // The default latency is two seconds.
  onStdin('paplay', '--latency-msec=100'),
  // It begins after 20 ms of sound, not half a second.
  onStdin('aplay', '-q', '-B', '100000', '-F', '20000', '-'),
  ffplay,
  mpv,
  play,
];

const mac: readonly PlayerCommand[] = [
  ffplay,
  mpv,
  play,
  { program: 'afplay', args: (file) => [file], input: 'file' },
];

const windows: readonly PlayerCommand[] = [
  ffplay,
  mpv,
  { program: 'powershell', args: (file) => ['-NoProfile', '-Command', soundPlayer(file)], input: 'file' },
];

/** PowerShell reads typographic quotes as straight ones. */
function soundPlayer(file: string): string {
  return `(New-Object System.Media.SoundPlayer '${file.replace(/['‘’‚‛]/g, '$&$&')}').PlaySync()`;
}

export function playersOf(platform: NodeJS.Platform): readonly PlayerCommand[] {
  if (platform === 'darwin') return mac;
  return platform === 'win32' ? windows : linux;
}

/** `{}` stands for a file; otherwise the player reads stdin. */
export function namedPlayer(
  [program = '', ...args]: readonly string[],
  platform: NodeJS.Platform,
): PlayerCommand {
  const name = basename(program, '.exe');
  const own = args.length === 0 && playersOf(platform).find((player) => player.program === name);
  if (own) return { ...own, program };
  if (!args.some((arg) => arg.includes('{}'))) return onStdin(program, ...args);
  return { program, args: (file) => args.map((arg) => arg.replaceAll('{}', () => file)), input: 'file' };
}

export interface FoundPlayer {
  /** It is an absolute path. */
  readonly file: string;
  readonly isLive: boolean;
}

export async function findPlayer({
  command,
  platform,
  env,
}: PlayerOptions): Promise<FoundPlayer | undefined> {
  for (const { program, input } of command ? [namedPlayer(command, platform)] : playersOf(platform)) {
    const file = await findProgram(program, env.PATH ?? '', platform);
    if (file) return { file, isLive: input !== 'file' };
  }
  return undefined;
}

/** Milliseconds between wake-ups of a player that starts after the end of the sound. */
const WAKE_MS = 50;

/**
 * A player of files starts when its file is complete.
 * @throws TtsError (output)
 */
async function startPlayer(player: PlayerCommand, { platform, env }: Programs): Promise<Sink | LiveSink> {
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
