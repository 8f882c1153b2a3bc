import { isAbsolute, resolve, sep } from 'node:path';
import { isNearby } from '../address.ts';
import { usageError } from '../error.ts';
import { fromHome } from '../files/paths.ts';
import type { Host } from '../host.ts';
import type { KeyContext } from './key-file.ts';
import { type Origin, outranks, type Setting, type Settings } from './resolve.ts';

/** Web servers accept 8 to 16 KiB of headers. */
const LONGEST_KEY = 8192;

export interface Key extends Setting<string> {
  readonly isForBase: boolean;
}

/**
 * Finds the strongest of `apiKey`, `apiKeyFile` and `keys`. Of one place, the key stored for the base URL comes first.
 * @throws TtsError (usage)
 */
export async function findKey(settings: Settings, context: KeyContext): Promise<Key | undefined> {
  const { given, isFile, isForBase } = givenKey(settings);
  if (!given) return undefined;
  const value = isFile ? await (await import('./key-file.ts')).readKeyFile(given, context) : given.value;
  return { ...checkedKey({ value, origin: given.origin }), isForBase };
}

/** Tells where the key is set, and reads no file for that. */
export function keyOrigin(settings: KeySettings): Origin | undefined {
  return givenKey(settings).given?.origin;
}

type KeySettings = Pick<Settings, 'apiKey' | 'apiKeyFile' | 'keys' | 'baseUrl'>;

function givenKey(
  settings: KeySettings,
): Pick<Key, 'isForBase'> & { given?: Setting<string>; isFile: boolean } {
  const stored = storedKey(settings);
  const file = keyFileOf(settings);
  const general = file ?? settings.apiKey;
  if (stored && (!general || !outranks(general.origin, stored.origin)))
    return { given: stored, isFile: false, isForBase: true };
  return { ...(general && { given: general }), isFile: file !== undefined, isForBase: false };
}

function keyFileOf({
  apiKey,
  apiKeyFile,
}: Pick<Settings, 'apiKey' | 'apiKeyFile'>): Setting<string> | undefined {
  return apiKeyFile && (!apiKey || outranks(apiKeyFile.origin, apiKey.origin)) ? apiKeyFile : undefined;
}

/** All files of keys that are named, whether this run reads them or not. */
export function* keyFilesIn(
  { apiKeyFile, engineKeyFile, engines }: Pick<Settings, 'apiKeyFile' | 'engineKeyFile' | 'engines'>,
  { cwd, home }: Pick<Host, 'cwd' | 'home'>,
): Generator<{ readonly option: string; readonly path: string }> {
  const pathIn = (name: string, folder = '') => {
    const path = fromHome(name, home);
    // `resolve` would drop `link/..`, which the system follows.
    return isAbsolute(path) ? path : `${resolve(cwd, folder)}${sep}${path}`;
  };
  for (const file of [apiKeyFile, engineKeyFile])
    if (file) yield { option: file.origin.name, path: pathIn(file.value, file.origin.folder) };
  for (const [name, { keyFile }] of engines?.value ?? [])
    if (keyFile !== undefined) yield { option: `engines.${name}.keyFile`, path: pathIn(keyFile) };
}

function storedKey({ keys, baseUrl }: KeySettings): Setting<string> | undefined {
  const value = baseUrl && keys?.value.get(baseUrl.value.href);
  return keys && value !== undefined ? { value, origin: keys.origin } : undefined;
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
 * A key goes only to an address that its owner named and that others cannot overhear.
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
 * Refuses a project's proxy that would see the key, and an overheard way to a proxy.
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

/** A loopback address is not trusted either: another user may listen there. */
export function isFromUntrustedProject(base: Setting<URL>, { trustedBaseUrls }: Settings): boolean {
  if (base.origin.place !== 'project') return false;
  return !trustedBaseUrls?.value.some((trusted) => covers(trusted, base.value));
}

/** Some servers take these for a step to the parent folder; URL does not. */
const LEADS_UP = /%2f|%5c|%2e|\.\.;/i;

function covers(trusted: URL, address: URL): boolean {
  const folder = trusted.pathname.replace(/\/*$/, '/');
  if (LEADS_UP.test(address.pathname)) return false;
  return trusted.origin === address.origin && `${address.pathname}/`.startsWith(folder);
}
