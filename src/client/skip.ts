import { ExitCode, TtsError } from '../error.ts';

/**
 * Drops bytes that were delivered before. Pieces end at frame borders, and so does what was delivered.
 * @throws TtsError (service), to be tried again, when there are fewer
 */
export function skip(pcm: AsyncIterable<Uint8Array>, bytes: number): AsyncIterable<Uint8Array> {
  return bytes === 0 ? pcm : behind(pcm, bytes);
}

async function* behind(pcm: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of pcm) {
    if (piece.length > left) yield left === 0 ? piece : piece.subarray(left);
    left -= Math.min(left, piece.length);
  }
  if (left > 0)
    throw new TtsError('asked again, the service sent less audio than before', {
      exitCode: ExitCode.service,
      hint: 'try again without --stream',
      retry: {},
    });
}
