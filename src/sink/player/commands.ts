import { basename } from 'node:path';
import { findProgram } from '../../files/paths.ts';

/** What programs there are. */
export interface Programs {
  readonly platform: NodeJS.Platform;
  /** Folders as in the environment variable `PATH`. */
  readonly path: string;
  /** Players inherit all of it but the key. */
  readonly env: NodeJS.ProcessEnv;
}

export interface PlayerOptions extends Programs {
  /** A program and its arguments, where the user named one; otherwise the platform's players are tried in turn. */
  readonly command: readonly string[] | undefined;
}

/** A program that plays a WAV. */
export type PlayerCommand = { readonly program: string } & (
  | {
      /** What its standard input is: anything that can be read, or a pipe that can be opened again by its name. */
      readonly input: 'stdin' | 'pipe';
      readonly args: readonly string[];
    }
  | { readonly input: 'file'; args(file: string): readonly string[] }
);

function onStdin(program: string, ...args: string[]): PlayerCommand {
  return { program, args, input: 'stdin' };
}

/** mpv says what is wrong on stderr, and must not read the keyboard; `-` is stdin, and comes last. */
const mpv = onStdin('mpv', '--no-input-terminal', '--msg-level=all=error', '--no-video', '-');
const ffplay = onStdin('ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-');
const play = onStdin('play', '-q', '-t', 'wav', '-');

const linux: readonly PlayerCommand[] = [
  // "-" is raw samples up to PipeWire 1.2 and a WAV afterwards; what is opened by name is a WAV to all of them.
  { program: 'pw-play', args: ['/dev/stdin'], input: 'pipe' },
  // By default two seconds are gathered.
  onStdin('paplay', '--latency-msec=100'),
  // Starts after 20 ms of sound; by default it fills a buffer of half a second first.
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

/** PowerShell takes typographic quotes for straight ones; two of them stand for one within a text. */
function soundPlayer(file: string): string {
  return `(New-Object System.Media.SoundPlayer '${file.replace(/['‘’‚‛]/g, '$&$&')}').PlaySync()`;
}

/** The players of a platform, the first choice first. */
export function playersOf(platform: NodeJS.Platform): readonly PlayerCommand[] {
  if (platform === 'darwin') return mac;
  return platform === 'win32' ? windows : linux;
}

/**
 * The player that a user named: `{}` in its arguments stands for a file, otherwise it reads a WAV from stdin. One of the
 * platform's own that is named without arguments gets those that it needs: bare, most of them play nothing.
 */
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
