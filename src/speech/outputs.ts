import { extname } from 'node:path';
import { TtsError } from '../error.ts';
import type { Host, Messages, RunContext } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { checkSink, isStdout, openSink } from '../sink/open.ts';
import type { PlayerOptions } from '../sink/player/commands.ts';
import { findPlayer } from '../sink/player/commands.ts';
import type { Sink } from '../sink/sink.ts';
import type { Subtitles } from './subtitles.ts';

export type Wanted = Pick<Settings, 'output' | 'clobber' | 'play' | 'player'>;

/** Whether the sound is played: when somebody says so, and on a terminal, where nothing else can be done with it. */
export function isPlayed({ output, play, player }: Wanted, { stdout }: Pick<Host, 'stdout'>): boolean {
  return play?.value ?? (player?.origin.place === 'option' || (!output && stdout.isTTY));
}

/** What `--player` says, and where programs are found. */
export function playerOptions(
  { player }: Pick<Wanted, 'player'>,
  { platform, env }: Pick<Host, 'platform' | 'env'>,
): PlayerOptions {
  return { command: player?.value, platform, path: env.PATH ?? '' };
}

/**
 * Where the sound of a run goes: into what `-o` names, to a player, or to both.
 * @throws TtsError (output)
 */
export async function openOutput(
  settings: Wanted & Pick<Settings, 'callbackUrl'>,
  host: Host,
  signal: AbortSignal,
): Promise<Sink> {
  const { output, play, player, callbackUrl } = settings;
  const isNamed = output || play?.value || player?.origin.place === 'option';
  const opened = openWanted(settings, host, signal);
  // With a callback there will hardly be any sound here, and where nobody named a place for it, that is no error.
  return callbackUrl && !isNamed ? opened.catch(unopened) : opened;
}

async function openWanted(settings: Wanted, host: Host, signal: AbortSignal): Promise<Sink> {
  const { output, clobber } = settings;
  const open = (name: string) => openSink({ output: name, clobber: clobber.value }, host, signal);
  if (!isPlayed(settings, host)) return open(output?.value ?? '-');
  const file = output && (await open(output.value));
  const { openPlayer } = await import('../sink/player/open.ts');
  const opened = openPlayer(playerOptions(settings, host));
  if (!file) return opened;
  try {
    const { tee } = await import('../sink/tee.ts');
    // The file is wanted even if nobody can hear it.
    return tee(file, await opened.catch(unopened));
  } catch (error) {
    await file.discard();
    throw error;
  }
}

const OTHER_SOUND = /^\.(?:mp3|ogg|opus|flac|m4a|aac|wma|webm)$/i;

/** Whoever names a file so expects another format than the one there is. */
export function warnOfEnding({ output }: Pick<Wanted, 'output'>, notices: Messages): void {
  const ending = extname(output?.value ?? '');
  if (!output || !OTHER_SOUND.test(ending)) return;
  const instead = `-o x.wav, and then ffmpeg -i x.wav x${ending}`;
  notices.warn(`${output.value} will hold a WAV, whatever its name says; for the other: ${instead}`);
}

/** What could not be opened: the error comes with the sound for it. */
function unopened(error: unknown): Sink {
  if (!(error instanceof TtsError)) throw error;
  return {
    isLive: false,
    write: async () => {
      throw error;
    },
    discard: async () => {},
  };
}

/** All that a run writes to. */
export interface Outputs {
  readonly sink: Sink;
  readonly subtitles: Subtitles | undefined;
}

/**
 * Opens them before anything is asked of a service.
 * @throws TtsError (output) when one of them cannot be written; then none is left open
 */
export async function openOutputs(
  settings: Settings,
  { host, notices, signal }: RunContext,
): Promise<Outputs> {
  const subtitles = settings.subtitles && (await import('./subtitles.ts')).openSubtitles(settings, host);
  try {
    const sink = await openOutput(settings, host, signal);
    warnOfEnding(settings, notices);
    return { subtitles, sink };
  } catch (error) {
    subtitles?.discard();
    throw error;
  }
}

/**
 * Whether somebody may hear the sound of a run while it is made, as far as that is known before its output is opened.
 * Nothing is made.
 * @throws TtsError (output) where opening it would; that there is no player is left to the run
 */
export async function checkOutput(settings: Wanted, host: Host): Promise<boolean> {
  const { output, clobber } = settings;
  const isHeard = isPlayed(settings, host) && (await isPlayedLive(settings, host));
  if (!output && isPlayed(settings, host)) return isHeard;
  const name = output?.value ?? '-';
  // A terminal, which gets no sound, may be told of it all the same.
  if (isStdout(name) && host.stdout.isTTY) return true;
  return (await checkSink({ output: name, clobber: clobber.value }, host)) || isHeard;
}

async function isPlayedLive(settings: Wanted, host: Host): Promise<boolean> {
  const found = await findPlayer(playerOptions(settings, host));
  return found?.isLive === true;
}
