import { closeQuietly } from '../async.ts';
import { createSynthesizer, type RequestFields, type Synthesize } from '../client/attempts.ts';
import { ConcurrencyLimiter } from '../client/limiter.ts';
import type { ClientEvent } from '../client/retry.ts';
import { createTransport } from '../client/transport.ts';
import type { RunContext } from '../host.ts';
import type { RunPlan } from './job.ts';
import type { Endpoint } from './service-choice.ts';

export type ServiceEvent =
  | ClientEvent
  | {
      readonly type: 'cache';
      readonly index: number;
      readonly found: 'hit' | 'miss';
    };

export async function openService(
  { service, espeak, sources }: Pick<RunPlan, 'service' | 'espeak' | 'sources'>,
  context: RunContext,
): Promise<Endpoint & AsyncDisposable> {
  if (service) return { ...service, async [Symbol.asyncDispose]() {} };
  const { startBuiltIn } = await import('./built-in.ts');
  const { close, ...builtIn } = await startBuiltIn(espeak, sources);
  return { ...builtIn, [Symbol.asyncDispose]: () => closeQuietly(close, context.notices) };
}

/** All its requests share connections, limits and cache. */
export interface Client extends AsyncDisposable {
  speakWith(fields: RequestFields): Synthesize;
}

export async function openClient(
  { limits, cacheBytes }: Pick<RunPlan, 'limits' | 'cacheBytes'>,
  service: Endpoint,
  { onEvent, ...context }: RunContext & { readonly onEvent: (event: ServiceEvent) => void },
): Promise<Client> {
  const { concurrency, retries, timeoutMs } = limits;
  const transport = await createTransport({ ...service, connections: concurrency, timeoutMs });
  const caching =
    cacheBytes === undefined
      ? undefined
      : await (await import('./caching.ts')).openCaching(cacheBytes, context);
  const limiter = new ConcurrencyLimiter(concurrency);
  const checksum = caching?.checksum;
  const shared = { ...service, transport, timeoutMs, retries, onEvent, limiter, checksum };
  return {
    speakWith(fields) {
      const synthesize = createSynthesizer({ ...shared, fields });
      const identity = service.identityOf ? service.identityOf(fields.speaker) : service.url.href;
      if (!caching || identity === undefined) return synthesize;
      const onLookup = (found: 'hit' | 'miss', index: number) => onEvent({ type: 'cache', index, found });
      return caching.around(synthesize, { ...fields, identity }, onLookup);
    },
    async [Symbol.asyncDispose]() {
      await closeQuietly(() => transport.close(), context.notices);
      if (caching) await closeQuietly(() => caching.close(), context.notices);
    },
  };
}
