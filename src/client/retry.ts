import { setTimeout as sleep } from 'node:timers/promises';
import { TtsError } from '../error.ts';

/** Wait before the first further try, in seconds; doubles with each try. */
const FIRST_WAIT = 0.5;
const LONGEST_WAIT = 30;
/** The least of a `Retry-After`: a service that asks for less is not flooded either. */
const SHORTEST_REQUESTED_WAIT = 0.05;
/** The run fails where the service asks for a longer wait, in seconds. */
export const LONGEST_REQUESTED_WAIT = 3600;

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/** True if the same request may succeed after an answer of this status. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}

interface Tries {
  /** Further tries made so far. */
  readonly made: number;
  readonly allowed: number;
}

/**
 * Seconds to wait before a further try, or `undefined` to give up: what the error asks for, otherwise twice as long each
 * time. Half of that is random, so that many clients do not come back at once.
 * @param chance from 0 to 1
 */
export function retryDelay(
  { retry }: TtsError,
  { made, allowed }: Tries,
  chance: number,
): number | undefined {
  if (!retry || made >= allowed) return undefined;
  // Other kept connections may be lost at the same moment: only the first further try needs no wait.
  const isRepeated = retry.after === 0 && made > 0;
  if (retry.after === undefined || isRepeated)
    return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** made) * (0.5 + chance / 2);
  return retry.after > LONGEST_REQUESTED_WAIT ? undefined : retry.after;
}

/** Stands for larger numbers (RFC 9111, section 1.2.2). */
const LARGEST_SECONDS = 2 ** 31;

/**
 * Seconds of a `Retry-After` header (RFC 9110, section 10.2.3), at least 0.05; it holds a number of them or a date.
 * `undefined` where it holds neither.
 * @param now in milliseconds since 1970
 */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text));
  // One of the three forms of a date names no zone; all are in GMT.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(/\d$/.test(text) ? `${text} GMT` : text) : Number.NaN;
  return Number.isNaN(date) ? undefined : bounded((date - now) / 1000);
}

function bounded(seconds: number): number {
  return Math.min(LARGEST_SECONDS, Math.max(SHORTEST_REQUESTED_WAIT, seconds));
}

export interface RetryPolicy {
  /** Further tries that may be made. */
  readonly retries: number;
  readonly onEvent: (event: ClientEvent) => void;
}

/** Changes while one request is tried. */
export interface RetryState {
  /** Further tries made so far. */
  made: number;
}

/**
 * Waits for the next try.
 * @throws the error itself where another try makes no sense, or none is left; the signal's reason
 */
export async function waitOrGiveUp(
  error: unknown,
  { retries, onEvent }: RetryPolicy,
  state: RetryState,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof TtsError) || signal.aborted) throw error;
  const seconds = retryDelay(error, { made: state.made, allowed: retries }, Math.random());
  if (seconds === undefined) throw error;
  state.made += 1;
  onEvent({ type: 'retry', error, seconds });
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}

/** Progress of the requests. */
export type ClientEvent =
  | { readonly type: 'request'; readonly url: URL; readonly body: string }
  | { readonly type: 'answer'; readonly status: number; readonly milliseconds: number }
  | { readonly type: 'retry'; readonly error: TtsError; readonly seconds: number }
  | { readonly type: 'other take' }
  | { readonly type: 'leftover'; readonly bytes: number };
