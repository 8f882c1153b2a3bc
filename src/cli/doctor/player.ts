import { singleItem } from '../../async.ts';
import { type PcmFormat, type Speech, silence, untagged } from '../../audio/pcm.ts';
import { ExitCode, TtsError } from '../../error.ts';
import { findProgram } from '../../files/paths.ts';
import type { Settings } from '../../settings/resolve.ts';
import { findPlayer, type PlayerOptions, playersOf } from '../../sink/player/commands.ts';
import { openPlayer } from '../../sink/player/open.ts';
import { playerOptions } from '../../speech/outputs.ts';
import type { Context } from '../context.ts';
import { examine, type Finding } from './finding.ts';

/**
 * Plays a moment of silence. Without a usable sound device nothing can be heard, which is a fault, though files and pipes
 * need none.
 */
export async function examinePlayer(
  settings: Settings | undefined,
  { host, signal }: Pick<Context, 'host' | 'signal'>,
): Promise<Finding> {
  const named = settings?.player;
  const options = playerOptions(named?.value, host);
  if (!(await findPlayer(options)))
    return examine('player', () => {
      throw missing(named, host.platform);
    });
  const tried = await examine('player', async () => {
    const program = await tryPlayer(options, signal);
    return `${await findProgram(program, host.env.PATH ?? '', host.platform)} took a moment of silence`;
  });
  signal.throwIfAborted();
  if (tried.state === 'good') return tried;
  if (named) return { ...tried, hint: ANOTHER };
  const hint = 'files (-o FILE) and pipes need none; to hear sound, name another player with --player';
  return { ...tried, detail: `no sound device can be used: ${tried.detail}`, hint };
}

type Named = Settings['player'];

const ANOTHER = 'name another, or leave it out to use the first one found';

function missing(named: Named, platform: NodeJS.Platform): TtsError {
  const programs = playersOf(platform).map(({ program }) => program);
  return new TtsError(
    named
      ? `there is no program ${named.value[0]}, which ${named.origin.name} names`
      : 'no program that plays sound was found',
    {
      exitCode: ExitCode.output,
      hint: named ? ANOTHER : `install one of ${programs.join(', ')}; files (-o) and pipes need none`,
    },
  );
}

const SILENT_SECONDS = 0.05;

/** A sound device may need seconds to wake up. */
const LIMIT_MS = 5000;

const FORMAT: PcmFormat = { encoding: 'integer', sampleRate: 22_050, channels: 1, bitsPerSample: 16 };

/** @throws TtsError (output) if no player works */
async function tryPlayer(options: PlayerOptions, signal: AbortSignal): Promise<string> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const sink = await openPlayer(options);
  try {
    const { player = '' } = await sink.write(untagged(moment()), AbortSignal.any([signal, limit]));
    return player;
  } catch (error) {
    if (error !== limit.reason) throw error;
    const message = `the player did not end within ${LIMIT_MS / 1000} s, given a moment of silence`;
    throw new TtsError(message, { exitCode: ExitCode.output });
  }
}

function moment(): Speech {
  const samples = Buffer.concat([...silence(FORMAT, SILENT_SECONDS)]);
  return { format: FORMAT, bytes: samples.length, pcm: singleItem(samples) };
}
