import type { PcmFormat } from '../../audio/pcm.ts';
import { wavHeader } from '../../audio/wav-header.ts';
import type { HeaderFault } from './fault.ts';

/** Where the sizes of the RIFF and of the data chunk stand in a header of 44 bytes. */
const SIZE_OFFSETS = [4, 40] as const;

/** The bytes in front of the samples. */
export function leadingHeader(format: PcmFormat, bytes: number | undefined, fault?: HeaderFault): Uint8Array {
  if (fault === 'none' || fault === 'per-chunk') return new Uint8Array(0);
  const header = wavHeader(format, bytes);
  if (fault === undefined) return header;
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  for (const offset of SIZE_OFFSETS) view.setUint32(offset, fault === 'max' ? 0xffff_ffff : 0, true);
  return header;
}

/** Puts a header of its own in front of each piece, as services do that join ready-made files. */
export async function* withHeaderEach(pcm: AsyncIterable<Uint8Array>, format: PcmFormat) {
  for await (const piece of pcm) {
    yield wavHeader(format, piece.length);
    yield piece;
  }
}
