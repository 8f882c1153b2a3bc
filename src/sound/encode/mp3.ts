import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { writeAt } from '../../kit/descriptor.ts';
import { converted } from '../convert.ts';
import { counted, frameBytes, type Speech, type Track } from '../pcm.ts';
import {
  assertBitrate,
  type BitrateRange,
  type EncodingOptions,
  type OpenFile,
  type StreamingEncoding,
  type WrittenSize,
  writeEnd,
  writeStream,
} from './encoding.ts';
import { ENCODER_DELAY, MP3_RATES, type Mp3Order } from './mp3-worker.ts';
import { id3Tag } from './tags.ts';
import { makeRoom } from './wav.ts';

/** kbit/s per channel. */
const USUAL_BITRATE = 64;

/** MP3 by the bundled LAME, which needs no installation. */
export function mp3({ bitrate }: EncodingOptions): StreamingEncoding {
  return {
    name: 'mp3',
    async assertReady(sampleRate) {
      assertBitrate('mp3', bitrate, rangeOf, { sampleRate: sampleRate && rateFor(sampleRate) });
    },
    record: (file, track, signal) => record(file, track, bitrate, signal),
    stream: (track, onSound) => stream(track, bitrate, onSound),
  };
}

/**
 * A file that can only be appended to is written like a stream: without chapters and exact length.
 * @throws TtsError (output); whatever the track throws
 */
async function record(
  file: OpenFile,
  track: Track,
  bitrate: number | undefined,
  signal: AbortSignal,
): Promise<WrittenSize> {
  const { start } = file;
  if (start === undefined) return writeStream(file, (onSound) => stream(track, bitrate, onSound), signal);
  const sound = { first: new Uint8Array(), bytes: 0, crc: 0 };
  /** Reserves room for the Info frame, and counts the frames after it. */
  async function* noted(frames: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of frames) {
      if (sound.bytes === 0) {
        sound.first = piece.slice(0, 4);
        yield new Uint8Array(infoBytes(piece));
      }
      sound.bytes += piece.length;
      sound.crc = crc16(piece, sound.crc);
      yield piece;
    }
  }
  const frames = (onSound: (bytes: number) => void) =>
    noted(encoded({ ...track, pcm: inBlocks(track.pcm) }, bitrate, onSound));
  const { bytes, writtenBytes } = await writeStream(file, frames, signal);
  const { sampleRate } = track.format;
  const samples = Math.round(((bytes / frameBytes(track.format)) * rateFor(sampleRate)) / sampleRate);
  const tagBytes = await writeEnd(file, signal, async ({ fd, path }) => {
    writeAt(fd, infoFrame({ ...sound, samples }), start);
    const tag = id3Tag(track.tags, track.chapters(), sampleRate);
    if (tag.length === 0 || !(await makeRoom(path, { from: start, bytes: tag.length }, signal))) return 0;
    writeAt(fd, tag, start);
    return tag.length;
  });
  return { bytes, writtenBytes: writtenBytes + tagBytes };
}

async function* stream(
  track: Track,
  bitrate: number | undefined,
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const tag = id3Tag(track.tags, [], track.format.sampleRate);
  if (tag.length > 0) yield tag;
  yield* encoded(track, bitrate, onSound);
}

/** @returns MPEG frames in pieces that are never empty */
async function* encoded(
  speech: Speech,
  bitrate: number | undefined,
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { format, pcm } = encodable({ ...speech, pcm: counted(speech.pcm, onSound) });
  assertBitrate('mp3', bitrate, rangeOf, format);
  const wanted = bitrate ?? USUAL_BITRATE * format.channels;
  const thread = await Mp3Thread.start({ format, bitrate: nearest(wanted, format.sampleRate) });
  try {
    for await (const piece of pcm) {
      const frames = await thread.encode(piece);
      if (frames.length > 0) yield frames;
    }
    const rest = await thread.end();
    if (rest.length > 0) yield rest;
  } finally {
    await thread.close();
  }
}

/** Bytes per message: a message to another thread costs as much as encoding some samples. */
const BLOCK_BYTES = 128 * 1024;

async function* inBlocks(pcm: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pcm) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < BLOCK_BYTES) continue;
    yield pieces.length === 1 ? piece : Buffer.concat(pieces);
    [pieces, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}

/** Converts to one of MP3's nine rates, and to one or two channels. */
function encodable(speech: Speech): Speech {
  const { sampleRate, channels } = speech.format;
  const rate = rateFor(sampleRate);
  const fits = rate === sampleRate && channels <= 2;
  return fits
    ? speech
    : converted(speech, { ...speech.format, sampleRate: rate, channels: channels > 2 ? 1 : channels });
}

