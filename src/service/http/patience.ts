import type { Engine } from '../engine.ts';
import { Refusal } from '../refusal.ts';

/** Requests that a worker gets to in a second, roughly: their first segments are short. */
const IN_A_SECOND = 10;

/** Seconds. Who waits is not sent away for longer than people wait. */
const LONGEST = 60;

/** Where an engine has too much to do, the time in which it gets to all that wait already is the least to stay away. */
export function withPatience(
  error: unknown,
  { workers, queued }: Pick<Engine, 'workers' | 'queued'>,
): unknown {
  if (!(error instanceof Refusal) || error.status !== 503) return error;
  const { status, code, message, field, retryAfter = 1 } = error;
  const waiting = Math.min(LONGEST, queued / (Math.max(1, workers) * IN_A_SECOND));
  return new Refusal(status, code, message, { field, retryAfter: Math.max(retryAfter, Math.ceil(waiting)) });
}
