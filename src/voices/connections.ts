import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { NumberedSource, SourceVoice, Speaker } from '../engines/engine.ts';
import type { Espeak } from '../engines/espeak.ts';
import { FLITE_SPEAKERS } from '../engines/flite.ts';
import { codeOf } from '../kit/error.ts';
import { segmentFolder } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import { ConcurrencyLimiter } from '../kit/limit.ts';
import type { NumberedText } from '../kit/retry.ts';
import { closeQuietly } from '../kit/wait.ts';
import type { Settings } from '../options/load.ts';
import type { Speech } from '../sound/pcm.ts';
import type { Kept } from './cache.ts';
import type { Endpoint } from './service-choice.ts';
import type { Client, ClientOptions, RequestFields, Voice, VoiceEvent, VoiceShape } from './voice.ts';

/** @returns the bytes that the cache may hold: what somebody has set, or what its disk has room for */
export function cacheLimit(
  { cacheSize }: Pick<Settings, 'cacheSize'>,
  host: Pick<Host, 'cwd' | 'env' | 'home' | 'platform'>,
): number {
  const { value, origin } = cacheSize;
  return origin.place === 'default' ? modestSize(value, segmentFolder(host)) : value;
}

/** A cache without a set size may take this part of the free room. */
const SHARE_OF_DISK = 1 / 10;

/**
 * @param bytes the default size
 * @returns at most a tenth of what is free on the disk of the folder
 */
export function modestSize(bytes: number, folder: string | undefined): number {
  const free = folder === undefined ? undefined : freeBytes(folder);
  return free === undefined ? bytes : Math.min(bytes, Math.floor(free * SHARE_OF_DISK));
}

/** The folder may be missing. */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    return codeOf(error) === 'ENOENT' && parent !== folder ? freeBytes(parent) : undefined;
  }
}

export interface VoicesPlan {
  readonly settings: Settings;
  /** The named service, or `undefined` without one. It is not asked for before something is to be spoken or listed. */
  readonly service: () => Promise<Endpoint | undefined>;
}

/** What speaks in this program besides Flite, as far as the voices of the run need it. */
export interface Engines {
  espeak: Espeak | undefined;
  readonly sources: Set<NumberedSource>;
}

/** How a voice is reached: its kind, and the engine that a user brings. */
export interface VoiceRoute extends Pick<Voice, 'kind' | 'shape' | 'atOnce'> {
  /** It is set for a voice of an engine. */
  readonly source?: NumberedSource | undefined;
}

export function espeakSpeaker({ espeak }: Engines, no: number): Speaker | undefined {
  return espeak?.voices.find(({ speaker }) => speaker.no === no)?.speaker;
}

/** @returns what is known of a voice before it speaks: nothing of one of a service */
export function knownOf(
  { kind, source, shape: { speaker } }: VoiceRoute,
  engines: Engines,
): Partial<SourceVoice> {
  if (kind === 'engine') return source?.voices.get(speaker) ?? {};
  if (kind === 'espeak') return espeakSpeaker(engines, speaker) ?? {};
  return (kind === 'built-in' && FLITE_SPEAKERS.find(({ no }) => no === speaker)) || {};
}

/** What the voices of a run share: connections, limits and the cache. Each is opened when it is needed first. */
export class Connections {
  readonly #plan: VoicesPlan;
  readonly #engines: Engines;
  readonly #context: RunContext;
  readonly #onEvent: (event: VoiceEvent) => void;
  /** Voices of the same source or kind share one. */
  readonly #clients = new Map<VoiceRoute['source'] | VoiceRoute['kind'], Promise<Client>>();
  #kept: Promise<Kept | undefined> | undefined;
  /** It is set when it is open. */
  #openKept: Kept | undefined;

  constructor(plan: VoicesPlan, engines: Engines, context: RunContext, onEvent: (event: VoiceEvent) => void) {
    this.#plan = plan;
    this.#engines = engines;
    this.#context = context;
    this.#onEvent = onEvent;
  }

  /** Opens all that the route needs for its first text. */
  async open(route: VoiceRoute): Promise<{ readonly client: Client; readonly kept: Kept | undefined }> {
    const shared = route.source ?? route.kind;
    const client = this.#clients.get(shared) ?? this.#connect(route);
    this.#clients.set(shared, client);
    return { client: await client, kept: await this.keptFor(route.kind) };
  }

