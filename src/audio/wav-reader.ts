import { ByteReader } from './byte-reader.ts';
import { frameBytes, type Speech } from './pcm.ts';
import { WavError } from './wav-format.ts';
import { readSamples } from './wav-samples.ts';
import { beginsWav, endsEarly, RIFF_BYTES, readStart, WAV_NAMES, type WavStart } from './wav-start.ts';

export const QUOTED_BYTES = 1024;

const SMALLEST_WAV_BYTES = 44;

export interface WavOptions {
  readonly bodyBytes?: number | undefined;
  /** The default is {@link QUOTED_BYTES}. */
  readonly quotedBytes?: number | undefined;
  /** It is called if a kilobyte or more after the samples is not a chunk. */
  readonly onLeftover?: ((bytes: number) => void) | undefined;
}

/**
 * Reads up to the first sample. The sound comes without chunks, further headers and a torn last frame.
 * @throws WavError here and while `pcm` is iterated
 */
export async function readWav(body: AsyncIterable<Uint8Array>, options: WavOptions = {}): Promise<Speech> {
  const reader = new ByteReader(body);
  try {
    await expectWav(reader, options.quotedBytes ?? QUOTED_BYTES);
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
  if (head.length < RIFF_BYTES && WAV_NAMES.some((whole) => whole.startsWith(id))) throw endsEarly();
  if (id === 'RIFX') throw new WavError('unsupported', 'big-endian WAV (RIFX)');
  // This is the GUID of Sony Wave64.
  if (head.toString('hex') === '726966662e91cf11a5d628db')
    throw new WavError('unsupported', 'Wave64 instead of WAV');
  throw new WavError('not-wav', 'no WAV', Uint8Array.from(await reader.peek(quotedBytes)));
}

/** Adds up the sizes of all WAVs in the body: some services send several. */
function totalBytes(
  { format, size, end = 0 }: WavStart,
  position: number,
  bodyBytes: number | undefined,
): number | undefined {
  if (size === undefined || bodyBytes === undefined) return undefined;
  if (position + size > bodyBytes) return undefined;
  const wav = Math.max(position + size, end <= bodyBytes ? end : 0);
  return bodyBytes - wav < SMALLEST_WAV_BYTES ? size - (size % frameBytes(format)) : undefined;
}
