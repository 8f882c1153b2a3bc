/** G.711 in tables: the byte of each 16-bit sample, by its bits. */
export function lawTable(law: 'alaw' | 'ulaw'): Uint8Array {
  const encode = law === 'alaw' ? toALaw : toMuLaw;
  return Uint8Array.from({ length: 65_536 }, (_, bits) => encode(bits < 32_768 ? bits : bits - 65_536));
}

const MU_BIAS = 132;
const MU_CLIP = 32_635;

function toMuLaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), MU_CLIP) + MU_BIAS;
  const exponent = 24 - Math.clz32(magnitude);
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

function toALaw(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80;
  // Thirteen bits count, and those of a negative sample are its complement.
  const magnitude = (sample < 0 ? ~sample : sample) >> 3;
  const exponent = Math.max(0, 27 - Math.clz32(magnitude));
  const mantissa = (magnitude >> Math.max(1, exponent)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}
