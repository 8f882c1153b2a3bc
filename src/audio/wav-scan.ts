import { isFourCC } from './fourcc.ts';

/** `RIFF`, four bytes of size, `WAVE`, and the name of a chunk: enough for no sound to look like it by chance. */
export const SCAN_BYTES = 16;

const RIFF = Buffer.from('RIFF', 'latin1');
const WAVE = Buffer.from('WAVE', 'latin1');

/** How many bytes of samples come before the next thing that is a WAV header, or may be one when more has come. */
export function bytesBeforeHeader(piece: Uint8Array): number {
  const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
  for (let at = bytes.indexOf(RIFF); at !== -1; at = bytes.indexOf(RIFF, at + 1)) {
    if (mayBeHeader(bytes, at)) return at;
  }
  for (let at = Math.max(0, bytes.length - RIFF.length + 1); at < bytes.length; at++) {
    if (mayBeHeader(bytes, at)) return at;
  }
  return bytes.length;
}

/** Whether a WAV header begins here for sure. */
export function isHeader(bytes: Uint8Array): boolean {
  return bytes.length >= SCAN_BYTES && mayBeHeader(bytes, 0);
}

function mayBeHeader(bytes: Uint8Array, at: number): boolean {
  if (!agrees(bytes, at, RIFF) || !agrees(bytes, at + 8, WAVE)) return false;
  return bytes.length < at + SCAN_BYTES || isFourCC(bytes, at + 12);
}

/** Whether the name stands there, as far as there are bytes. */
function agrees(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  return name.every((byte, i) => at + i >= bytes.length || bytes[at + i] === byte);
}
