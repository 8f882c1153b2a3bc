/** Finds, checks and stores API keys, and decides which addresses may get them. */
import { statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { isNearby } from '../kit/address.ts';
import { TtsError, usageError } from '../kit/error.ts';
import { besideFile, replaceFile } from '../kit/file.ts';
import { fromHome, makeFolder, unwritable } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { isDeadOrUnwritten, Lease } from '../kit/lock.ts';
import { decodeAll } from '../read/decode.ts';
import { readSmall } from '../read/source.ts';
import { keysPlace } from './config-places.ts';
import { readBaseUrl } from './kinds.ts';
import { namedFile, type Origin, outranks, type Setting, type Settings } from './load.ts';

interface KeyContext extends Pick<Host, 'cwd' | 'home'> {
  readonly signal: AbortSignal;
}

/** Bytes of a key file, or UTF-16 units from a pipe. */
export const MOST_READ = 65_536;

/** @throws TtsError (usage) */
export async function readKeyFile(named: Setting<string>, context: KeyContext): Promise<string> {
  const path = namedFile(named, context, 'TTS_API_KEY_FILE');
  try {
    return await readSmall(path, MOST_READ, () => tooLong(path), context.signal);
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

/** Characters. Web servers accept 8 to 16 KiB of headers. */
const LONGEST_KEY = 8192;

export interface Key extends Setting<string> {
  readonly isForBase: boolean;
}

/**
 * Finds the strongest of `apiKey`, `apiKeyFile` and `keys`. Within one place, the key stored for the base URL wins.
 * @throws TtsError (usage)
 */
export async function findKey(settings: Settings, context: KeyContext): Promise<Key | undefined> {
  const given = givenKey(settings);
  if (!given) return undefined;
  const { setting, isFile, isForBase } = given;
  const value = isFile ? await readKeyFile(setting, context) : setting.value;
  return { ...checkedKey({ value, origin: setting.origin }), isForBase };
}

/** Returns where the key is set, without reading a key file. */
export function keyOrigin(settings: KeySettings): Origin | undefined {
  return givenKey(settings)?.setting.origin;
}

type KeySettings = Pick<Settings, 'apiKey' | 'apiKeyFile' | 'keys' | 'baseUrl'>;

interface GivenKey extends Pick<Key, 'isForBase'> {
  readonly setting: Setting<string>;
  readonly isFile: boolean;
}

function givenKey({ apiKey, apiKeyFile, keys, baseUrl }: KeySettings): GivenKey | undefined {
  const value = baseUrl && keys?.value.get(baseUrl.value.href);
  const stored = keys && value !== undefined ? { value, origin: keys.origin } : undefined;
  const given = [
    { setting: stored, isFile: false, isForBase: true },
    { setting: apiKey, isFile: false, isForBase: false },
    { setting: apiKeyFile, isFile: true, isForBase: false },
  ].filter((each): each is GivenKey => each.setting !== undefined);
  return given.find(({ setting }) => !given.some((other) => outranks(other.setting.origin, setting.origin)));
}

/** Yields all key files that are named, whether this run reads them or not. */
export function* keyFilesIn(
  { apiKeyFile, engineKeyFile, engines }: Pick<Settings, 'apiKeyFile' | 'engineKeyFile' | 'engines'>,
  { cwd, home }: Pick<Host, 'cwd' | 'home'>,
): Generator<{ readonly option: string; readonly path: string }> {
  const pathIn = (name: string, folder = '') => {
    const path = fromHome(name, home);
    // `resolve` would drop `link/..`, which the system resolves through the link.
    return isAbsolute(path) ? path : `${resolve(cwd, folder)}${sep}${path}`;
  };
  for (const file of [apiKeyFile, engineKeyFile])
    if (file) yield { option: file.origin.name, path: pathIn(file.value, file.origin.folder) };
  for (const [name, { keyFile }] of engines?.value ?? [])
    if (keyFile !== undefined) yield { option: `engines.${name}.keyFile`, path: pathIn(keyFile) };
}

/** @throws TtsError (usage) */
export function checkedKey(key: Setting<string>): Setting<string> {
  const value = key.value.trim();
  if (value.length > LONGEST_KEY)
    throw usageError(
      `the key from ${key.origin.name} is too long: it has ${value.length} characters`,
      `no service takes more than ${LONGEST_KEY}; is it the right file?`,
    );
  if (value === '')
    throw usageError(`there is no key in ${key.origin.name}`, 'store it there, or name another place');
  if (/^[\x21-\x7e]+$/.test(value)) return { ...key, value };
  throw usageError(
    `${key.origin.name} holds no valid API key`,
    'a key has no spaces, line breaks or letters beyond ASCII',
  );
}

/**
 * Asserts that a key is sent only to an address that its owner named, over a connection that others cannot overhear.
 * @throws TtsError (usage) with the way to allow it
 */
export function assertKeyMayGo(key: Key, base: Setting<URL>, settings: Settings): void {
  if (!key.isForBase && !mayLearn(key.origin, base, settings))
    throw usageError(
      `the key from ${key.origin.name} is not sent to ${base.value.href}, which ${base.origin.name} names`,
      `if you trust that address, put "trustedBaseUrls": ["${base.value.href}"] into your own config, or use --base-url ${base.value.href}`,
    );
  if (canBeOverheard(base.value, settings.allowInsecureHttp))
    throw usageError(
      `the key is not sent over plain http to ${base.value.host}: others could read it on the way`,
      'use https://, or --allow-insecure-http if you mean it',
    );
}

/**
 * Refuses a project's proxy that would see the key, and an unencrypted connection to a proxy.
 * @throws TtsError (usage)
 */
export function assertProxyMaySee(
  key: Key,
  { base, proxy }: { readonly base: URL; readonly proxy: { readonly url: URL; readonly origin: Origin } },
  { allowInsecureHttp }: Pick<Settings, 'allowInsecureHttp'>,
): void {
  if (base.protocol === 'https:') return;
  const { url, origin } = proxy;
  if (origin.place === 'project' && key.origin.place !== 'project')
    throw usageError(
      `the key from ${key.origin.name} is not sent through the proxy that ${origin.name} names`,
      'name the proxy yourself, with --proxy or HTTP_PROXY',
    );
  if (canBeOverheard(url, allowInsecureHttp))
    throw usageError(
      `the key is not sent over plain http through the proxy ${url.host}: others could read it on the way`,
      `put ${base.hostname} into NO_PROXY, use https://, or --allow-insecure-http if you mean it`,
    );
}

export function canBeOverheard({ protocol, hostname }: URL, allowed: Settings['allowInsecureHttp']): boolean {
  return protocol !== 'https:' && !allowed?.value && !isNearby(hostname);
}

function mayLearn(key: Origin, base: Setting<URL>, settings: Settings): boolean {
  return key.place === 'project' || !isFromUntrustedProject(base, settings);
}

/** True for a base URL of an untrusted project. Loopback addresses count, too: another user may listen there. */
export function isFromUntrustedProject(base: Setting<URL>, { trustedBaseUrls }: Settings): boolean {
  if (base.origin.place !== 'project') return false;
  return !trustedBaseUrls?.value.some((trusted) => covers(trusted, base.value));
}

/** Path parts that some servers take for `..`, though `URL` does not. */
const LEADS_UP = /%2f|%5c|%2e|\.\.;/i;

function covers(trusted: URL, address: URL): boolean {
  const folder = trusted.pathname.replace(/\/*$/, '/');
  if (LEADS_UP.test(address.pathname)) return false;
  return trusted.origin === address.origin && `${address.pathname}/`.startsWith(folder);
}

/**
 * Returns the path of the file of stored keys, which is separate so that users can share their config files.
 * @throws TtsError (usage) if there is no place for it
 */
export function keysFile(host: Pick<Host, 'env' | 'home' | 'platform'>): string {
  const path = keysPlace(host);
  if (path === undefined)
    throw usageError('there is no folder for your keys: HOME names none', 'set HOME or XDG_CONFIG_HOME');
  if (!canHoldKeys(path)) throw usageError(`no key can be kept in ${path}`, 'remove it: it is not a file');
  return path;
}

/** False if something other than a file is at the path. A path that cannot be examined fails later, when it is written. */
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
    // Without the lock, two logins at once could lose a key.
    using _lease = await Lease.wait(besideFile(path, 'lock'), host, { signal, isOver: isDeadOrUnwritten });
    const text = decodeAll(await readFile(path).catch(unlessMissing), path);
    const keys = text.trim() === '' ? {} : (JSON.parse(text) ?? {});
    const others = Object.entries(keys).filter(([url]) => readBaseUrl(url)?.href !== base.href);
    const stored = Object.fromEntries(key === undefined ? others : [...others, [base.href, key]]);
    await replaceFile(path, `${JSON.stringify(stored, undefined, 2)}\n`, 0o600);
  } catch (cause) {
    throw unwritable(file, cause, 'keep the key in TTS_API_KEY');
  }
}

function unlessMissing(error: NodeJS.ErrnoException): Uint8Array {
  if (error.code === 'ENOENT') return new Uint8Array();
  throw error;
}
