import { ExitCode, TtsError } from '../error.ts';

interface Beginning {
  readonly bytes: Uint8Array;
  /** There was no more, and nothing broke. */
  readonly isWhole: boolean;
}

/**
 * The beginning of a body; what follows, or breaks, is not worth another error.
 * @param most bytes
 * @param forMs so long is read at most
 */
export async function firstBytes(
  body: AsyncIterable<Uint8Array>,
  most: number,
  forMs?: number,
): Promise<Beginning> {
  const items = body[Symbol.asyncIterator]();
  const leave = () => items.return?.()?.catch(() => {});
  const timer = forMs === undefined ? undefined : setTimeout(leave, forMs);
  const pieces: Uint8Array[] = [];
  let length = 0;
  let isWhole = false;
  try {
    while (length < most && !isWhole) {
      const { done, value } = await items.next();
      if (!done) pieces.push(value);
      length += value?.length ?? 0;
      isWhole = done === true;
    }
  } catch (error) {
    // An interruption is one here too; that a body cannot be unpacked only costs its words.
    if (error instanceof TtsError && error.exitCode !== ExitCode.service) throw error;
  } finally {
    clearTimeout(timer);
    await leave();
  }
  return { bytes: Buffer.concat(pieces).subarray(0, most), isWhole };
}
