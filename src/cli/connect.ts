import { type ClientEvent, createClient, type Synthesize } from '../client/client.ts';
import { Pace } from '../client/pace.ts';
import { createTransport } from '../client/transport.ts';
import type { Settings } from '../settings/resolve.ts';
import type { NamedService } from './service.ts';

/** A service that is ready to speak. */
export interface Connection {
  readonly synthesize: Synthesize;
  close(): Promise<void>;
}

interface ConnectOptions {
  readonly speaker: number;
  readonly tell: (event: ClientEvent) => void;
}

/** The client of a service, as the settings want it. */
export async function connect(
  service: NamedService,
  settings: Settings,
  options: ConnectOptions,
): Promise<Connection> {
  const { speaker, tell } = options;
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
  const synthesize = createClient({
    ...service,
    transport,
    voice,
    timeoutMs,
    retries: settings.retries.value,
    tell,
    pace: new Pace(concurrency),
  });
  return { synthesize, close: () => transport.close() };
}
