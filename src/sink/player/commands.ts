import { basename } from 'node:path';
import { findProgram } from '../../files/paths.ts';
import type { Programs } from '../encoding/encoding.ts';

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
