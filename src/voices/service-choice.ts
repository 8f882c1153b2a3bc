/** Chooses the service of a run, with its key and proxy. */
import { isExcepted, isLoopback } from '../kit/address.ts';
import { ExitCode, TtsError, usageError } from '../kit/error.ts';
import type { Host, RunContext } from '../kit/host.ts';
import type { ProxyRoute } from '../kit/http/client.ts';
import { nearestName } from '../kit/words.ts';
import {
  assertKeyMayGo,
  assertProxyMaySee,
  findKey,
  isFromUntrustedProject,
  type Key,
  keyOrigin,
} from '../options/keys.ts';
import {
  type ConfigFile,
  chooseProxy,
  exposedFiles,
  type Origin,
  outranks,
  type Setting,
  type Settings,
} from '../options/load.ts';
import { speakerNamed } from './sources.ts';

export interface Endpoint {
  /** The address of the requests, which ends in `/tts`. */
  readonly url: URL;
  readonly key: string;
  readonly keyOrigin: string;
  readonly proxy: ProxyRoute | undefined;
  /** True if a project's proxy could forge the answers, which are then not cached. */
  readonly mayBeForged?: boolean;
  readonly note?: string | undefined;
}

interface ChoiceContext extends Pick<RunContext, 'host' | 'notices' | 'signal'> {
  readonly files: readonly ConfigFile[];
}

/** @throws TtsError (usage, key) */
export async function chooseService(
  settings: Settings,
  { host, notices, signal, files }: ChoiceContext,
): Promise<Endpoint | undefined> {
  const { baseUrl, engine, dryRun } = settings;
  if (baseUrl && engine && !outranks(baseUrl.origin, engine.origin))
    throw usageError(
      `${engine.origin.name} and ${baseUrl.origin.name} cannot be used together: an engine speaks in place of a service`,
      'leave one of them out',
    );
  for (const path of exposedFiles(files, host.platform))
    notices.warn(`${path} holds a key and can be read by others: chmod 600 ${path}`);
  const isNeeded = baseUrl || settings.callbackUrl || !isOfThisMachine(settings);
  if (!isNeeded) return undefined;
  if (dryRun.value && baseUrl) return unasked(baseUrl, settings, host);
  const key = await findKey(settings, { cwd: host.cwd, home: host.home, signal });
  if (key) notices.hide(key.value);
  if (!baseUrl) {
    const why = objectionToNone(settings, key);
    if (why) throw why;
    return undefined;
  }
  if (!key) throw noKey(baseUrl.value, settings);
  assertKeyMayGo(key, baseUrl, settings);
  const url = requestUrl(baseUrl.value);
  const proxy = proxyFor(baseUrl, settings, host);
  if (proxy) notices.hide(proxy.url.password);
  if (proxy && !isExcepted(url, proxy.except)) assertProxyMaySee(key, { base: url, proxy }, settings);
  const note = noteOn(baseUrl, key.origin, settings);
  const mayBeForged = isForgeable(url, proxy);
  return { url, key: key.value, keyOrigin: key.origin.name, proxy, note, mayBeForged };
}

/** Returns the service of a dry run, which needs no key, as nothing is sent to it. */
function unasked(baseUrl: Setting<URL>, settings: Settings, host: Host): Endpoint {
  const url = requestUrl(baseUrl.value);
  const proxy = proxyFor(baseUrl, settings, host);
  return { url, key: '', keyOrigin: '', proxy: undefined, mayBeForged: isForgeable(url, proxy) };
}

function isForgeable(url: URL, proxy: ReturnType<typeof proxyFor>): boolean {
  return proxy?.origin.place === 'project' && url.protocol === 'http:' && !isExcepted(url, proxy.except);
}

