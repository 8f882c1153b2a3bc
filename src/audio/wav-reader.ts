import { ByteReader } from './byte-reader.ts';
import { frameBytes, type Speech } from './pcm.ts';
import { WavError } from './wav-format.ts';
import { readSamples } from './wav-samples.ts';
import { beginsWav, endsEarly, RIFF_BYTES, readStart, type WavStart } from './wav-start.ts';

/** Bytes of a body that is no WAV which are quoted. */
export const HEAD_BYTES = 1024;

/** The shortest WAV there is: a canonical header. */
const SMALLEST_WAV_BYTES = 44;

export interface WavOptions {
  /** Bytes of the body, if known. */
  readonly bodyBytes?: number | undefined;
  /** Bytes of a body that is no WAV which are waited for, to be quoted: {@link HEAD_BYTES} unless set. */
  readonly quotedBytes?: number | undefined;
  /** Hears of kilobytes behind the samples that are no chunk: the data size may have left sound out. */
  readonly onLeftover?: ((bytes: number) => void) | undefined;
}

/**
 * Reads a WAV from pieces of any size. Resolves where its samples begin; `pcm` then reads to the end of the body, and
 * closes it if the reader of `pcm` leaves before. What is no sample is dropped: chunks before and behind, further
 * headers, a last frame that is not whole.
 *
 * @throws WavError here and while `pcm` is iterated; errors of the body pass through unchanged
 */
export async function readWav(body: AsyncIterable<Uint8Array>, options: WavOptions = {}): Promise<Speech> {
  const reader = new ByteReader(body);
  try {
    await expectWav(reader, options.quotedBytes ?? HEAD_BYTES);
    const start = await readStart(reader);
    const bytes = totalBytes(start, reader.position, options.bodyBytes);
    return { format: start.format, bytes, pcm: readSamples(reader, start, options.onLeftover) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

async function expectWav(reader: ByteReader, quotedBytes: number): Promise<void> {
  const head = Buffer.from(await reader.peek(RIFF_BYTES));
  if (beginsWav(head)) return;
  if (head.length === 0) throw new WavError('incomplete', 'empty answer instead of a WAV', head);
  const id = head.toString('latin1', 0, 4);
  if (head.length < RIFF_BYTES && ['RIFF', 'RF64'].some((whole) => whole.startsWith(id))) throw endsEarly();
  if (id === 'RIFX') throw new WavError('unsupported', 'big-endian WAV (RIFX)');
  // The identifier of Sony Wave64 begins so; only its header has lower case letters here.
  if (head.toString('hex') === '726966662e91cf11a5d628db')
    throw new WavError('unsupported', 'Wave64 instead of WAV');
  throw new WavError('not-wav', 'no WAV', Uint8Array.from(await reader.peek(quotedBytes)));
}

/** Known if the body has no room for a further WAV: some services send several as one answer. */
function totalBytes(
  { format, size, end = 0 }: WavStart,
  position: number,
  bodyBytes: number | undefined,
): number | undefined {
  if (size === undefined || bodyBytes === undefined) return undefined;
  // The header promises more than the body has.
  if (position + size > bodyBytes) return undefined;
  const wav = Math.max(position + size, end <= bodyBytes ? end : 0);
  return bodyBytes - wav < SMALLEST_WAV_BYTES ? size - (size % frameBytes(format)) : undefined;
}
