import type { Speech } from '../audio/pcm.ts';
import { type Checksum, createSynthesizer } from '../client/attempts.ts';
import { ConcurrencyLimiter } from '../client/limiter.ts';
import type { NumberedText, RequestFields } from '../client/request.ts';
import type { RetryPolicy } from '../client/retry.ts';
import { createTransport } from '../client/transport.ts';
import type { Endpoint } from './service-choice.ts';

export interface ClientOptions extends RetryPolicy {
  /** The largest number of requests that are open at once. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** It is set where the sound is kept. */
  readonly checksum: Checksum | undefined;
}

/** All its requests share connections and a limit. */
export interface Client {
  speak(text: NumberedText, fields: RequestFields, signal: AbortSignal): Promise<Speech | undefined>;
  close(): Promise<void>;
}

export async function openClient(
  endpoint: Endpoint,
  { concurrency, ...options }: ClientOptions,
): Promise<Client> {
  const { timeoutMs } = options;
  const transport = await createTransport({ ...endpoint, connections: concurrency, timeoutMs });
  const shared = { ...endpoint, ...options, transport, limiter: new ConcurrencyLimiter(concurrency) };
  return {
    speak: (text, fields, signal) => createSynthesizer({ ...shared, fields })(text, signal),
    close: () => transport.close(),
  };
}
