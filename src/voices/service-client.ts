import { createSynthesizer } from '../client/request.ts';
import type { RetryPolicy } from '../client/retry.ts';
import type { ServiceSpeaker } from '../client/speakers.ts';
import { createTransport } from '../client/transport.ts';
import type { RunContext } from '../host.ts';
import { delayTierUp } from '../tier-up.ts';
import type { Client, ClientOptions } from './client.ts';
import type { Endpoint } from './service-choice.ts';

/** All requests to a service share its connections. */
export async function openService(endpoint: Endpoint, options: ClientOptions): Promise<Client> {
  const { timeoutMs, atOnce, runtime } = options;
  await delayParser(endpoint, runtime);
  const transport = await createTransport({ ...endpoint, connections: atOnce, timeoutMs });
  const shared = { ...endpoint, ...options, transport };
  return {
    speak: (text, fields, signal) => createSynthesizer({ ...shared, fields })(text, signal),
    close: () => transport.close(),
  };
}

/** @returns `undefined` for a service without a list */
export async function listService(
  listing: Endpoint & RetryPolicy & Pick<ClientOptions, 'timeoutMs'>,
  { host, signal }: Pick<RunContext, 'host' | 'signal'>,
): Promise<readonly ServiceSpeaker[] | undefined> {
  await delayParser(listing, host.runtime);
  const { listSpeakers } = await import('../client/speakers.ts');
  return listSpeakers(listing, signal);
}

/** undici compiles its parser with the first connection, so the modules that it needs for that are loaded before. */
async function delayParser({ url }: Endpoint, runtime: string): Promise<void> {
  if (url.protocol === 'https:') await import('node:tls');
  await delayTierUp(runtime);
}
