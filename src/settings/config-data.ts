import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { ExplorerSync } from 'cosmiconfig/dist/ExplorerSync.js';
import { loadJson, loadYaml } from 'cosmiconfig/dist/loaders.js';
import { TtsError, usageError } from '../error.ts';
import { decode, decodeAll } from '../text/decode.ts';
import { openFile, readWhole } from '../text/input.ts';
import { isObject } from './special-kinds.ts';

type Loader = (path: string, content: string) => unknown;

const json = dataOnly(loadJson);
const yaml = dataOnly(loadYaml);

/** In bytes, or UTF-16 units. It may be somebody else's file, and a parser takes many times as much memory. */
const LONGEST_CONFIG = 1024 * 1024;

/**
 * The part of cosmiconfig that reads one file. Its front door would first run a `.config/config.js` of the working
 * folder (its "meta config"), and knows loaders for JavaScript; behind it there is data only.
 */
const explorer = new ExplorerSync({
  moduleName: 'tts',
  searchPlaces: [],
  loaders: {
    '.json': fromFile(json),
    '.yaml': fromFile(yaml),
    '.yml': fromFile(yaml),
    noExt: fromFile(yaml),
  },
  ignoreEmptySearchPlaces: true,
  cache: false,
  transform: (result: unknown) => result,
  metaConfigFilePath: null,
  mergeImportArrays: false,
  mergeSearchPlaces: false,
  searchStrategy: 'none',
});

/**
 * The data in a file, `undefined` or `null` where there is none.
 * @throws TtsError (usage) naming the file, and the line where that is known
 */
export function readData(path: string): unknown {
  return load(path, () => {
    if (statSync(path).size > LONGEST_CONFIG) throw tooLong(path);
    return explorer.load(path)?.config;
  });
}

/** The same of a pipe or a device, for which nothing else waits: it may have nobody yet who writes, or no end. */
export async function readPipedData(path: string, signal: AbortSignal): Promise<unknown> {
  const text = decode(openFile(path, '', signal), path);
  const content = await readWhole(text, LONGEST_CONFIG, () => tooLong(path));
  const loader = extname(path) === '.json' ? json : yaml;
  return load(path, () => (content.trim() === '' ? undefined : loader(path, content)));
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

/** What is wrong, in own words and without the cause: a parser quotes the file, and there may be a key in it. */
function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  if (code !== undefined) return code;
  const language = message.startsWith('JSON') ? 'JSON' : 'YAML';
  const line = /(?:^> |\(|\(line )(\d+)(?: \||:\d+\)$| column)/m.exec(message)?.[1];
  return line === undefined ? `no valid ${language}` : `no valid ${language} in line ${line}`;
}

/** cosmiconfig's `$import` would let a project's file pass another file's settings off as its own. */
function dataOnly(loader: Loader): Loader {
  return (path, content) => {
    const data = loader(path, content);
    if (isObject(data) && Object.hasOwn(data, '$import'))
      throw usageError(`$import in ${path} is not supported`, 'write the settings into the file itself');
    return data;
  };
}

/** cosmiconfig puts U+FFFD where something is no UTF-8. */
function fromFile(loader: Loader): Loader {
  return (path, content) => {
    const text = content.includes('\uFFFD') ? decodeAll(readFileSync(path), path) : content;
    return loader(path, text.replace(/^\uFEFF/, ''));
  };
}

function tooLong(path: string): TtsError {
  return usageError(
    `${path} is longer than ${LONGEST_CONFIG} bytes`,
    'a config file holds settings alone: correct it, or name another with --config',
  );
}
