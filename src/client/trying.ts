import { setTimeout as sleep } from 'node:timers/promises';
import { TtsError } from '../error.ts';
import type { ClientEvent } from './event.ts';
import { retryDelay } from './retry.ts';

export interface Patience {
  /** Further tries that may be made. */
  readonly retries: number;
  readonly tell: (event: ClientEvent) => void;
}

/** One request with all its tries. */
export interface Trying {
  readonly signal: AbortSignal;
  /** Further tries made so far. */
  readonly tries: { made: number };
}

/** Makes a request, and makes it again as long as it fails for the moment only. */
export async function trying<T>(attempt: () => Promise<T>, patience: Patience, request: Trying): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      await waitOrGiveUp(error, patience, request);
    }
  }
}

/** @throws the error itself where another try makes no sense, or none is left; the signal's reason */
export async function waitOrGiveUp(
  error: unknown,
  { retries, tell }: Patience,
  { signal, tries }: Trying,
): Promise<void> {
  if (!(error instanceof TtsError) || signal.aborted) throw error;
  const seconds = retryDelay(error, { made: tries.made, allowed: retries }, Math.random());
  if (seconds === undefined) throw error;
  tries.made += 1;
  tell({ type: 'retry', error, seconds });
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}
