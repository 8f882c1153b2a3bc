import { resolve } from 'node:path';
import { usageError } from '../error.ts';
import type { Host } from '../host.ts';
import type { Settings } from '../settings/resolve.ts';
import { lookAt } from '../sink/open.ts';
import { PartFile, type Writer } from '../sink/part-file.ts';
import { unwritable } from '../sink/unwritable.ts';
import { styleOf } from './style.ts';
import { Subtitles } from './subtitles.ts';

type Asked = Pick<Settings, 'subtitles' | 'callbackUrl' | 'clobber' | 'paragraphPause'>;

/**
 * The subtitles that `--subtitles` asks for, if it does.
 * @throws TtsError (usage, output) when they cannot be written
 */
export function openSubtitles(
  { subtitles, callbackUrl, clobber, paragraphPause }: Asked,
  host: Pick<Host, 'cwd'> & Writer,
): Subtitles | undefined {
  if (!subtitles) return undefined;
  const name = subtitles.value;
  const style = styleOf(name);
  if (!style)
    throw usageError(`--subtitles: ${name} ends in none of .srt, .vtt and .json`, 'the ending decides');
  if (callbackUrl)
    throw usageError(
      'there are no subtitles with --callback-url',
      'leave out one of the two: the sound goes elsewhere, and only what is heard here can be timed',
    );
  const path = resolve(host.cwd, name);
  try {
    const old = lookAt(path, name);
    const file = new PartFile({ name, path, old, clobber: clobber.value, run: host });
    return new Subtitles({ file, name, style, paragraphPause: paragraphPause.value });
  } catch (error) {
    throw unwritable(name, error);
  }
}
