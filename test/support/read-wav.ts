/** The fields of a canonical header, and the bytes after it. */
export interface Wav {
  readonly riffSize: number;
  readonly tag: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly byteRate: number;
  readonly blockAlign: number;
  readonly bits: number;
  readonly dataSize: number;
  readonly pcm: Buffer;
}

/** Reads a WAV in the form that tts writes: a header of 44 bytes (58 for floats), then only samples. */
export function parseWav(bytes: Buffer): Wav {
  const tag = bytes.readUInt16LE(20);
  const dataAt = tag === 1 ? 36 : 50;
  const magic = [bytes.toString('latin1', 0, 4), bytes.toString('latin1', 8, 16)].join();
  if (magic !== 'RIFF,WAVEfmt ' || bytes.toString('latin1', dataAt, dataAt + 4) !== 'data')
    throw new Error(`no canonical WAV: ${bytes.toString('hex', 0, 64)}`);
  return {
    riffSize: bytes.readUInt32LE(4),
    tag,
    channels: bytes.readUInt16LE(22),
    sampleRate: bytes.readUInt32LE(24),
    byteRate: bytes.readUInt32LE(28),
    blockAlign: bytes.readUInt16LE(32),
    bits: bytes.readUInt16LE(34),
    dataSize: bytes.readUInt32LE(dataAt + 4),
    pcm: bytes.subarray(dataAt + 8),
  };
}

/** Checks the sizes in a WAV, and returns the samples without the padding byte. */
export function wholePcm(bytes: Buffer): Buffer {
  const { riffSize, dataSize, pcm } = parseWav(bytes);
  const padding = dataSize % 2;
  if (riffSize !== bytes.length - 8 || dataSize + padding !== pcm.length)
    throw new Error(`sizes ${riffSize} and ${dataSize} in a file of ${bytes.length} bytes`);
  return pcm.subarray(0, dataSize);
}
