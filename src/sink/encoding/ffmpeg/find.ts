import { ExitCode, TtsError } from '../../../error.ts';
import { findProgram } from '../../../files/paths.ts';
import { outputOf } from '../../../files/program-output.ts';
import type { Programs } from '../encoding.ts';
import type { FfmpegFormat } from './formats.ts';

/** Milliseconds for ffmpeg to list its encoders. */
const LISTING_MS = 20_000;

/**
 * @returns the path of ffmpeg
 * @throws TtsError (output) where there is none, or one without the encoder
 */
export async function findFfmpeg(
  { name, encoder }: FfmpegFormat,
  { env, platform }: Programs = { env: {}, platform: 'linux' },
): Promise<string> {
  const program = await findProgram('ffmpeg', env.PATH ?? '', platform);
  if (program === undefined) throw missing(name, 'which is not installed', platform);
  const listing = listings.get(program) ?? listed(program, env);
  listings.set(program, listing);
  const list = await listing.catch((error) => {
    listings.delete(program);
    throw missing(name, `which does not run: ${error.message}`, platform);
  });
  if (new RegExp(`^ A\\S* ${encoder} `, 'm').test(list)) return program;
  throw missing(name, `and this one lacks the encoder ${encoder}`, platform);
}

/** What each ffmpeg says that it can encode. */
const listings = new Map<string, Promise<string>>();

async function listed(program: string, env: Programs['env']): Promise<string> {
  const signal = AbortSignal.timeout(LISTING_MS);
  const bytes = await outputOf(program, ['-hide_banner', '-loglevel', 'error', '-encoders'], { env, signal });
  return bytes.toString('latin1');
}

function missing(name: string, why: string, platform: NodeJS.Platform): TtsError {
  const command = { darwin: 'brew install ffmpeg', win32: 'winget install ffmpeg' }[platform as string];
  return new TtsError(`${name} is made by ffmpeg, ${why}`, {
    exitCode: ExitCode.output,
    hint: `install it: ${command ?? 'apt-get install ffmpeg'}; or write .mp3, which needs nothing`,
  });
}
