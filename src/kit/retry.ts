import { codeOf, TtsError } from './error.ts';
import { delay } from './wait.ts';

/** Seconds. The wait doubles with each try. */
const FIRST_WAIT = 0.5;
const LONGEST_WAIT = 30;
/** Seconds. A longer wait that a service asks for ends the run. */
export const LONGEST_REQUESTED_WAIT = 3600;

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

/** 520 to 529 are what proxies such as Cloudflare's say of the service behind them, and 529 is an overload. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status) || (status >= 520 && status <= 529);
}

/** True for a status that asks for fewer requests. */
export function isBusy(status: number): boolean {
  return status === 429 || status === 503 || status === 529;
}

interface Tries {
  readonly made: number;
  readonly allowed: number;
  /** As in {@link RetryPolicy}. */
  readonly longestWait?: number | undefined;
}

/**
 * Half of a wait that the service did not ask for is random, so that clients do not return together.
 * @param chance a number from 0 to 1
 * @returns seconds; `undefined` if it was the last try
 */
export function retryDelay(
  { retry }: TtsError,
  { made, allowed, longestWait = LONGEST_REQUESTED_WAIT }: Tries,
  chance: number,
): number | undefined {
  if (!retry || made >= allowed) return undefined;
  // Other kept connections may be lost, too: only the first further try goes without a wait.
  const isRepeated = retry.after === 0 && made > 0;
  if (retry.after === undefined || isRepeated)
    return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** made) * (0.5 + chance / 2);
  return retry.after > longestWait ? undefined : retry.after;
}

export interface RetryPolicy {
  /** Tries after the first. */
  readonly retries: number;
  /** Seconds that are waited at most where a service asks to wait; `LONGEST_REQUESTED_WAIT` by default. */
  readonly longestWait?: number | undefined;
  /** It is called before the wait. */
  readonly onRetry?: ((event: { readonly error: TtsError; readonly seconds: number }) => void) | undefined;
}

export interface RetryState {
  made: number;
  /** True where another voice speaks the text if this one gives up. */
  readonly hasFallback?: boolean | undefined;
}

/** Seconds until the only further try at a service that refuses connections, where another voice may speak at once. */
const QUICK_WAIT = 0.1;

/** True where nothing listens. That is known at once, and lasts. */
function isConnectionRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (codeOf(cause) === 'ECONNREFUSED') return true;
  return false;
}

/** @throws the error itself after the last try */
export async function waitOrGiveUp(
  error: unknown,
  { retries, longestWait, onRetry }: RetryPolicy,
  state: RetryState,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof TtsError) || signal.aborted) throw error;
  const isQuick = state.hasFallback === true && isConnectionRefused(error);
  const allowed = isQuick ? Math.min(1, retries) : retries;
  const usual = retryDelay(error, { made: state.made, allowed, longestWait }, Math.random());
  const seconds = isQuick && usual !== undefined ? QUICK_WAIT : usual;
  if (seconds === undefined) throw error;
  state.made += 1;
  onRetry?.({ error, seconds });
  await delay(seconds * 1000, signal);
}
