import { closeQuietly } from '../async.ts';
import type { Kept, VoiceShape } from '../cache/kept.ts';
import { createSynthesizer, type Synthesize } from '../client/attempts.ts';
import { ConcurrencyLimiter } from '../client/limiter.ts';
import type { RequestFields } from '../client/request.ts';
import type { ClientEvent } from '../client/retry.ts';
import { createTransport } from '../client/transport.ts';
import type { RunContext } from '../host.ts';
import type { RunPlan } from '../speech/job.ts';
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
  const { startBuiltIn } = await import('./in-process.ts');
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
  const kept =
    cacheBytes === undefined
      ? undefined
      : await (await import('../cache/kept.ts')).openKept(cacheBytes, context);
  const limiter = new ConcurrencyLimiter(concurrency);
  const checksum = kept && (await import('node:zlib')).crc32;
  const shared = { ...service, transport, timeoutMs, retries, onEvent, limiter, checksum };
  return {
    speakWith(fields) {
      const synthesize = createSynthesizer({ ...shared, fields });
      const identity = service.identityOf ? service.identityOf(fields.speaker) : service.url.href;
      if (!kept || identity === undefined) return synthesize;
      return keeping(kept, { ...fields, identity }, synthesize, onEvent);
    },
    async [Symbol.asyncDispose]() {
      await closeQuietly(() => transport.close(), context.notices);
      if (kept) await closeQuietly(() => kept.close(), context.notices);
    },
  };
}

function keeping(
  kept: Kept,
  shape: VoiceShape,
  synthesize: Synthesize,
  onEvent: (event: ServiceEvent) => void,
): Synthesize {
  return async (text, signal) => {
    const { index } = text;
    let found: 'hit' | 'miss' = 'hit';
    const make = () => {
      found = 'miss';
      onEvent({ type: 'cache', index, found });
      return synthesize(text, signal);
    };
    const speech = await kept.get({ shape, text: text.text }, make, signal);
    if (found === 'hit') onEvent({ type: 'cache', index, found });
    return speech;
  };
}
