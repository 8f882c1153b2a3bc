import type { Voice } from '../client/body.ts';
import { createClient, type Synthesize } from '../client/client.ts';
import type { Checksum } from '../client/delivered.ts';
import type { ClientEvent } from '../client/event.ts';
import { Pace } from '../client/pace.ts';
import { createTransport } from '../client/transport.ts';
import type { Settings } from '../settings/resolve.ts';
import type { NamedService } from './service.ts';

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
