import { createSynthesizer } from '../client/attempts.ts';
import { createTransport } from '../client/transport.ts';
import type { Client, ClientOptions } from './client.ts';
import type { Endpoint } from './service-choice.ts';

/** All requests to a service share its connections. */
export async function openService(endpoint: Endpoint, options: ClientOptions): Promise<Client> {
  const { timeoutMs, atOnce } = options;
  const transport = await createTransport({ ...endpoint, connections: atOnce, timeoutMs });
  const shared = { ...endpoint, ...options, transport };
  return {
    speak: (text, fields, signal) => createSynthesizer({ ...shared, fields })(text, signal),
    close: () => transport.close(),
  };
}