  async speak(route: VoiceRoute, text: NumberedText, signal: AbortSignal): Promise<Speech | undefined> {
    const { client, kept } = await this.open(route);
    const fields = this.fieldsOf(route.shape);
    if (!kept) return client.speak(text, fields, signal);
    const { index, written } = text;
    let found: 'hit' | 'miss' = 'hit';
    const make = () => {
      found = 'miss';
      this.#onEvent({ type: 'cache', index, found });
      return client.speak(text, fields, signal);
    };
    const speech = await kept.get({ shape: route.shape, text: text.text, written }, make, signal);
    if (found === 'hit') this.#onEvent({ type: 'cache', index, found });
    return speech && route.kind === 'engine' ? atRate(speech, fields.sampleRate) : speech;
  }

  fieldsOf({ speaker, sampleRate, hasOwnRate, instructions, stream }: VoiceShape): RequestFields {
    const { stream: usual, callbackUrl } = this.#plan.settings;
    return {
      speaker,
      stream: stream ?? usual?.value,
      sampleRate: hasOwnRate ? undefined : sampleRate,
      instructions,
      callbackUrl: callbackUrl?.value.href,
    };
  }

  /**
   * The size of the cache for voices of a kind.
   * @returns `undefined` where nothing is kept: built-in voices cost nothing, and sound for a callback does not come here
   */
  async cacheBytesFor(kind: Voice['kind']): Promise<number | undefined> {
    const { cache, callbackUrl } = this.#plan.settings;
    if (!cache.value || callbackUrl) return undefined;
    const service = kind === 'service' ? await this.#plan.service() : undefined;
    const isKept = kind === 'engine' || (service && !service.mayBeForged);
    return isKept ? cacheLimit(this.#plan.settings, this.#context.host) : undefined;
  }

  /** The cache for voices of a kind, if their sound is kept. */
  async keptFor(kind: Voice['kind']): Promise<Kept | undefined> {
    const bytes = await this.cacheBytesFor(kind);
    if (bytes === undefined) return undefined;
    this.#kept ??= import('./cache.ts').then(({ openKept }) => openKept(bytes, this.#context));
    this.#openKept = await this.#kept;
    return this.#openKept;
  }

  /** False as well while the cache is not open. */
  mayHave(shape: VoiceShape, { text, written }: Omit<NumberedText, 'index'>): boolean {
    return this.#openKept?.mayHave({ shape, text, written }) === true;
  }

  /** Errors of closing become warnings. */
  async close(): Promise<void> {
    const quietly = async (opened: Promise<{ close(): Promise<void> } | undefined> | undefined) => {
      // The call that opened it had the error.
      const one = await opened?.catch(() => undefined);
      if (one) await closeQuietly(() => one.close(), this.#context.notices);
    };
    for (const client of this.#clients.values()) await quietly(client);
    await quietly(this.#kept);
  }

  async #connect({ kind, atOnce, shape, source }: VoiceRoute): Promise<Client> {
    const { retries, timeout } = this.#plan.settings;
    const kept = await this.keptFor(kind);
    const options: ClientOptions = {
      atOnce,
      limiter: new ConcurrencyLimiter(atOnce),
      retries: retries.value,
      timeoutMs: timeout.value * 1000,
      runtime: this.#context.host.runtime,
      checksum: kept && (await import('node:zlib')).crc32,
      onEvent: this.#onEvent,
    };
    const service = kind === 'service' ? await this.#plan.service() : undefined;
    if (service) return (await import('./service.ts')).openService(service, options);
    const { openEngine } = await import('./local.ts');
    const voice = source?.voices.get(shape.speaker);
    if (voice) source?.source.prepare?.(voice);
    return openEngine({ source, espeak: kind === 'espeak' ? this.#engines.espeak : undefined }, options);
  }
}

/** An entry may hold sound of the engine's own rate under the key of the rate that is asked for. */
async function atRate(speech: Speech, sampleRate = speech.format.sampleRate): Promise<Speech> {
  if (speech.format.sampleRate === sampleRate) return speech;
  return (await import('../sound/convert.ts')).converted(speech, { ...speech.format, sampleRate });
}
