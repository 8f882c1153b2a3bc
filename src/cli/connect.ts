import { cached } from '../cache/cached.ts';
import { segmentKey } from '../cache/key.ts';
import type { Store } from '../cache/store.ts';
import { type ClientEvent, createClient, type Synthesize } from '../client/client.ts';
import { Pace } from '../client/pace.ts';
import { createTransport } from '../client/transport.ts';
import type { Settings } from '../settings/resolve.ts';
import type { NamedService } from './service.ts';

/** What a run may want to know of each segment. */
export type ServiceEvent = ClientEvent | { readonly type: 'cache'; readonly found: 'hit' | 'miss' };

/** A service that is ready to speak. */
export interface Connection {
  readonly synthesize: Synthesize;
  close(): Promise<void>;
}

interface ConnectOptions {
  /** Where segments are kept, unless they are not. */
  readonly store?: Store | undefined;
  readonly speaker: number;
  readonly tell: (event: ServiceEvent) => void;
}

/** The client of a service, as the settings want it. */
export async function connect(
  service: NamedService,
  settings: Settings,
  options: ConnectOptions,
): Promise<Connection> {
  const { speaker, tell, store } = options;
  const concurrency = settings.concurrency.value;
  const timeoutMs = settings.timeout.value * 1000;
  const transport = await createTransport({
    ...service,
    connections: concurrency,
    timeoutMs,
  });
  const voice = {
    speaker,
    stream: settings.stream?.value,
    sampleRate: settings.sampleRate?.value,
    instructions: settings.instructions?.value,
    callbackUrl: settings.callbackUrl?.value.href,
  };
  const keyOf = (text: string) => segmentKey({ url: service.url, ...voice }, text);
  const synthesize = createClient({
    ...service,
    transport,
    voice,
    timeoutMs,
    retries: settings.retries.value,
    tell,
    pace: new Pace(concurrency),
  });
  return {
    synthesize:
      store && !voice.callbackUrl
        ? cached(synthesize, { store, keyOf, tell: (found) => tell({ type: 'cache', found }) })
        : synthesize,
    async close() {
      await transport.close();
      await store?.close();
    },
  };
}
