import { isNearby } from '../address.ts';
import { usageError } from '../error.ts';
import type { KeyContext } from './key-file.ts';
import { type Origin, outranks, type Setting, type Settings } from './resolve.ts';

/** In characters. Web servers give all headers of a request 8 to 16 KiB. */
const LONGEST_KEY = 8192;

/** A key, and whether it was stored for the very service that is spoken to. */
export interface Key extends Setting<string> {
  readonly isForBase: boolean;
}

/**
 * The key, from whichever of `apiKey`, `apiKeyFile` and `keys` was said in the strongest place; within one place a key
 * for the very base URL goes before one for any.
 * @throws TtsError (usage) when its file cannot be read, or it holds what no header can carry
 */
export async function findKey(settings: Settings, context: KeyContext): Promise<Key | undefined> {
  const { said, isFile, isForBase } = saidKey(settings);
  if (!said) return undefined;
  const value = isFile ? await (await import('./key-file.ts')).readKeyFile(said, context) : said.value;
  return { ...checkedKey({ value, origin: said.origin }), isForBase };
}

/** Where the key comes from, if there is one; no file is read. */
export function keyOrigin(settings: KeySettings): Origin | undefined {
  return saidKey(settings).said?.origin;
}

type KeySettings = Pick<Settings, 'apiKey' | 'apiKeyFile' | 'keys' | 'baseUrl'>;

/** The key, or the name of its file. */
function saidKey(
  settings: KeySettings,
): Pick<Key, 'isForBase'> & { said?: Setting<string>; isFile: boolean } {
  const stored = storedKey(settings);
  const file = keyFileOf(settings);
  const general = file ?? settings.apiKey;
  if (stored && (!general || !outranks(general.origin, stored.origin)))
    return { said: stored, isFile: false, isForBase: true };
  return { ...(general && { said: general }), isFile: file !== undefined, isForBase: false };
}

/** The file of the key, unless the key itself was said in a stronger place. */
export function keyFileOf({
  apiKey,
  apiKeyFile,
}: Pick<Settings, 'apiKey' | 'apiKeyFile'>): Setting<string> | undefined {
  return apiKeyFile && (!apiKey || outranks(apiKeyFile.origin, apiKey.origin)) ? apiKeyFile : undefined;
}

/** The key that was stored for the base URL. */
function storedKey({ keys, baseUrl }: KeySettings): Setting<string> | undefined {
  const value = baseUrl && keys?.value.get(baseUrl.value.href);
  return keys && value !== undefined ? { value, origin: keys.origin } : undefined;
}

/** @throws TtsError (usage) when it is nothing that a header can carry */
export function checkedKey(key: Setting<string>): Setting<string> {
  const value = key.value.trim();
  if (value.length > LONGEST_KEY)
    throw usageError(
      `the key from ${key.origin.name} is not one: it has ${value.length} characters`,
      `no service takes more than ${LONGEST_KEY}; is it the right file?`,
    );
  if (value === '')
    throw usageError(`there is no key in ${key.origin.name}`, 'store it there, or name another place');
  if (/^[\x21-\x7e]+$/.test(value)) return { ...key, value };
  throw usageError(
    `the key from ${key.origin.name} is not one`,
    'a key has no spaces, line breaks or letters beyond ASCII',
  );
}

/**
 * Refuses to send a key to an address that its owner did not name, or where others could read it on the way. Options, the
 * environment and the user's own config are the owner's; a project's file may come from anybody.
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
 * Refuses to send a key through a proxy that would see it, where somebody else named that proxy, or where others could
 * read it on the way there.
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

/** True if others could read a key on its way there, and the user has not allowed that. */
export function canBeOverheard({ protocol, hostname }: URL, allowed: Settings['allowInsecureHttp']): boolean {
  return protocol !== 'https:' && !allowed?.value && !isNearby(hostname);
}

function mayLearn(key: Origin, base: Setting<URL>, settings: Settings): boolean {
  return key.place === 'project' || !isFromUntrustedProject(base, settings);
}

/**
 * True for a base URL that a project names and the user has not said to trust. Loopback is no exception: another user of
 * the machine may listen there.
 */
export function isFromUntrustedProject(base: Setting<URL>, { trustedBaseUrls }: Settings): boolean {
  if (base.origin.place !== 'project') return false;
  return !trustedBaseUrls?.value.some((trusted) => covers(trusted, base.value));
}

/** What is no step up for a URL, and is one for some servers. */
const LEADS_UP = /%2f|%5c|%2e|\.\.;/i;

/** Whether an address is the trusted one or lies below it. */
function covers(trusted: URL, address: URL): boolean {
  const folder = trusted.pathname.replace(/\/*$/, '/');
  if (LEADS_UP.test(address.pathname)) return false;
  return trusted.origin === address.origin && `${address.pathname}/`.startsWith(folder);
}
