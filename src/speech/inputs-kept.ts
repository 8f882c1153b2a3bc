import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { usageError } from '../error.ts';
import { isDescriptor } from '../files/descriptor.ts';
import { behindLinks, pathOf } from '../files/paths.ts';
import type { Host } from '../host.ts';
import { keyFilesIn } from '../settings/key.ts';
import type { LoadedSettings } from '../settings/load.ts';
import { namedFile, singleNames } from '../settings/named-file.ts';
import type { Settings } from '../settings/resolve.ts';
import { isStdout } from '../sink/open.ts';
import type { OutputPlan } from './outputs.ts';

/**
 * Refuses to write a file that the run reads, or that another output goes to.
 * @throws TtsError (usage)
 */
export function assertInputsKept(
  files: readonly string[],
  { settings, files: configs }: LoadedSettings,
  output: OutputPlan,
  host: Pick<Host, 'cwd' | 'home'>,
): void {
  const written = writtenBy(output, settings);
  if (written.length === 0) return;
  const { lexicon, cover } = settings;
  const read = files.map((name) => ({ option: '--file', path: name === '-' ? '/dev/stdin' : name }));
  read.push(...keyFilesIn(settings, host));
  read.push(...configs.map(({ path }) => ({ option: 'the config', path })));
  if (cover) read.push({ option: '--cover', path: cover.value });
  for (const each of lexicon ? singleNames(lexicon) : [])
    read.push({ option: '--lexicon', path: namedFile(each, host, '--lexicon') });
  const taken = read.map(({ option, path }) => ({ option, file: fileAt(path, host), loss: LOST_INPUT }));
  for (const { option, name, path } of written) {
    const file = fileAt(path, host, true);
    const other = file && taken.find((each) => each.file === file);
    if (other)
      throw usageError(
        `${option} and ${other.option} are the same file: ${name}`,
        `choose another name for ${option}: ${other.loss}`,
      );
    taken.push({ option, file, loss: LOST_OUTPUT });
  }
}

const LOST_INPUT = 'what is in that file would be lost';
const LOST_OUTPUT = 'one would replace the other';

interface Written {
  readonly option: string;
  readonly name: string;
  readonly path: string;
}

function writtenBy(
  { name = '-', isPlayed }: OutputPlan,
  {
    subtitles,
    events,
    callbackUrl,
    dryRun,
  }: Pick<Settings, 'subtitles' | 'events' | 'callbackUrl' | 'dryRun'>,
): Written[] {
  const files = [
    { option: '--output', name },
    { option: '--subtitles', name: subtitles?.value ?? '-' },
    { option: '--events', name: events && !isDescriptor(events.value) ? events.value : '-' },
  ]
    .filter(({ name }) => !isStdout(name))
    .map(({ option, name }) => ({ option, name, path: name }));
  const isElsewhere = !isStdout(name) || isPlayed || callbackUrl || dryRun.value;
  return isElsewhere
    ? files
    : [...files, { option: 'stdout', name: 'where ">" points', path: '/dev/stdout' }];
}

/** @returns the same for all names of a file, and nothing for devices and pipes, which may be read and written at once */
function fileAt(name: string, { cwd }: Pick<Host, 'cwd'>, mayBeNew = false): string | undefined {
  try {
    const path = pathOf(cwd, name);
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats?.isFile()) return `${stats.dev}:${stats.ino}`;
    if (stats || !mayBeNew) return undefined;
    const target = behindLinks(path);
    return join(realpathSync(dirname(target)), basename(target));
  } catch {
    return undefined;
  }
}
