import { randomBytes } from 'node:crypto';

/**
 * HalfSipHash-1-3 under a random key: a table cannot hold many ids with one hash.
 * Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF"; the reference code's 32-bit variant.
 */
export function keyedHash(key: Buffer = randomBytes(8)): (text: string) => number {
  const [k0, k1] = [key.readInt32LE(0), key.readInt32LE(4)];
  return (text) => {
    let [v0, v1, v2, v3] = [k0, k1, 0x6c796765 ^ k0, 0x74656462 ^ k1];
    const round = () => {
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
    };
    const mix = (word: number) => {
      v3 ^= word;
      round();
      v0 ^= word;
    };
    const whole = text.length - (text.length % 2);
    for (let at = 0; at < whole; at += 2) mix(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16));
    // The top byte counts bytes, as in the source: a unit of text has two.
    mix(((2 * text.length) << 24) | (whole < text.length ? text.charCodeAt(whole) : 0));
    v2 ^= 0xff;
    for (let left = 3; left > 0; left -= 1) round();
    return v1 ^ v3;
  };
}

function turned(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
