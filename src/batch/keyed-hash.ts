import { randomBytes } from 'node:crypto';

/**
 * HalfSipHash-1-3 under a random key: a table cannot hold many ids with one hash.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF"; the reference code's 32-bit variant.
 */
export function keyedHash(key: Buffer = randomBytes(8)): (text: string) => number {
  const [k0, k1] = [key.readInt32LE(0), key.readInt32LE(4)];
  return (text) => {
    let v0 = k0;
    let v1 = k1;
    let v2 = 0x6c796765 ^ k0;
    let v3 = 0x74656462 ^ k1;
    const wordCount = Math.floor(text.length / 2) + 1;
    for (let at = 0; at < wordCount + FINISHING_ROUNDS; at += 1) {
      if (at === wordCount) v2 ^= 0xff;
      const word = wordAt(text, at);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = turned(v1, 5) ^ v0;
      v0 = turned(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = turned(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = turned(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = turned(v1, 13) ^ v2;
      v2 = turned(v2, 16);
      v0 ^= word;
    }
    return v1 ^ v3;
  };
}

const FINISHING_ROUNDS = 3;

/** The last word has the number of bytes in its top byte, as in the source: a unit of text has two. Behind it are zeros. */
function wordAt(text: string, at: number): number {
  const first = 2 * at;
  if (first > text.length) return 0;
  const low = first < text.length ? text.charCodeAt(first) : 0;
  return low | (first + 1 < text.length ? text.charCodeAt(first + 1) << 16 : (2 * text.length) << 24);
}

function turned(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