const rangeOf: BitrateRange = ({ sampleRate }) => {
  const bitrates = bitratesAt(sampleRate);
  return [Math.min(...bitrates), Math.max(...bitrates)];
};

function rateFor(sampleRate: number): number {
  return MP3_RATES.find((rate) => rate >= sampleRate) ?? 48_000;
}

/** @returns the highest bitrate for this rate that does not exceed the wanted one, or else the lowest */
function nearest(wanted: number, sampleRate: number): number {
  const all = bitratesAt(sampleRate);
  return all.findLast((bitrate) => bitrate <= wanted) ?? all[0] ?? wanted;
}

/** The worker thread that encodes one sound. */
export class Mp3Thread {
  readonly #worker: Worker;

  private constructor() {
    this.#worker = new Worker(new URL('mp3.cjs', import.meta.url), { name: 'mp3', execArgv: [] });
    this.#worker.on('error', () => {});
  }

  static async start(order: Mp3Order): Promise<Mp3Thread> {
    const thread = new Mp3Thread();
    try {
      await thread.#ask(order, []);
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** @param pcm whole frames */
  encode(pcm: Uint8Array): Promise<Uint8Array> {
    // Transfers a copy, since the piece may be shared. `slice` of a Buffer would not copy.
    const own = new Uint8Array(pcm);
    return this.#ask(own, [own.buffer]);
  }

  end(): Promise<Uint8Array> {
    return this.#ask('end', []);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(what: Mp3Order | Uint8Array | 'end', owned: ArrayBuffer[]): Promise<Uint8Array> {
    const over = new AbortController();
    const { signal } = over;
    const ended = once(this.#worker, 'exit', { signal }).then(() => {
      throw new Error('the thread of the encoder ended');
    });
    ended.catch(() => {});
    try {
      this.#worker.postMessage(what, owned);
      const answer = once(this.#worker, 'message', { signal });
      const [encoded] = await Promise.race([answer, ended]);
      return encoded as Uint8Array;
    } finally {
      over.abort();
    }
  }
}

/** The content of the four bytes that begin each frame. */
interface FrameHeader {
  readonly version: 1 | 2 | 2.5;
  /** kbit/s. */
  readonly bitrate: number;
  /** Hz. */
  readonly sampleRate: number;
  readonly isMono: boolean;
}

/** kbit/s by their index in the header. */
const BITRATES = {
  1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

const RATES = [44_100, 48_000, 32_000] as const;
const VERSIONS = [2.5, undefined, 2, 1] as const;

/** @returns the kbit/s that MP3 has at this rate */
export function bitratesAt(sampleRate: number): readonly number[] {
  if (sampleRate >= 32_000) return BITRATES[1].slice(1);
  // LAME uses at most 64 kbit/s at the lowest rates.
  return BITRATES[2].slice(1).filter((bitrate) => sampleRate >= 16_000 || bitrate <= 64);
}

/** @throws Error for bytes that do not begin a frame */
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

/** @returns bytes per frame, with a fraction: some frames have one byte more than others */
function lengthOf(header: FrameHeader): number {
  return ((samplesOf(header) / 8) * header.bitrate * 1000) / header.sampleRate;
}

const TAG_BYTES = 4 + 4 + 4 + 4 + 100 + 4 + 36;

/** @returns the offset of the tag in its frame, after the header and the side information */
function tagOffset({ version, isMono }: FrameHeader): number {
  return 4 + (version === 1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);
}

/** @returns the header of the Info frame: the lowest bitrate with enough room, but no lower than the sound's */
function infoHeader(header: FrameHeader): FrameHeader {
  const room = tagOffset(header) + TAG_BYTES;
  const bitrates = bitratesAt(header.sampleRate).filter((bitrate) => bitrate >= header.bitrate);
  const bitrate = bitrates.find((bitrate) => Math.floor(lengthOf({ ...header, bitrate })) >= room);
  return { ...header, bitrate: bitrate ?? header.bitrate };
}

/**
 * @returns the bytes of the Info frame
 * @param first the beginning of the sound's first frame
 */
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

/** Returns the silent frame before the sound, which tells players how long the sound is and what to skip at both ends. */
export function infoFrame({ first, bytes, crc, samples }: Mp3Sound): Uint8Array {
  const header = readHeader(first);
  const own = infoHeader(header);
  const frames = Math.round(bytes / lengthOf(header));
  const padding = frames * samplesOf(header) - ENCODER_DELAY - samples;
  const frame = Buffer.alloc(infoBytes(first));
  // Without padding and checksum.
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
  // Tag revision 0 and a constant bitrate; peak and gain are unknown.
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

/** @param start the checksum of the bytes before */
export function crc16(bytes: Uint8Array, start = 0): number {
  return bytes.reduce((crc, byte) => (crc >> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0), start);
}
