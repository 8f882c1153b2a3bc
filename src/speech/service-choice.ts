import { isExcepted, isLoopback } from '../address.ts';
import type { ProxyRoute } from '../client/transport.ts';
import { ExitCode, TtsError, usageError } from '../error.ts';
import type { Host, RunContext } from '../host.ts';
import type { Speaker } from '../service/engine/contract.ts';
import type { Espeak } from '../service/engine/espeak/voices.ts';
import { type NumberedSource, speakersOf } from '../service/engine/external/voice-source.ts';
import { FLITE_SPEAKERS } from '../service/engine/flite/voices.ts';
import { exposedFiles } from '../settings/config.ts';
import { assertKeyMayGo, assertProxyMaySee, findKey, isFromUntrustedProject } from '../settings/key.ts';
import { nearestName } from '../settings/nearest.ts';
import {
  type ConfigFile,
  chooseProxy,
  type Origin,
  outranks,
  type Setting,
  type Settings,
} from '../settings/resolve.ts';
import { type Choice, chooseSpeaker, isAmong } from '../settings/speaker.ts';
import type { EngineShelf, EngineVoice } from './engine-shelf.ts';

export interface NamedService {
  /** With `/tts`. */
  readonly url: URL;
  readonly name?: string;
  readonly key: string;
  readonly keyOrigin: string;
  /** What the sound of a speaker depends on beside its number. `undefined`: it is not worth keeping. */
  readonly identityOf?: (speaker: number) => string | undefined;
  readonly proxy: ProxyRoute | undefined;
  /** True for a proxy of a project: its answers are not kept. */
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
): Promise<NamedService | undefined> {
  const { baseUrl, engine } = settings;
  if (baseUrl && engine && !outranks(baseUrl.origin, engine.origin))
    throw usageError(
      `${engine.origin.name} and ${baseUrl.origin.name} contradict each other: an engine speaks behind the built-in service`,
      'leave one of them out',
    );
  for (const path of exposedFiles(files, host.platform))
    notices.warn(`${path} holds a key and can be read by others: chmod 600 ${path}`);
  const key = await findKey(settings, { cwd: host.cwd, home: host.home, signal });
  if (key) notices.hide(key.value);
  if (!baseUrl) {
    if (!key && settings.callbackUrl) throw noCallbacks(settings.callbackUrl.value);
    if (!key) return undefined;
    throw usageError(
      `there is a key (${key.origin.name}), but no base URL to use it with`,
      'name the service with --base-url or TTS_BASE_URL; without the key the built-in one speaks',
    );
  }
  if (!key) throw noKey(baseUrl.value, settings);
  assertKeyMayGo(key, baseUrl, settings);
  const url = new URL(baseUrl.value);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/tts`;
  const proxy = proxyFor(baseUrl, settings, host);
  if (proxy) notices.hide(proxy.url.password);
  if (proxy && !isExcepted(url, proxy.except)) assertProxyMaySee(key, { base: url, proxy }, settings);
  const note = noteOn(baseUrl, key.origin, settings);
  const mayBeForged =
    proxy?.origin.place === 'project' && url.protocol === 'http:' && !isExcepted(url, proxy.except);
  return { url, key: key.value, keyOrigin: key.origin.name, proxy, note, mayBeForged };
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

/** A loopback address of a project means this machine, not the proxy's. */
function proxyFor({ origin, value }: Setting<URL>, settings: Settings, { env }: Pick<Host, 'env'>) {
  const proxy = chooseProxy(settings, env, value);
  const isHere = origin.place === 'project' && isLoopback(value.hostname);
  return isHere && proxy?.origin.place !== 'option' ? undefined : proxy;
}

/** The built-in service ends with the run. */
function noCallbacks({ origin }: URL): TtsError {
  return usageError(
    'the built-in service of a run takes no --callback-url',
    `name a service with --base-url; one of your own that may send there: tts serve --callbacks ${origin}`,
  );
}

interface SpeakerChoice extends Choice {
  readonly espeak?: Espeak | undefined;
  readonly engines: readonly NumberedSource[];
}

export type OpenShelf = () => Promise<EngineShelf>;

/**
 * Looks for engines and espeak-ng only if the speaker is not built in.
 * @throws TtsError (usage)
 */
export async function speakerOf(
  settings: Settings,
  openShelf: OpenShelf | undefined,
  context: RunContext,
): Promise<SpeakerChoice> {
  if (!openShelf) return { ...chooseSpeaker(settings, []), engines: [] };
  if (!settings.engine && isAmong(FLITE_SPEAKERS, settings))
    return { ...chooseSpeaker(settings, FLITE_SPEAKERS), engines: [] };
  const shelf = await openShelf();
  const ofEngine = await voiceOfEngine(settings, shelf);
  if (ofEngine) return ofEngine;
  if (isAmong(FLITE_SPEAKERS, settings)) return { ...chooseSpeaker(settings, FLITE_SPEAKERS), engines: [] };
  const { findEspeak } = await import('../service/engine/espeak/voices.ts');
  const { espeak, fault } = await findEspeak(context);
  const builtIn = builtInSpeakers(espeak);
  const byName = isAmong(builtIn, settings) ? undefined : await searched(settings, shelf);
  if (byName) return byName;
  if (settings.engine && !isAmong(builtIn, settings)) {
    const chosen = speakersOf(await shelf.open(0));
    return { ...chooseSpeaker(settings, [...chosen, ...builtIn]), engines: [] };
  }
  if (espeak) return chooseEspeak(settings, builtIn, espeak);
  const why = fault === undefined ? 'is not installed' : `does not work: ${fault}`;
  const remark = `101 and up are the voices of espeak-ng, which ${why}`;
  return { ...chooseSpeaker(settings, FLITE_SPEAKERS, remark), engines: [] };
}

async function chooseEspeak(
  settings: Settings,
  known: readonly Speaker[],
  espeak: Espeak,
): Promise<SpeakerChoice> {
  const { voiceForLanguage } = await import('../service/engine/espeak/voices.ts');
  const { speaker } = settings;
  const { value } = speaker ?? {};
  const language = typeof value === 'string' && !isAmong(known, settings) ? value : undefined;
  const voice = language === undefined ? undefined : voiceForLanguage(language, espeak.voices);
  const chosen =
    speaker && voice ? { ...settings, speaker: { ...speaker, value: voice.speaker.no } } : settings;
  return { ...chooseSpeaker(chosen, known), espeak, engines: [] };
}

export async function withNumber(
  error: unknown,
  { speaker, speakers, timeout, dryRun }: Settings,
  service: NamedService,
  signal: AbortSignal,
): Promise<unknown> {
  const name = speaker?.value;
  if (!(error instanceof TtsError) || typeof name !== 'string' || dryRun.value) return error;
  if (nearestName(name, [...(speakers?.value.keys() ?? [])])) return error;
  const { listSpeakers } = await import('../client/speakers.ts');
  const options = { ...service, retries: 0, timeoutMs: timeout.value * 1000, onEvent: () => {} };
  const list = await listSpeakers(options, signal).catch(() => undefined);
  signal.throwIfAborted();
  const listed = list?.find((one) => one.name?.toLowerCase() === name.toLowerCase());
  if (!listed) return error;
  const hint = `${service.url.host} lists ${listed.name} as ${listed.no}: -s ${listed.no}, or name it under "speakers" in a config file`;
  return error.inWords(error.message, { hint });
}

async function voiceOfEngine(settings: Settings, shelf: EngineShelf): Promise<SpeakerChoice | undefined> {
  const found = await shelf.find(settings);
  return found && withVoice(settings, found);
}

async function searched(settings: Settings, shelf: EngineShelf): Promise<SpeakerChoice | undefined> {
  const { value, origin } = settings.speaker ?? {};
  if (typeof value !== 'string') return undefined;
  const found = await shelf.search(value, origin?.name ?? '');
  return found && withVoice(settings, found);
}

function withVoice(settings: Settings, { engine, voice, no }: EngineVoice): SpeakerChoice {
  const origin = settings.speaker?.origin ??
    settings.engine?.origin ?? { place: 'default' as const, name: 'the default' };
  const known = [{ no, name: voice.name, kind: 'neo.one' }];
  const chosen = chooseSpeaker({ ...settings, speaker: { value: no, origin } }, known);
  const { maxChars, concurrency, sampleRate = { value: voice.sampleRate, origin } } = chosen.settings;
  const { source } = engine;
  const limits = {
    maxChars: { ...maxChars, value: Math.min(maxChars.value, source.maxChars) },
    concurrency: isDefault(concurrency)
      ? { ...concurrency, value: source.concurrency + WAITING }
      : concurrency,
  };
  return { no, settings: { ...chosen.settings, sampleRate, ...limits }, engines: [engine] };
}

/** The engine never waits for one. */
const WAITING = 2;

function isDefault({ origin }: Setting<unknown>): boolean {
  return origin.place === 'default';
}

export function builtInSpeakers(
  espeak: Espeak | undefined,
  engines: readonly NumberedSource[] = [],
): Speaker[] {
  const ofEspeak = espeak?.voices.map(({ speaker }) => speaker) ?? [];
  return [...FLITE_SPEAKERS, ...ofEspeak, ...engines.flatMap(speakersOf)];
}
