import { lstatSync, statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { type Document, isAlias, parseDocument, type YAMLMap } from 'yaml';
import { codeOf, ExitCode, TtsError, usageError } from '../error.ts';
import { replaceFile } from '../files/atomic-file.ts';
import { makeFolder } from '../files/folders.ts';
import { isDeadOrUnwritten, Lease } from '../files/lease.ts';
import { besideFile } from '../files/part-name.ts';
import type { Host, RunContext } from '../host.ts';
import { decodeAll } from '../reading/decode.ts';
import { userFolder } from './config-places.ts';
import { baseUrl } from './kind.ts';
import type { ConfigFile } from './resolve.ts';

/** @throws TtsError (usage) without a place for keys */
export function userFile(
  files: readonly ConfigFile[],
  host: Pick<Host, 'env' | 'home' | 'platform'>,
): string {
  const found = files.find(({ place }) => place === 'user');
  if (found && canHoldKeys(found.path)) return found.path;
  if (found) throw noPlaceIn(found.path);
  const folder = userFolder(host);
  const path = folder && join(folder, 'config.json');
  if (path && isThere(path) && !canHoldKeys(path)) throw noPlaceIn(path);
  if (path) return path;
  throw usageError('there is no folder for your own config: HOME names none', 'set HOME or XDG_CONFIG_HOME');
}

function noPlaceIn(path: string): TtsError {
  return usageError(`no key can be kept in ${path}`, 'name a config file of its own: --config');
}

/** True for a broken link and for an unreadable file, too. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Keys cannot be stored in a pipe, which is gone after reading, or in a package.json, which has another structure. */
function canHoldKeys(path: string): boolean {
  try {
    return statSync(path).isFile() && basename(path) !== 'package.json';
  } catch {
    return false;
  }
}

/**
 * Sets or removes one key. Other settings and YAML comments stay.
 * @param key `undefined` removes the stored key
 * @throws TtsError (output); the file is unchanged then
 */
export async function storeKey(
  file: string,
  { base, key }: { readonly base: URL; readonly key: string | undefined },
  { host, signal }: Pick<RunContext, 'host' | 'signal'>,
): Promise<void> {
  try {
    const path = await realpath(file).catch(() => file);
    const edit = extname(path) === '.json' ? inJson : inYaml;
    makeFolder(dirname(path));
    // Two logins at once must not lose a key.
    using _lease = await Lease.wait(besideFile(path, 'lock'), host, { signal, isOver: isDeadOrUnwritten });
    const text = decodeAll(await readFile(path).catch(unlessMissing), path);
    await replaceFile(path, edit(text, base, key), 0o600);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === '') throw cause;
    throw new TtsError(`cannot write ${file} (${code})`, {
      exitCode: ExitCode.output,
      hint: 'check its permissions, or keep the key in TTS_API_KEY',
      cause,
    });
  }
}

function unlessMissing(error: NodeJS.ErrnoException): Uint8Array {
  if (error.code === 'ENOENT') return new Uint8Array();
  throw error;
}

function inJson(text: string, base: URL, key: string | undefined): string {
  const { keys = {}, ...others } = text.trim() === '' ? {} : (JSON.parse(text) ?? {});
  const kept = Object.entries(keys).filter(([url]) => !isSame(url, base));
  const stored = Object.fromEntries(key === undefined ? kept : [...kept, [base.href, key]]);
  const config = Object.keys(stored).length === 0 ? others : { ...others, keys: stored };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function inYaml(text: string, base: URL, key: string | undefined): string {
  const document = parseDocument(text);
  if (document.toJS() === null) document.contents = emptyMapping(document);
  const { keys = {} } = document.toJS();
  // The mapping that an alias names must not change.
  if (isAlias(document.get('keys', true))) document.set('keys', document.createNode(keys));
  for (const url of Object.keys(keys)) if (isSame(url, base)) document.deleteIn(['keys', url]);
  if (key !== undefined) document.setIn(['keys', base.href], key);
  else if (Object.keys(keys).every((url) => isSame(url, base))) document.delete('keys');
  return document.toString();
}

/** Makes a mapping that keeps the comments of an empty document. */
function emptyMapping(document: Document.Parsed): YAMLMap.Parsed {
  const mapping = document.createNode({}) as YAMLMap.Parsed;
  mapping.commentBefore = document.contents?.comment ?? null;
  return mapping;
}

function isSame(url: string, base: URL): boolean {
  return baseUrl.text(url)?.href === base.href;
}
