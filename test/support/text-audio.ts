import { wavHeader } from '../../src/sound/encode/wav.ts';

/** Mono, 16-bit integers: the sound that says a text byte by byte. */
function textFormat(sampleRate: number) {
  return { encoding: 'integer', sampleRate, channels: 1, bitsPerSample: 16 } as const;
}

/** Each UTF-8 byte of a text as this many equal samples, one above its value: 0 is left for silence. */
export function soundOf(text: string, framesPerByte = 1): Buffer {
  const bytes = Buffer.from(text);
  const samples = new Int16Array(bytes.length * framesPerByte);
  for (const [i, byte] of bytes.entries()) samples.fill(byte + 1, i * framesPerByte, (i + 1) * framesPerByte);
  return Buffer.from(samples.buffer);
}

export function wavOf(text: string, { sampleRate = 22_050, framesPerByte = 1, sized = true } = {}): Buffer {
  const pcm = soundOf(text, framesPerByte);
  return Buffer.concat([wavHeader(textFormat(sampleRate), sized ? pcm.length : undefined), pcm]);
}

/** What the sound says, pauses left out. A byte that is torn, missing or doubled does not go unnoticed. */
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

/** The pauses of the sound, in seconds. */
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

/** What must be the same in a text and in its sound. */
export function withoutSpace(text: string): string {
  return text.replace(/\s+/gu, '');
}
