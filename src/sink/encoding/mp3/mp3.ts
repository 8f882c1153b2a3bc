import { converted } from '../../../audio/convert.ts';
import { counted, frameBytes, type PcmFormat, type Speech, type Track } from '../../../audio/pcm.ts';
import { writeAt } from '../../../files/block-writer.ts';
import { unwritable } from '../../../files/writable.ts';
import {
  assertBitrate,
  assertPossibleBitrate,
  type BitrateRange,
  type EncodingOptions,
  type OpenFile,
  type StreamingEncoding,
  type Written,
  writeStream,
} from '../encoding.ts';
import { makeRoom } from '../make-room.ts';
import { id3Tag } from './id3.ts';
import { bitratesAt, crc16, infoBytes, infoFrame, type Mp3Sound } from './info.ts';
import { MP3_RATES } from './lame.ts';
import { Mp3Thread } from './thread.ts';

/** kbit/s for each channel. */
const USUAL_BITRATE = 64;

/** MP3 by LAME, with nothing that has to be installed. */
export function mp3({ bitrate }: EncodingOptions): StreamingEncoding {
  return {
    name: 'mp3',
    async assertReady(sampleRate) {
      if (bitrate === undefined) return;
      assertPossibleBitrate('mp3', bitrate, { rangeOf, sampleRate: sampleRate && rateFor(sampleRate) });
    },
    record: (file, track, signal) => record(file, track, { bitrate, signal }),
    stream: (track, onSound) => stream(track, bitrate, onSound),
  };
}

interface Recording {
  readonly bitrate: number | undefined;
  readonly signal: AbortSignal;
}

/**
 * A file that can only be appended to gets what a stream gets: neither chapters nor the exact length.
 * @throws TtsError (output); what the track throws
 */
async function record(file: OpenFile, track: Track, { bitrate, signal }: Recording): Promise<Written> {
  const { start } = file;
  if (start === undefined) return writeStream(file, (onSound) => stream(track, bitrate, onSound), signal);
  const sound = new SoundNotes();
  const { bytes, writtenBytes } = await writeStream(
    file,
    (onSound) => withRoom(encoded(inBlocks(track), bitrate, onSound), sound),
    signal,
  );
  const samples = samplesAt(bytes / frameBytes(track.format), track.format);
  const headBytes = await writeHead(
    { ...file, start },
    { track, sound: { ...sound.noted, samples } },
    signal,
  );
  return { bytes, writtenBytes: writtenBytes + headBytes };
}

/** Leaves room for the Info frame, and notes the frames after it. */
async function* withRoom(frames: AsyncIterable<Uint8Array>, sound: SoundNotes): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of frames) {
    if (isFirst) yield new Uint8Array(infoBytes(piece));
    isFirst = false;
    sound.add(piece);
    yield piece;
  }
}

/** What the Info frame says of the frames after it. */
class SoundNotes {
  #first: Uint8Array | undefined;
  #bytes = 0;
  #crc = 0;

  add(piece: Uint8Array): void {
    this.#first ??= piece.slice(0, 4);
    this.#bytes += piece.length;
    this.#crc = crc16(piece, this.#crc);
  }

  get noted(): Omit<Mp3Sound, 'samples'> {
    return { first: this.#first ?? new Uint8Array(), bytes: this.#bytes, crc: this.#crc };
  }
}

/**
 * Writes what is known at the end only: the Info frame and the tag in front of it.
 * @returns the length of the tag
 */
async function writeHead(
  { fd, name, start, path }: OpenFile & { start: number },
  { track, sound }: { track: Track; sound: Mp3Sound },
  signal: AbortSignal,
): Promise<number> {
  const { tags, format } = track;
  try {
    writeAt(fd, infoFrame(sound), start);
    const tag = id3Tag(tags, track.chapters(), format.sampleRate);
    if (tag.length === 0 || !(await makeRoom(path, { from: start, bytes: tag.length }, signal))) return 0;
    writeAt(fd, tag, start);
    return tag.length;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unwritable(name, error);
  }
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

/** @returns frames of MPEG; pieces are never empty */
async function* encoded(
  speech: Speech,
  bitrate: number | undefined,
  onSound: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const { format, pcm } = encodable({ ...speech, pcm: counted(speech.pcm, onSound) });
  if (bitrate !== undefined) assertBitrate('mp3', bitrate, { rangeOf, format });
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

/** Bytes: a message to another thread costs as much as encoding some samples. */
const BLOCK_BYTES = 128 * 1024;

function inBlocks(speech: Track): Track {
  return { ...speech, pcm: blocks(speech.pcm) };
}

async function* blocks(pcm: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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

/** MP3 has nine rates, and one or two channels. */
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

function samplesAt(frames: number, { sampleRate }: PcmFormat): number {
  return Math.round((frames * rateFor(sampleRate)) / sampleRate);
}

/** @returns the highest bitrate of this rate that is not above the wanted one, or the lowest */
function nearest(wanted: number, sampleRate: number): number {
  const all = bitratesAt(sampleRate);
  return all.findLast((bitrate) => bitrate <= wanted) ?? all[0] ?? wanted;
}
