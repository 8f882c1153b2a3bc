import { type BigIntStats, statSync } from 'node:fs';
import { usageError } from '../error.ts';
import { isDescriptor } from '../files/descriptor.ts';
import { pathOf } from '../files/paths.ts';
import type { Host } from '../host.ts';
import { keyFilesIn } from '../settings/key.ts';
import type { LoadedSettings } from '../settings/load.ts';
import { namedFile, singleNames } from '../settings/named-file.ts';
import type { Settings } from '../settings/resolve.ts';
import { isStdout } from '../sink/open.ts';
import type { OutputPlan } from './outputs.ts';

/**
 * Refuses to write a file that the run reads.
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
  const { lexicon, subtitles, cover } = settings;
  const read = files.map((name) => ({ option: '--file', path: name === '-' ? '/dev/stdin' : name }));
  read.push(...keyFilesIn(settings, host));
  read.push(...configs.map(({ path }) => ({ option: 'the config', path })));
  // Two outputs must differ, too.
  if (subtitles) read.push({ option: '--subtitles', path: subtitles.value });
  if (cover) read.push({ option: '--cover', path: cover.value });
  for (const each of lexicon ? singleNames(lexicon) : [])
    read.push({ option: '--lexicon', path: namedFile(each, host, '--lexicon') });
  const inputs = read.map(({ option, path }) => ({ option, file: fileAt(path, host) }));
  for (const { option, name, path } of written) {
    const file = fileAt(path, host);
    const input =
      file && inputs.find((input) => input.option !== option && input.file && isSame(file, input.file));
    if (!input) continue;
    throw usageError(
      `${option} and ${input.option} are the same file: ${name}`,
      `choose another name for ${option}: what is in that file would be lost`,
    );
  }
}

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

/** Devices and pipes may be read and written at once. */
function fileAt(path: string, { cwd }: Pick<Host, 'cwd'>): BigIntStats | undefined {
  try {
    const stats = statSync(pathOf(cwd, path), { bigint: true, throwIfNoEntry: false });
    return stats?.isFile() ? stats : undefined;
  } catch {
    return undefined;
  }
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}
