import type { Command } from 'commander';
import { clearCache, type Found, measureCache } from '../cache/inspect.ts';
import { ExitCode, usageError } from '../error.ts';
import { noSegmentFolder, segmentFolder } from '../files/folders.ts';
import { visible } from '../printable.ts';
import { nearestName } from '../settings/nearest.ts';
import { howToSpeak, readSubcommand, subcommand } from './command-line.ts';
import type { Context } from './context.ts';
import { printLine } from './terminal/print.ts';

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

export async function run(context: Context): Promise<number> {
  const { host, notices } = context;
  const line = readSubcommand(cacheCommand(), context, { most: Number.POSITIVE_INFINITY });
  if (!line) return ExitCode.ok;
  const clear = isClear(line.words);
  const folder = segmentFolder(host);
  if (folder === undefined) throw noSegmentFolder();
  const found = await (clear ? clearCache(folder) : measureCache(folder));
  printLine(host.stdout, notices.json ? inJson(folder, found, clear) : inWords(folder, found, clear));
  return ExitCode.ok;
}

export function cacheCommand(): Command {
  return subcommand(
    'cache',
    'Segments that were paid for once: where they lie, and how many there are (TTS_CACHE_DIR names another folder). clear: remove them.',
    ['json'],
  ).argument('[clear]');
}

function isClear(words: readonly string[]): boolean {
  if (words.length === 0) return false;
  const [first = '', second] = words;
  if (first === 'clear' && second === undefined) return true;
  const wrong = first === 'clear' ? second : first;
  const near = nearestName(String(wrong), ['clear']);
  throw usageError(
    `tts cache does not know "${wrong}"`,
    `${near ? `did you mean ${near}?` : 'there is tts cache, and tts cache clear;'} ${howToSpeak('tts cache')}`,
  );
}

function inJson(folder: string, { entries, bytes }: Found, cleared: boolean): string {
  return JSON.stringify(cleared ? { folder, removed: entries, freed: bytes } : { folder, bytes, entries });
}

function inWords(folder: string, { entries, bytes }: Found, cleared: boolean): string {
  const counted = `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
  if (cleared) return `removed ${counted}, ${sizeInWords(bytes)} freed, from ${visible(folder)}`;
  return [`folder   ${visible(folder)}`, `size     ${sizeInWords(bytes)}`, `entries  ${entries}`].join('\n');
}

function sizeInWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  // 1023.95 would be rounded to 1024.0.
  const power = UNITS.findIndex((_, index) => bytes < 1023.95 * 1024 ** (index + 1)) + 1 || UNITS.length;
  return `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power - 1]}`;
}
