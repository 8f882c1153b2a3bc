/** The cache as a run uses it: opened late, of a modest size, and only for sound that is worth keeping. */
import { freeBytes, segmentFolder } from '../kit/folders.ts';
import type { Host, RunContext } from '../kit/host.ts';
import type { Settings } from '../options/load.ts';
import type { VoiceSource } from '../sound/voice.ts';
import type { Cache } from './cache.ts';
import type { Endpoint } from './service-choice.ts';

/** The share of the free disk space that a cache without a set size may take. */
const SHARE_OF_DISK = 1 / 10;

/** @returns the bytes that the cache may hold: the set size, or a default that its disk has room for */
export function cacheLimit(
  { cacheSize }: Pick<Settings, 'cacheSize'>,
  host: Pick<Host, 'cwd' | 'env' | 'home' | 'platform'>,
): number {
  const { value, origin } = cacheSize;
  const folder = origin.place === 'default' ? segmentFolder(host) : undefined;
  const free = folder === undefined ? undefined : freeBytes(folder);
  return free === undefined ? value : Math.min(value, Math.floor(free * SHARE_OF_DISK));
}

type Kind = Pick<VoiceSource, 'kind'>;

interface CachePlan {
  readonly settings: Pick<Settings, 'cache' | 'cacheSize' | 'callbackUrl'>;
  readonly service: () => Promise<Endpoint | undefined>;
}

export class RunCache {
  readonly #plan: CachePlan;
  readonly #context: RunContext;
  #opening: Promise<Cache | undefined> | undefined;
  /** The cache, once it has been opened. */
  ifOpen: Cache | undefined;

  constructor(plan: CachePlan, context: RunContext) {
    this.#plan = plan;
    this.#context = context;
  }

  /**
   * Returns the size of the cache for the sound of a source.
   * @returns `undefined` if nothing is cached: built-in voices cost nothing, and sound for a callback does not come here
   */
  async bytesFor({ kind }: Kind): Promise<number | undefined> {
    const { cache, callbackUrl } = this.#plan.settings;
    if (!cache.value || callbackUrl) return undefined;
    const service = kind === 'service' ? await this.#plan.service() : undefined;
    const isCached = kind === 'engine' || (service && !service.mayBeForged);
    return isCached ? cacheLimit(this.#plan.settings, this.#context.host) : undefined;
  }

  async opened(source: Kind): Promise<Cache | undefined> {
    const bytes = await this.bytesFor(source);
    if (bytes === undefined) return undefined;
    this.#opening ??= import('./cache.ts').then(({ openCache }) => openCache(bytes, this.#context));
    this.ifOpen = await this.#opening;
    return this.ifOpen;
  }

  async close(): Promise<void> {
    // The call that opened the cache has reported its failure.
    await (await this.#opening?.catch(() => undefined))?.close();
  }
}
