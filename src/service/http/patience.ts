import { DEFAULT_RETRY_AFTER } from '../defaults.ts';
import type { Engine } from '../engine.ts';
import { Refusal } from '../refusal.ts';

/** Requests that a worker gets to in a second, roughly: their first segments are short. */
const IN_A_SECOND = 10;

/** Seconds. Who waits is not sent away for longer than people wait. */
const LONGEST = 60;

/** `Retry-After` is at least the time the engine needs to reach everyone who already waits. */
export function withPatience(
  error: unknown,
  { workers, queued }: Pick<Engine, 'workers' | 'queued'>,
): unknown {
  if (!(error instanceof Refusal) || error.status !== 503) return error;
  const { status, code, message, field, retryAfter = DEFAULT_RETRY_AFTER } = error;
  const waiting = Math.min(LONGEST, queued / (Math.max(1, workers) * IN_A_SECOND));
  return new Refusal(status, code, message, { field, retryAfter: Math.max(retryAfter, Math.ceil(waiting)) });
}
