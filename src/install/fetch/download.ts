import { type ClientEvent, type RetryState, waitOrGiveUp } from '../../client/retry.ts';
import type { TtsError } from '../../error.ts';
import { assertGood, type Fetcher } from './answer.ts';
import { type Downloaded, Part, type Wanted, WrongBytes, wrongBytes, wrongChecksum } from './part.ts';

export interface DownloadOptions {
  readonly fetcher: Fetcher;
  /** The folder of files that are not there to their end. */
  readonly parts: string;
  readonly retries: number;
  readonly timeoutMs: number;
  /** @param bytes that are there of the file */
  readonly onProgress: (bytes: number) => void;
  readonly onRetry: (error: TtsError, seconds: number) => void;
}

/**
 * Downloads a file, or the rest of it. What came stays for the next run, also after a failure.
 * @throws TtsError; bytes with a wrong checksum do not stay
 */
export async function download(
  wanted: Wanted,
  options: DownloadOptions,
  signal: AbortSignal,
): Promise<Downloaded> {
  const part = new Part(wanted, options.parts);
  const state: RetryState = { made: 0 };
  for (let hasRestarted = false; ; ) {
    const isResumed = part.size > 0;
    try {
      await fill(part, wanted, options, signal);
      const done = await part.checked();
      if (done) return done;
      part.remove();
      throw wrongChecksum(wanted);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof WrongBytes && isResumed && !hasRestarted) {
        part.remove();
        hasRestarted = true;
        continue;
      }
      const onEvent = (event: ClientEvent) => {
        if (event.type === 'retry') options.onRetry(event.error, event.seconds);
      };
      await waitOrGiveUp(error, { retries: options.retries, onEvent }, state, signal);
    }
  }
}

/** Asks for what is missing of the file, if anything is. */
async function fill(
  part: Part,
  wanted: Wanted,
  { fetcher, timeoutMs, onProgress }: DownloadOptions,
  signal: AbortSignal,
): Promise<void> {
  if (part.size > 0 && part.size === wanted.size) return;
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  try {
    const answer = await fetcher.get(wanted.url, part.headers(), until);
    await assertGood(answer, wanted.name);
    if (answer.status === 416) {
      if (part.isWhole(answer)) return;
      throw wrongBytes(`${answer.url.host} has no more of ${wanted.name}`);
    }
    await part.write(answer, { onProgress, timeoutMs });
  } finally {
    over.abort(new Error('the answer is read'));
  }
}
