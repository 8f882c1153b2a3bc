import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, TtsError } from './error.ts';

/** Seconds. The wait doubles with each try. */
const FIRST_WAIT = 0.5;
const LONGEST_WAIT = 30;
/** Seconds. A longer wait ends the run. */
export const LONGEST_REQUESTED_WAIT = 3600;

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}

interface Tries {
  readonly made: number;
  readonly allowed: number;
}

/**
 * Half of a wait that the service did not ask for is random, so that clients do not return together.
 * @param chance a number from 0 to 1
 * @returns seconds; `undefined` if it was the last try
 */
export function retryDelay(
  { retry }: TtsError,
  { made, allowed }: Tries,
  chance: number,
): number | undefined {
  if (!retry || made >= allowed) return undefined;
  // Other kept connections may be lost, too: only the first further try goes without a wait.
  const isRepeated = retry.after === 0 && made > 0;
  if (retry.after === undefined || isRepeated)
    return Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** made) * (0.5 + chance / 2);
  return retry.after > LONGEST_REQUESTED_WAIT ? undefined : retry.after;
}

export interface RetryPolicy {
  readonly retries: number;
  readonly onEvent: (event: ClientEvent) => void;
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
  { retries, onEvent }: RetryPolicy,
  state: RetryState,
  signal: AbortSignal,
): Promise<void> {
  if (!(error instanceof TtsError) || signal.aborted) throw error;
  const isQuick = state.hasFallback === true && isConnectionRefused(error);
  const allowed = isQuick ? Math.min(1, retries) : retries;
  const delay = retryDelay(error, { made: state.made, allowed }, Math.random());
  const seconds = isQuick && delay !== undefined ? QUICK_WAIT : delay;
  if (seconds === undefined) throw error;
  state.made += 1;
  onEvent({ type: 'retry', error, seconds });
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}

export interface NumberedText {
  readonly text: string;
  /** The same as it stands in the text of the run. It was sent like this before, and sound of it may be kept. */
  readonly written?: string | undefined;
  /** The place of the text among those of its run. */
  readonly index: number;
  /**
   * The place among the texts of all rows of a batch: the earliest goes first. An error then says nothing about the others.
   */
  readonly order?: number | undefined;
  /** True where another voice speaks the text if this one gives up. */
  readonly hasFallback?: boolean | undefined;
}

export type ClientEvent =
  | ({
      readonly type: 'request';
      /** It names who speaks, where no service is asked. */
      readonly by?: string;
      /** It is missing where no service is asked. */
      readonly post?: { readonly url: URL; readonly body: string };
    } & NumberedText)
  | {
      readonly type: 'answer';
      readonly index: number;
      /** It is missing for a voice of this program. */
      readonly status?: number;
      readonly milliseconds: number;
    }
  | { readonly type: 'retry'; readonly error: TtsError; readonly seconds: number }
  /** The sound of an engine did not fit its text. `in parts`: the text was then spoken in smaller parts. */
  | { readonly type: 'cut'; readonly message: string; readonly how: 'in parts' | 'late' | 'heard' }
  | { readonly type: 'other take' }
  | { readonly type: 'ignored'; readonly instructions: string }
  | { readonly type: 'leftover'; readonly bytes: number };
