import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { defaultLoadersSync } from 'cosmiconfig';
import { TtsError, usageError } from '../error.ts';
import { decode, decodeAll } from '../reading/decode.ts';
import { openFile, readWhole } from '../reading/source.ts';
import { isObject } from './special-kinds.ts';

/** Bytes or UTF-16 units. A parser needs many times the size of the file. */
const LONGEST_CONFIG = 1024 * 1024;

/**
 * Of a package.json, only `tts` counts.
 * @returns `undefined` or `null` for a file without settings
 * @throws TtsError (usage) with the file, and the line if known
 */
export function readData(path: string): unknown {
  return load(path, () => {
    if (statSync(path).size > LONGEST_CONFIG) throw tooLong(path);
    const data = parse(path, decodeAll(readFileSync(path), path));
    return basename(path) === 'package.json' && isObject(data)
      ? (data as { readonly tts?: unknown }).tts
      : data;
  });
}

/** A pipe may have no writer or no end, so that the signal must end the wait. */
export async function readPipedData(path: string, signal: AbortSignal): Promise<unknown> {
  const text = decode(openFile(path, '', signal), path);
  const content = await readWhole(text, LONGEST_CONFIG, () => tooLong(path));
  return load(path, () => parse(path, content));
}

function load(path: string, read: () => unknown): unknown {
  if (!['', '.json', '.yaml', '.yml'].includes(extname(path)))
    throw usageError(
      `${path} is not read`,
      'settings are data: a file that ends in .json, .yaml or .yml, or has no ending',
    );
  try {
    return read();
  } catch (cause) {
    if (cause instanceof TtsError) throw cause;
    throw usageError(
      `cannot read the settings in ${path}: ${reasonOf(cause as NodeJS.ErrnoException)}`,
      'fix the file, or name another with --config',
    );
  }
}

/** The parser's message quotes the file, which may hold a key. It is coloured wherever FORCE_COLOR or CI is set. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code !== undefined) return code;
  const language = message.startsWith('JSON') ? 'JSON' : 'YAML';
  const line = /(?:^> |\(|\(line )(\d+)(?: \||:\d+\)$| column)/m.exec(stripVTControlCharacters(message))?.[1];
  return line === undefined ? `no valid ${language}` : `no valid ${language} in line ${line}`;
}

/** cosmiconfig's own search would run a `.config/config.js` of the working folder. */
function parse(path: string, content: string): unknown {
  if (content.trim() === '') return undefined;
  const data = defaultLoadersSync[extname(path) === '.json' ? '.json' : '.yaml'](path, content);
  if (isObject(data) && Object.hasOwn(data, '$import'))
    throw usageError(`$import in ${path} is not supported`, 'write the settings into the file itself');
  return data;
}

function tooLong(path: string): TtsError {
  return usageError(
    `${path} is longer than ${LONGEST_CONFIG} bytes`,
    'a config file holds settings alone: correct it, or name another with --config',
  );
}
