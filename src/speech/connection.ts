import { type Checksum, createClient, type Synthesize, type Voice } from '../client/client.ts';
import { Pace } from '../client/limiter.ts';
import type { ClientEvent } from '../client/retry.ts';
import { createTransport } from '../client/transport.ts';
import type { RunContext } from '../host.ts';
import type { Espeak } from '../service/engine/espeak/voices.ts';
import type { Settings } from '../settings/resolve.ts';
import { isKept, type Task } from './job.ts';
import type { NamedService } from './service-choice.ts';

/** What a run may want to know of each segment. */
export type ServiceEvent = ClientEvent | { readonly type: 'cache'; readonly found: 'hit' | 'miss' };

/** A cache around a client: asks it only for what is not there. */
export interface Caching {
  /** Tells one rendering from another. It comes along, since what makes it is loaded for the cache alone. */
  readonly checksum: Checksum;
  around(
    synthesize: Synthesize,
    spoken: Voice & { readonly url: URL },
    tell: (event: ServiceEvent) => void,
  ): Synthesize;
  close(): Promise<void>;
}

/** A service that is ready to speak. */
export interface Connection {
  /** All voices share its connections, and the pace that the service sets. */
  speakAs(voice: Voice): Synthesize;
  close(): Promise<void>;
}

interface ConnectOptions {
  /** None: segments are not kept. */
  readonly caching?: Caching | undefined;
  readonly tell: (event: ServiceEvent) => void;
}

/** The client of a service, as the settings want it. */
export async function connect(
  service: NamedService,
  settings: Settings,
  { tell, caching }: ConnectOptions,
): Promise<Connection> {
  const concurrency = settings.concurrency.value;
  const timeoutMs = settings.timeout.value * 1000;
  const transport = await createTransport({ ...service, connections: concurrency, timeoutMs });
  const pace = new Pace(concurrency);
  const retries = settings.retries.value;
  return {
    speakAs(voice) {
      const checksum = caching?.checksum;
      const synthesize = createClient({
        ...service,
        transport,
        voice,
        timeoutMs,
        retries,
        tell,
        pace,
        checksum,
      });
      return caching?.around(synthesize, { ...voice, url: service.url }, tell) ?? synthesize;
    },
    async close() {
      try {
        await transport.close();
      } finally {
        await caching?.close();
      }
    },
  };
}

/** What the settings want of a service. */
export function voiceOf(settings: Settings, speaker: number): Voice {
  return {
    speaker,
    stream: settings.stream?.value,
    sampleRate: settings.sampleRate?.value,
    instructions: settings.instructions?.value,
    callbackUrl: settings.callbackUrl?.value.href,
  };
}

/** A service that can be spoken to until it is closed. */
export interface OpenService extends NamedService {
  close(): Promise<void>;
}

/**
 * The service that was named, or the built-in one, which runs for as long as it is used and is loaded only then.
 * @param espeak what the built-in one has further voices from
 */
export async function openService(
  named: NamedService | undefined,
  espeak: Espeak | undefined,
): Promise<OpenService> {
  if (named) return { ...named, close: async () => {} };
  const { startBuiltIn } = await import('./built-in.ts');
  return startBuiltIn(espeak);
}

interface Use<Result> {
  readonly tell: (event: ServiceEvent) => void;
  readonly use: (connection: Connection) => Promise<Result>;
}

/** Connects to the service, the built-in one if no other is named, for as long as it is used. */
export async function whileConnected<Result>(
  { service, settings, espeak }: Pick<Task, 'service' | 'settings' | 'espeak'>,
  context: RunContext,
  { tell, use }: Use<Result>,
): Promise<Result> {
  if (service?.note) context.notices.note(service.note);
  return whileOpen(await openService(service, espeak), async (target) => {
    const caching = isKept({ service, settings })
      ? await (await import('./caching.ts')).openCaching(settings, context)
      : undefined;
    return whileOpen(await connect(target, settings, { tell, caching }), use);
  });
}

interface Open {
  close(): Promise<void>;
}

/**
 * Uses what was opened, and closes it whatever comes of that.
 * @throws what its use throws rather than what closing throws
 */
export async function whileOpen<T extends Open, Result>(
  opened: T,
  use: (opened: T) => Promise<Result>,
): Promise<Result> {
  let result: Result;
  try {
    result = await use(opened);
  } catch (error) {
    await opened.close().catch(() => {});
    throw error;
  }
  await opened.close();
  return result;
}
