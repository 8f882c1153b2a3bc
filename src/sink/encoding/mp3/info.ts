import { ENCODER_DELAY } from './lame.ts';

/** What the four bytes say that begin each frame. */
interface FrameHeader {
  readonly version: 1 | 2 | 2.5;
  /** kbit/s. */
  readonly bitrate: number;
  /** Hz. */
  readonly sampleRate: number;
  readonly isMono: boolean;
}

/** kbit/s, by the index in the header. */
const BITRATES = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

const RATES = [44_100, 48_000, 32_000] as const;
const VERSIONS = [2.5, undefined, 2, 1] as const;

/** @returns the bitrates that MP3 has at this rate, in kbit/s */
export function bitratesAt(sampleRate: number): readonly number[] {
  if (sampleRate >= 32_000) return BITRATES[1].slice(1);
  // LAME keeps the lowest rates to 64 kbit/s.
  return BITRATES[2].slice(1).filter((bitrate) => sampleRate >= 16_000 || bitrate <= 64);
}

/** @throws Error for bytes that begin no frame */
function readHeader(frame: Uint8Array): FrameHeader {
  const [sync = 0, kind = 0, rates = 0, mode = 0] = frame;
  const version = VERSIONS[(kind >> 3) & 3];
  const bitrate = BITRATES[version === 1 ? 1 : 2][rates >> 4];
  const rate = RATES[(rates >> 2) & (3 as 0)];
  if (sync !== 0xff || version === undefined || !bitrate || rate === undefined)
    throw new Error('the encoder did not begin with a frame');
  return {
    version,
    bitrate,
    sampleRate: rate / (version === 1 ? 1 : 2 * (version === 2 ? 1 : 2)),
    isMono: mode >> 6 === 3,
  };
}

function samplesOf({ version }: FrameHeader): number {
  return version === 1 ? 1152 : 576;
}

/** @returns bytes, which are no whole number: a frame may have one more than the next */
function lengthOf(header: FrameHeader): number {
  return ((samplesOf(header) / 8) * header.bitrate * 1000) / header.sampleRate;
}

const TAG_BYTES = 4 + 4 + 4 + 4 + 100 + 4 + 36;

/** @returns the offset of the tag in its frame, after the header and the side information */
function tagOffset({ version, isMono }: FrameHeader): number {
  return 4 + (version === 1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);
}

/** @returns the header of the Info frame, which has the lowest bitrate that gives enough room, but not less than the sound */
function infoHeader(header: FrameHeader): FrameHeader {
  const room = tagOffset(header) + TAG_BYTES;
  const bitrates = bitratesAt(header.sampleRate).filter((bitrate) => bitrate >= header.bitrate);
  const bitrate = bitrates.find((bitrate) => Math.floor(lengthOf({ ...header, bitrate })) >= room);
  return { ...header, bitrate: bitrate ?? header.bitrate };
}

/** @param first the beginning of the first frame of the sound */
export function infoBytes(first: Uint8Array): number {
  return Math.floor(lengthOf(infoHeader(readHeader(first))));
}

export interface Mp3Sound {
  /** The beginning of the first frame. */
  readonly first: Uint8Array;
  /** Bytes of all frames. */
  readonly bytes: number;
  readonly crc: number;
  /** PCM frames that were encoded. */
  readonly samples: number;
}

/** The silent frame in front of the others: players learn from it how long the sound is, and what to leave out at both ends. */
export function infoFrame({ first, bytes, crc, samples }: Mp3Sound): Uint8Array {
  const header = readHeader(first);
  const own = infoHeader(header);
  const frames = Math.round(bytes / lengthOf(header));
  const padding = frames * samplesOf(header) - ENCODER_DELAY - samples;
  const frame = Buffer.alloc(infoBytes(first));
  // Neither padding nor a checksum.
  frame.set([
    first[0] ?? 0,
    (first[1] ?? 0) | 1,
    ((first[2] ?? 0) & 0x0d) | (indexOf(own) << 4),
    first[3] ?? 0,
  ]);
  let at = tagOffset(own);
  at += frame.write('Info', at, 'latin1');
  at = frame.writeUInt32BE(0b1111, at);
  at = frame.writeUInt32BE(frames, at);
  at = frame.writeUInt32BE(frame.length + bytes, at);
  for (let percent = 0; percent < 100; percent += 1)
    at = frame.writeUInt8(Math.floor((256 * percent) / 100), at);
  at = frame.writeUInt32BE(0, at);
  at += frame.write('LAME3.100', at, 'latin1');
  // Revision 0 of the tag, a constant bitrate; neither peak nor gain are known.
  at = frame.writeUInt8(1, at) + 1 + 8 + 1;
  at = frame.writeUInt8(Math.min(255, header.bitrate), at);
  at = frame.writeUIntBE((ENCODER_DELAY << 12) | Math.max(0, Math.min(0xfff, padding)), at, 3) + 4;
  at = frame.writeUInt32BE(Math.min(0xffff_ffff, frame.length + bytes), at);
  at = frame.writeUInt16BE(crc, at);
  frame.writeUInt16BE(crc16(frame.subarray(0, at)), at);
  return frame;
}

function indexOf({ version, bitrate }: FrameHeader): number {
  return (BITRATES[version === 1 ? 1 : 2] as readonly number[]).indexOf(bitrate);
}

const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >> 1) ^ 0xa001 : crc >> 1;
  return crc;
});

/** @param start the checksum of what came before */
export function crc16(bytes: Uint8Array, start = 0): number {
  return bytes.reduce((crc, byte) => (crc >> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0), start);
}