/** @returns the error of a run that needs a service but names none */
function objectionToNone({ callbackUrl }: Settings, key: Key | undefined): TtsError | undefined {
  if (callbackUrl && !key) return noCallbacks(callbackUrl.value);
  if (!key) return undefined;
  return usageError(
    `there is a key (${key.origin.name}), but no base URL to use it with`,
    'name the service with --base-url or TTS_BASE_URL; without the key the built-in one speaks',
  );
}

/** True if an engine, or a voice by its name, was asked for. A service takes numbers, so none was forgotten. */
function isOfThisMachine({ engine, speaker, speakers }: Settings): boolean {
  if (engine) return true;
  if (typeof speaker?.value !== 'string') return false;
  return speakerNamed(speaker.value, speakers?.value)?.no === undefined;
}

/** Adds to the error of an unknown voice that it may belong to a service whose base URL was forgotten. */
export function withForgottenBase(error: unknown, settings: Settings): unknown {
  const key = keyOrigin(settings);
  if (!key || settings.engine || !(error instanceof TtsError)) return error;
  const hint = `there is a key (${key.name}), but no base URL: --base-url names its service; without it, ${error.hint}`;
  return error.reworded(error.message, { hint });
}

export function requestUrl(base: URL): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/tts`;
  return url;
}

function noKey(base: URL, { keys }: Settings): TtsError {
  const near = [...(keys?.value.keys() ?? [])].filter((stored) => new URL(stored).host === base.host);
  const login =
    'set TTS_API_KEY (to any word, for a service that wants no key), or store the key with tts login';
  return new TtsError(`no key for ${base.href}`, {
    exitCode: ExitCode.key,
    hint: near.length > 0 ? `a key is stored for ${near.join(', ')}: use that base URL, or ${login}` : login,
  });
}

function noteOn(base: Setting<URL>, key: Origin, settings: Settings): string | undefined {
  const { host, hostname } = base.value;
  if (isFromUntrustedProject(base, settings))
    return `the text goes to ${host}, as set by ${base.origin.name}`;
  if (key.place !== 'project' || base.origin.place === 'project' || isLoopback(hostname)) return undefined;
  return `the text goes to ${host} with the key from ${key.name}`;
}

/** Returns the proxy, but only that of an option for a loopback address of a project, which means this machine. */
function proxyFor({ origin, value }: Setting<URL>, settings: Settings, { env }: Pick<Host, 'env'>) {
  const proxy = chooseProxy(settings, env, value);
  const isHere = origin.place === 'project' && isLoopback(value.hostname);
  return isHere && proxy?.origin.place !== 'option' ? undefined : proxy;
}

/** The built-in service ends with the run, and could send nothing after it. */
function noCallbacks({ origin }: URL): TtsError {
  return usageError(
    'the built-in service of a run takes no --callback-url',
    `name a service with --base-url; one of your own that may send there: tts serve --callbacks ${origin}`,
  );
}

/** Adds to the error the number of a voice that the service lists with this name or language. */
export async function withListedNumber(
  error: unknown,
  { speaker, speakers, timeout, dryRun }: Settings,
  service: Endpoint,
  { host, signal }: Pick<RunContext, 'host' | 'signal'>,
): Promise<unknown> {
  const name = speaker?.value;
  if (!(error instanceof TtsError) || typeof name !== 'string' || dryRun.value) return error;
  if (nearestName(name, [...(speakers?.value.keys() ?? [])])) return error;
  const { listService } = await import('./service.ts');
  const listing = { retries: 0, timeoutMs: timeout.value * 1000, runtime: host.runtime };
  const list = await listService(service, listing, signal).catch(() => undefined);
  signal.throwIfAborted();
  const { voiceForLanguage } = await import('./language.ts');
  const asked = name.toLowerCase();
  const listed =
    list?.find((one) => one.name?.toLowerCase() === asked) ?? voiceForLanguage(name, [list ?? []]);
  if (!listed) return error;
  const hint = `${service.url.host} lists ${listed.name ?? listed.language} as ${listed.no}: -s ${listed.no}, or name it under "speakers" in a config file`;
  return error.reworded(error.message, { hint });
}
