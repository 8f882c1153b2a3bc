import type { PcmFormat } from '../../../src/sound/pcm.ts';

export const speechFormat: PcmFormat = {
  encoding: 'integer',
  sampleRate: 22_050,
  channels: 1,
  bitsPerSample: 16,
};

/** A RIFF chunk; its size may lie, and its padding may be missing. */
export function chunk(
  id: string,
  content: Uint8Array,
  { size = content.length, pad = true }: { size?: number; pad?: boolean } = {},
): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(pad ? content.length % 2 : 0)]);
}

export interface FmtFields {
  readonly tag?: number;
  readonly byteRate?: number;
  readonly blockAlign?: number;
  readonly bits?: number;
  readonly extra?: Uint8Array;
}

/** The content of a `fmt ` chunk: 16 bytes and what is `extra`. */
export function fmt(format: PcmFormat, fields: FmtFields = {}): Buffer {
  const bits = fields.bits ?? format.bitsPerSample;
  const frame = (format.channels * format.bitsPerSample) / 8;
  const content = Buffer.alloc(16);
  content.writeUInt16LE(fields.tag ?? (format.encoding === 'float' ? 3 : 1), 0);
  content.writeUInt16LE(format.channels, 2);
  content.writeUInt32LE(format.sampleRate, 4);
  content.writeUInt32LE(fields.byteRate ?? (format.sampleRate * frame) % 2 ** 32, 8);
  content.writeUInt16LE(fields.blockAlign ?? frame, 12);
  content.writeUInt16LE(bits, 14);
  return Buffer.concat([content, fields.extra ?? Buffer.alloc(0)]);
}

/** Tells of the usual format. */
export const fmtChunk = chunk('fmt ', fmt(speechFormat));

const GUID_TAIL = '000000001000800000aa00389b71';

/** WAVEFORMATEXTENSIBLE, with the subformat of the encoding unless another is given as 32 hex digits. */
export function extensibleFmt(format: PcmFormat, subformat?: string): Buffer {
  const own = `${format.encoding === 'float' ? '0300' : '0100'}${GUID_TAIL}`;
  const extension = Buffer.alloc(8);
  extension.writeUInt16LE(22, 0);
  extension.writeUInt16LE(format.bitsPerSample, 2);
  return fmt(format, {
    tag: 0xfffe,
    extra: Buffer.concat([extension, Buffer.from(subformat ?? own, 'hex')]),
  });
}

/** `RIFF`, size and `WAVE` in front of chunks. */
export function riff(chunks: readonly Uint8Array[], magic = 'RIFF', size?: number): Buffer {
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks]);
  return chunk(magic, body, { size: size ?? body.length, pad: false });
}

/** The plainest WAV; its data size may lie. */
export function plainWav(pcm: Uint8Array, size?: number, format: PcmFormat = speechFormat): Buffer {
  return riff([
    chunk('fmt ', fmt(format)),
    chunk('data', pcm, size === undefined ? {} : { size, pad: false }),
  ]);
}

/** Bytes that differ from their neighbours, so that a shift of one byte shows. */
export function sound(bytes: number, seed = 1): Buffer {
  return Buffer.from(Array.from({ length: bytes }, (_, i) => ((i + seed) * 37 + (i >> 8)) % 251));
}
