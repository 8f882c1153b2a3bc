import type { Speech } from '../../../src/sound/pcm.ts';
import { speechFormat } from '../sound/wav-builder.ts';

/** A sound of this many pieces, each of which tells its number in its first two bytes; they are counted as they are taken. */
export function countedSound(pieces: number, { bytes = 2, taken = { pieces: 0 } } = {}): Speech {
  async function* pcm() {
    for (let piece = 0; piece < pieces; piece++) {
      taken.pieces += 1;
      const sound = Buffer.alloc(bytes);
      sound.writeUInt16LE(piece);
      yield sound;
    }
  }
  return { format: speechFormat, bytes: undefined, pcm: pcm() };
}
