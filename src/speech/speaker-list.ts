import { fetchSpeakers, type ServiceSpeaker } from '../client/speakers.ts';
import { createTransport } from '../client/transport.ts';
import type { ServiceEvent } from './connection.ts';
import type { Limits } from './job.ts';
import type { NamedService } from './service-choice.ts';

interface Asking extends Pick<Limits, 'retries' | 'timeoutMs'> {
  readonly onEvent: (event: ServiceEvent) => void;
  readonly signal: AbortSignal;
}

/**
 * The speakers that a named service lists.
 * @returns `undefined` if it has no such list
 * @throws TtsError as `fetchSpeakers` does
 */
export async function listSpeakers(
  service: NamedService,
  { retries, timeoutMs, onEvent, signal }: Asking,
): Promise<ServiceSpeaker[] | undefined> {
  const url = new URL(service.url);
  url.pathname = url.pathname.replace(/\/tts$/, '/speakers');
  const transport = await createTransport({ ...service, url, connections: 1, timeoutMs });
  try {
    return await fetchSpeakers({ ...service, url, transport, timeoutMs, retries, onEvent }, signal);
  } finally {
    await transport.close();
  }
}
