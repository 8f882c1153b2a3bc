import { setTimeout as sleep } from 'node:timers/promises';
import { TtsError } from '../error.ts';

/** Wait before the first further try, in seconds; it doubles with each. */
const FIRST_WAIT = 0.5;
const LONGEST_WAIT = 30;
/** A service that asks for less is not to be stormed all the same. */
const SHORTEST_WAIT = 0.05;
/** Whoever is asked to wait longer, in seconds, is better told at once. */
export const LONGEST_REQUESTED_WAIT = 3600;

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Whether the same request may well succeed after an answer of this status. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}

export interface Tries {
  /** Further tries made so far. */
  readonly made: number;
  readonly allowed: number;
}

/**
 * Seconds to wait before a further try, or `undefined` to give up: what the service asked for, otherwise twice as long
 * each time. Half of the own wait is left to chance, so that many clients do not come back at once.
 * @param chance from 0 to 1
 */
export function retryDelay(
  { retry }: TtsError,
  { made, allowed }: Tries,
  chance: number,
): number | undefined {
  if (!retry || made >= allowed) return undefined;
  if (retry.after === undefined) return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** made) * (0.5 + chance / 2);
  return retry.after > LONGEST_REQUESTED_WAIT ? undefined : Math.max(SHORTEST_WAIT, retry.after);
}

/** What a number stands for that is too large to count with (RFC 9111, section 1.2.2). */
const LARGEST_SECONDS = 2 ** 31;

/**
 * Seconds of a `Retry-After` header (RFC 9110, section 10.2.3): a number of them, or a date. `undefined` where it
 * says neither.
 * @param now in milliseconds since 1970
 */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(LARGEST_SECONDS, Number(text));
  // One of the three forms of a date there names no zone; all are meant in GMT.
  const date = /^[A-Za-z]/.test(text) ? Date.parse(/\d$/.test(text) ? `${text} GMT` : text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}

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

/** What a run may want to tell while it waits. */
export type ClientEvent =
  | { readonly type: 'request'; readonly url: URL; readonly body: string }
  | { readonly type: 'answer'; readonly status: number; readonly milliseconds: number }
  | { readonly type: 'retry'; readonly error: TtsError; readonly seconds: number }
  | { readonly type: 'other take' };
