import { statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, ExitCode, TtsError, usageError } from '../error.ts';
import { replaceFile } from '../files/atomic-file.ts';
import { makeFolder } from '../files/folders.ts';
import { isDeadOrUnwritten, Lease } from '../files/lease.ts';
import { besideFile } from '../files/part-name.ts';
import type { Host, RunContext } from '../host.ts';
import { decodeAll } from '../reading/decode.ts';
import { keysPlace } from './config-places.ts';
import { baseUrl } from './kind.ts';

/**
 * The file of stored keys. People share their config files, and never this one.
 * @throws TtsError (usage) without a place for it
 */
export function keysFile(host: Pick<Host, 'env' | 'home' | 'platform'>): string {
  const path = keysPlace(host);
  if (path === undefined)
    throw usageError('there is no folder for your keys: HOME names none', 'set HOME or XDG_CONFIG_HOME');
  if (!canHoldKeys(path)) throw usageError(`no key can be kept in ${path}`, 'remove it: it is not a file');
  return path;
}

/** What cannot be looked at fails when it is written. */
function canHoldKeys(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    return true;
  }
}

/**
 * Sets or removes one key.
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
    makeFolder(dirname(path));
    // Two logins at once must not lose a key.
    using _lease = await Lease.wait(besideFile(path, 'lock'), host, { signal, isOver: isDeadOrUnwritten });
    const text = decodeAll(await readFile(path).catch(unlessMissing), path);
    const keys = text.trim() === '' ? {} : (JSON.parse(text) ?? {});
    const others = Object.entries(keys).filter(([url]) => baseUrl.text(url)?.href !== base.href);
    const stored = Object.fromEntries(key === undefined ? others : [...others, [base.href, key]]);
    await replaceFile(path, `${JSON.stringify(stored, undefined, 2)}\n`, 0o600);
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
