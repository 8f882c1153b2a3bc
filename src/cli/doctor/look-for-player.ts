import { ExitCode, TtsError } from '../../error.ts';
import { findProgram } from '../../find-program.ts';
import type { Settings } from '../../settings/resolve.ts';
import { findPlayer } from '../../sink/find-player.ts';
import { playersOf } from '../../sink/player-command.ts';
import { tryPlayer } from '../../sink/try-player.ts';
import type { Context } from '../commands.ts';
import { playerOptions } from '../output.ts';

/** Finds the player, and has it play a moment of silence: a machine may have programs enough, and no sound device. */
export async function lookForPlayer(
  settings: Settings | undefined,
  { host, signal }: Pick<Context, 'host' | 'signal'>,
): Promise<string> {
  const named = settings?.player;
  const options = playerOptions({ player: named }, host);
  if (!(await findPlayer(options))) throw missing(named, host.platform);
  const program = await tryPlayer(options, signal).catch((error) => {
    throw error instanceof TtsError && !signal.aborted ? unheard(error, named) : error;
  });
  const file = await findProgram(program, options.path, options.platform);
  return `${file} took a moment of silence`;
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

/** In other words than a run has for it, which would send its reader here. */
function unheard({ message, exitCode, cause }: TtsError, named: Named): TtsError {
  return new TtsError(message, {
    exitCode,
    hint: named
      ? ANOTHER
      : 'without a sound device write a file with -o FILE; otherwise name another player with --player',
    cause,
  });
}
