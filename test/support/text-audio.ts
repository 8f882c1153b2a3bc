import { wavHeader } from '../../src/sound/encode/wav.ts';

/** The format of sound that encodes a text byte by byte: 16-bit mono. */
function textFormat(sampleRate: number) {
  return { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 } as const;
}

/** Encodes each UTF-8 byte of a text as this many equal samples of its value plus one, since 0 is silence. */
function soundOf(text: string, framesPerByte = 1): Buffer {
  const bytes = Buffer.from(text);
  const samples = new Int16Array(bytes.length * framesPerByte);
  for (const [i, byte] of bytes.entries()) samples.fill(byte + 1, i * framesPerByte, (i + 1) * framesPerByte);
  return Buffer.from(samples.buffer);
}

export function wavOf(text: string, { sampleRate = 22_050, framesPerByte = 1, sized = true } = {}): Buffer {
  const pcm = soundOf(text, framesPerByte);
  return Buffer.concat([wavHeader(textFormat(sampleRate), sized ? pcm.length : undefined), pcm]);
}

/**
 * Decodes the text of a sound, without pauses. Fails for bytes that are torn, and shows those that are missing or doubled.
 */
export function textOf(pcm: Buffer, framesPerByte = 1): string {
  const bytes = Buffer.alloc(pcm.length / 2 / framesPerByte);
  let length = 0;
  for (let at = 0; at < pcm.length; ) {
    const sample = pcm.readInt16LE(at);
    const frames = sample === 0 ? 1 : framesPerByte;
    for (let i = 0; i < frames; i++)
      if (pcm.readInt16LE(at + 2 * i) !== sample) throw new Error(`a byte is torn at frame ${at / 2 + i}`);
    if (sample !== 0) length = bytes.writeUInt8(sample - 1, length);
    at += 2 * frames;
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
}

/** The durations of the pauses in a sound, in seconds. */
export function silencesOf(pcm: Buffer, sampleRate = 22_050): number[] {
  const frames: number[] = [];
  let isSilent = false;
  for (let at = 0; at < pcm.length; at += 2) {
    const wasSilent = isSilent;
    isSilent = pcm.readInt16LE(at) === 0;
    if (isSilent) frames.push((wasSilent ? (frames.pop() ?? 0) : 0) + 1);
  }
  return frames.map((each) => each / sampleRate);
}

/** Removes white space, which a sound need not preserve. */
export function withoutSpace(text: string): string {
  return text.replace(/\s+/gu, '');
}
