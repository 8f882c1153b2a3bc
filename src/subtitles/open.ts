import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { usageError } from '../error.ts';
import type { Host } from '../host.ts';
import { pathOf } from '../path-of.ts';
import type { Settings } from '../settings/resolve.ts';
import { checkFile } from '../sink/check.ts';
import { behindLinks } from '../sink/links.ts';
import { lookAt } from '../sink/open.ts';
import type { Writer } from '../sink/part.ts';
import { type FileOptions, PartFile } from '../sink/part-file.ts';
import { unwritable } from '../sink/unwritable.ts';
import { type Style, styleOf } from './style.ts';
import { ELSEWHERE, Subtitles } from './subtitles.ts';

type Asked = Pick<Settings, 'subtitles' | 'output' | 'callbackUrl' | 'clobber' | 'paragraphPause'>;

/**
 * The subtitles that `--subtitles` asks for, if it does.
 * @throws TtsError (usage, output) when they cannot be written
 */
export function openSubtitles(asked: Asked, host: Pick<Host, 'cwd'> & Writer): Subtitles | undefined {
  const found = lookFor(asked, host);
  if (!found) return undefined;
  const { style, options } = found;
  const { name } = options;
  return new Subtitles({
    file: new PartFile(options),
    name,
    style,
    paragraphPause: asked.paragraphPause.value,
  });
}

/**
 * Nothing is made.
 * @throws TtsError (usage, output) where opening them would
 */
export function checkSubtitles(asked: Asked, host: Pick<Host, 'cwd'> & Writer): void {
  const found = lookFor(asked, host);
  if (found) checkFile(found.options);
}

interface Found {
  readonly style: Style;
  readonly options: FileOptions;
}

function lookFor(
  { subtitles, output, callbackUrl, clobber }: Asked,
  host: Pick<Host, 'cwd'> & Writer,
): Found | undefined {
  if (!subtitles) return undefined;
  const name = subtitles.value;
  const style = styleOf(name);
  if (!style)
    throw usageError(`--subtitles: ${name} must end in .srt, .vtt or .json`, 'the ending chooses the format');
  if (callbackUrl)
    throw usageError(
      'there are no subtitles with --callback-url',
      'leave out one of the two: the sound goes elsewhere, and only what is heard here can be timed',
    );
  try {
    const path = pathOf(host.cwd, name);
    if (output && placeOf(pathOf(host.cwd, output.value)) === placeOf(path))
      throw usageError(
        `--output and --subtitles are the same file: ${name}`,
        'name two: the sound is one, its text another',
      );
    const old = lookAt(path, name);
    if (old && !old.isFile())
      throw usageError(
        `--subtitles: ${name} is no regular file`,
        'they appear when they are whole: name a file',
      );
    const options = { name, path, old, clobber: clobber.value, writer: host, elsewhere: ELSEWHERE };
    return { style, options };
  } catch (error) {
    throw unwritable(name, error, ELSEWHERE);
  }
}

/** Where a file of this name is made, whatever links lead there. */
function placeOf(path: string): string {
  try {
    const file = behindLinks(path);
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    // Whoever opens it tells why it cannot be.
    return path;
  }
}
