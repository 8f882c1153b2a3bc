import { ExitCode, TtsError } from '../../error.ts';
import { findProgram } from '../../find-program.ts';
import type { Settings } from '../../settings/resolve.ts';
import { findPlayer } from '../../sink/find-player.ts';
import { playersOf } from '../../sink/player-command.ts';
import { tryPlayer } from '../../sink/try-player.ts';
import type { Context } from '../commands.ts';
import { playerOptions } from '../output.ts';
import { examine, type Finding, skipped } from './finding.ts';

/**
 * Finds the player, and has it play a moment of silence. Where none can play, on a machine without a sound device, that is
 * told and no fault: files and pipes need none. Of one that was named it is.
 */
export async function examinePlayer(
  settings: Settings | undefined,
  { host, signal }: Pick<Context, 'host' | 'signal'>,
): Promise<Finding> {
  const named = settings?.player;
  const options = playerOptions({ player: named }, host);
  if (!(await findPlayer(options)))
    return examine('player', () => {
      throw missing(named, host.platform);
    });
  const tried = await examine('player', async () => {
    const program = await tryPlayer(options, signal);
    return `${await findProgram(program, options.path, options.platform)} took a moment of silence`;
  });
  signal.throwIfAborted();
  if (tried.state === 'good') return tried;
  if (named) return { ...tried, hint: ANOTHER };
  const hint =
    'without a sound device write a file with -o FILE; otherwise name another player with --player';
  return skipped(tried.name, tried.detail, hint);
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
