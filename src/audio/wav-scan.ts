import { isFourCC } from './fourcc.ts';

/** `RIFF`, four bytes of size, `WAVE`, and the name of a chunk: enough for no sound to look like it by chance. */
export const SCAN_BYTES = 16;

const RIFF = Buffer.from('RIFF', 'latin1');
const WAVE = Buffer.from('WAVE', 'latin1');

/** How many bytes of samples come before the next thing that is a WAV header, or may be one when more has come. */
export function bytesBeforeHeader(piece: Uint8Array): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  for (let at = bytes.indexOf(RIFF); at !== -1; at = bytes.indexOf(RIFF, at + 1)) {
    if (mayBeHeader(bytes.subarray(at))) return at;
  }
  for (let at = Math.max(0, bytes.length - RIFF.length + 1); at < bytes.length; at++) {
    if (mayBeHeader(bytes.subarray(at))) return at;
  }
  return bytes.length;
}

/** Whether a WAV header begins here for sure. */
export function isHeader(bytes: Uint8Array): boolean {
  return bytes.length >= SCAN_BYTES && mayBeHeader(bytes);
}

function mayBeHeader(bytes: Uint8Array): boolean {
  return (
    agrees(bytes, RIFF) &&
    agrees(bytes.subarray(8), WAVE) &&
    (bytes.length < SCAN_BYTES || isFourCC(bytes, 12))
  );
}

/** Whether bytes and name are the same as far as there are bytes. */
function agrees(bytes: Uint8Array, name: Buffer): boolean {
  const shared = Math.min(bytes.length, name.length);
  return name.subarray(0, shared).equals(bytes.subarray(0, shared));
}
