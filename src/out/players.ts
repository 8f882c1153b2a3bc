import { basename } from 'node:path';
import { ExitCode, TtsError } from '../kit/error.ts';
import { findProgram } from '../kit/folders.ts';
import type { ProgramHost } from '../kit/host.ts';
import { liveSink, PlayerProcess, temporarySink } from './player.ts';
import type { Sink } from './sink.ts';

/** How to start a player: with sound on stdin, or with a file. */
export type PlayerCommand = { readonly program: string } & (
  | { readonly input: 'stdin'; readonly args: readonly string[] }
  | { readonly input: 'file'; args(file: string): readonly string[] }
);

function onStdin(program: string, ...args: string[]): PlayerCommand {
  return { program, args, input: 'stdin' };
}

function onFile(program: string, args: (file: string) => readonly string[]): PlayerCommand {
  return { program, args, input: 'file' };
}

/** mpv reports errors on stderr and must not read the keyboard. */
const mpv = onStdin('mpv', '--no-input-terminal', '--msg-level=all=error', '--no-video', '-');
const ffplay = onStdin('ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-');
const play = onStdin('play', '-q', '-t', 'wav', '-');

const linux: readonly PlayerCommand[] = [
  // The default latency is two seconds.
  onStdin('paplay', '--latency-msec=100'),
  // With these sizes, it starts after 20 ms of sound instead of half a second.
  onStdin('aplay', '-q', '-B', '100000', '-F', '20000', '-'),
  ffplay,
  mpv,
  play,
  // With a file, as pw-play up to PipeWire 1.2 reads only raw samples from stdin.
  onFile('pw-play', (file) => [file]),
];

const mac: readonly PlayerCommand[] = [ffplay, mpv, play, onFile('afplay', (file) => [file])];

const windows: readonly PlayerCommand[] = [
  ffplay,
  mpv,
  onFile('powershell', (file) => ['-NoProfile', '-Command', soundPlayer(file)]),
];

/** Returns a PowerShell script. Typographic quotes are doubled, too: PowerShell reads them as straight ones. */
function soundPlayer(file: string): string {
  return `(New-Object System.Media.SoundPlayer '${file.replace(/['‘’‚‛]/g, '$&$&')}').PlaySync()`;
}

export function playersOf(platform: NodeJS.Platform): readonly PlayerCommand[] {
  if (platform === 'darwin') return mac;
  return platform === 'win32' ? windows : linux;
}

/** Returns the player of a user's command: `{}` stands for a file; otherwise it reads stdin. */
export function namedPlayer(
  [program = '', ...args]: readonly string[],
  platform: NodeJS.Platform,
): PlayerCommand {
  const name = basename(program, '.exe');
  const own = args.length === 0 && playersOf(platform).find((player) => player.program === name);
  if (own) return { ...own, program };
  if (!args.some((arg) => arg.includes('{}'))) return onStdin(program, ...args);
  return onFile(program, (file) => args.map((arg) => arg.replaceAll('{}', () => file)));
}

/** @returns true if the player that `openPlayer` would start plays sound while it is made */
export async function playsLive(command: readonly string[] | undefined, host: ProgramHost): Promise<boolean> {
  const { platform } = host;
  for (const { program, input } of command ? [namedPlayer(command, platform)] : playersOf(platform))
    if (await findProgram(program, host)) return input !== 'file';
  return false;
}

/**
 * Opens a sink for a player. It starts before there is sound, or, if it needs a file, when that is complete.
 * @param command by default, the first player of the platform that can be started
 * @throws TtsError (output) if the named player cannot be started, or if none of the platform can
 */
export async function openPlayer(command: readonly string[] | undefined, host: ProgramHost): Promise<Sink> {
  const { platform } = host;
  if (command) return startPlayer(namedPlayer(command, platform), host);
  for (const player of playersOf(platform)) {
    const sink = await startPlayer(player, host).catch((error) => {
      if (!(error instanceof TtsError)) throw error;
    });
    if (sink) return sink;
  }
  throw new TtsError('there is no player for the sound', {
    exitCode: ExitCode.output,
    hint: 'write a file with -o, name a player with --player, or install one: apt-get install alsa-utils',
  });
}

async function startPlayer(player: PlayerCommand, host: ProgramHost): Promise<Sink> {
  const { program } = player;
  const { env } = host;
  if (player.input === 'stdin') return liveSink(() => start(program, player.args, { stdin: 'pipe', env }));
  if (!(await findProgram(program, host))) throw unstartable(program, NO_PROGRAM);
  return temporarySink((file) => start(program, player.args(file), { stdin: 'ignore', env }));
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
