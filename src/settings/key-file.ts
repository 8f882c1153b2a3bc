import { readFileSync, statSync } from 'node:fs';
import { TtsError, usageError } from '../error.ts';
import type { Host } from '../host.ts';
import { decode, decodeAll } from '../reading/decode.ts';
import { openFile, readWhole } from '../reading/source.ts';
import { namedFile } from './named-file.ts';
import type { Setting } from './resolve.ts';

export interface KeyContext extends Pick<Host, 'cwd' | 'home'> {
  readonly signal: AbortSignal;
}

export const MOST_READ = 65_536;

/** @throws TtsError (usage) */
export async function readKeyFile(named: Setting<string>, context: KeyContext): Promise<string> {
  const path = namedFile(named, context, 'TTS_API_KEY_FILE');
  try {
    const stats = statSync(path);
    const isPlain = !stats.isFIFO() && !stats.isCharacterDevice();
    if (stats.size > MOST_READ) throw tooLong(path);
    return isPlain ? decodeAll(readFileSync(path), path) : await readPiped(path, context.signal);
  } catch (cause) {
    if (cause instanceof TtsError) throw cause;
    throw usageError(
      `cannot read the key file ${path} (${named.origin.name})`,
      'it has to be a file that holds the key alone',
      cause,
    );
  }
}

function tooLong(path: string): TtsError {
  return usageError(`what comes from ${path} is too long to be a key`, 'it has to hold the key alone');
}

function readPiped(path: string, signal: AbortSignal): Promise<string> {
  return readWhole(decode(openFile(path, '', signal), path), MOST_READ, () => tooLong(path));
}
