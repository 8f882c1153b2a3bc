import { closeSync, createReadStream, existsSync, openSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode, TtsError } from '../../kit/error.ts';
import { findProgram, unwritable } from '../../kit/folders.ts';
import type { ProgramHost } from '../../kit/host.ts';
import { outputOf } from '../../kit/program.ts';
import { converted } from '../convert.ts';
import { counted, frameBytes, type PcmFormat, type Speech, secondsOf, type Track } from '../pcm.ts';
import {
  assertBitrate,
  type BitrateRange,
  type Encoding,
  type EncodingName,
  type EncodingOptions,
  type OpenFile,
  type WrittenSize,
  writeStream,
} from './encoding.ts';
import { type Family, fromTheStart, metadataOf } from './ffmetadata.ts';
import { Ffmpeg, type FfmpegOptions, failed } from './ffmpeg-process.ts';
import { divideTitles } from './mp4-titles.ts';
import { languageCode } from './tags.ts';

/** How ffmpeg encodes a format. */
export interface FfmpegFormat {
  readonly name: EncodingName;
  readonly encoder: string;
  /** kbit/s per channel; `undefined` leaves it to the encoder. */
  readonly bitrate?: number;
  readonly bitrates?: BitrateRange;
  /** The Hz that the format has, for conversion of other rates; `undefined` if it has all. */
  readonly rates?: readonly number[];
  /** Hz to which other rates are converted; by default the next higher one of the list. */
  readonly otherRate?: number;
  /** Arguments for the encoder. */
  readonly encoding: readonly string[];
  /** Arguments for the first pass: the encoded sound without tags, which a pipe can carry. */
  readonly plain: readonly string[];
  /** True if the first pass can go through a pipe. */
  readonly streams: boolean;
  /** Removes the encoder's delay from the output of the first pass. */
  readonly trimmed?: (plain: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** How a second pass copies the sound and adds tags, chapters and cover; `undefined` if the format has none. */
  readonly tagged?: TaggedFormat;
}

interface TaggedFormat {
  readonly family: Family;
  /** Arguments for the input of the second pass. */
  readonly input: readonly string[];
  /** Arguments for the output of the second pass. */
  output(chapterCount: number): readonly string[];
}

const AAC_RATES = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
];

const OPUS_RATES = [8000, 12_000, 16_000, 24_000, 48_000];

/** Milliseconds of sound per fragment. */
const FRAGMENT_MS = 5000;

/** The older of MP4's two chapter lists counts in one byte. */
const MOST_IN_OLD_LIST = 255;

/** A frame of 1024 samples has at most 6144 bits per channel (ISO/IEC 14496-3). */
const aacBitrates: BitrateRange = ({ sampleRate, channels }) => [
  LEAST,
  Math.floor((6 * sampleRate * channels) / 1000),
];

/** kbit/s that libvorbis accepts for one and for two channels, below each rate in Hz; measured with 1.3.7. */
const VORBIS_BITRATES = [
  [9000, [8, 42], [12, 84]],
  [15_000, [12, 50], [16, 100]],
  [19_000, [16, 100], [24, 200]],
  [26_000, [16, 90], [30, 180]],
  [40_000, [30, 190], [36, 380]],
] as const;

const vorbisBitrates: BitrateRange = ({ sampleRate, channels }) => {
  const [, mono, stereo] = VORBIS_BITRATES.find(([below]) => sampleRate < below) ?? [0, [32, 240], [45, 500]];
  return channels === 1 ? mono : stereo;
};

/** kbit/s: the least that `--bitrate` accepts. */
const LEAST = 8;

const AAC = { encoder: 'aac', bitrate: 64, bitrates: aacBitrates, rates: AAC_RATES, encoding: [] } as const;

/**
 * MP4 has its index at the end, so the first pass writes fragments, whose times tell players to skip the encoder's delay.
 */
function mp4(name: 'm4a' | 'm4b', brand: string): FfmpegFormat {
  return {
    ...AAC,
    name,
    plain: ['-movflags', 'delay_moov', '-frag_duration', `${1000 * FRAGMENT_MS}`, '-f', 'mp4'],
    streams: false,
    tagged: {
      family: 'mp4',
      input: ['-copyts'],
      output: (chapterCount) => [
        ...['-movflags', chapterCount > MOST_IN_OLD_LIST ? '+faststart+disable_chpl' : '+faststart'],
        ...['-brand', brand, '-f', 'ipod'],
      ],
    },
  };
}

function xiph(name: 'opus' | 'ogg' | 'flac', encoder: string, more: Partial<FfmpegFormat>): FfmpegFormat {
  const plain = ['-f', name];
  const tagged: TaggedFormat = { family: name === 'flac' ? 'flac' : 'ogg', input: [], output: () => plain };
  return { name, encoder, encoding: [], plain, streams: true, tagged, ...more };
}

export const ffmpegFormats = {
  m4b: mp4('m4b', 'M4B '),
  m4a: mp4('m4a', 'M4A '),
  aac: { ...AAC, name: 'aac', plain: ['-f', 'adts'], streams: true, trimmed: withoutDelay },
  opus: xiph('opus', 'libopus', {
    bitrate: 32,
    bitrates: ({ channels }) => [LEAST, 256 * channels],
    rates: OPUS_RATES,
    otherRate: 48_000,
    encoding: ['-application', 'voip'],
  }),
  ogg: xiph('ogg', 'libvorbis', { bitrates: vorbisBitrates }),
  flac: xiph('flac', 'flac', {}),
} as const satisfies Record<string, FfmpegFormat>;

const TIMEOUT_MS = 60_000;

/** Returns the encoding for a format made by ffmpeg. */
export function byFfmpeg(format: FfmpegFormat, options: EncodingOptions): Encoding {
  const find = () => findFfmpeg(format, options.programs);
  const maker = async (signal: AbortSignal) =>
    new FfmpegFile(format, options, { program: await find(), signal });
  return {
    name: format.name,
    async assertReady(sampleRate) {
      const { name, bitrates } = format;
      const known = { sampleRate: sampleRate && rateFor(sampleRate, format) };
      if (bitrates) assertBitrate(name, options.bitrate, bitrates, known);
      await find();
    },
    record: async (file, track, signal) => (await maker(signal)).record(file, track),
    ...(format.streams && {
      async *stream(track, onSound) {
        yield* (await maker(new AbortController().signal)).stream(track, onSound);
      },
    }),
  };
}

class FfmpegFile {
  readonly #format: FfmpegFormat;
  readonly #options: EncodingOptions;
  readonly #ffmpeg: FfmpegOptions;

  constructor(
    format: FfmpegFormat,
    options: EncodingOptions,
    ffmpeg: Pick<FfmpegOptions, 'program' | 'signal'>,
  ) {
    this.#format = format;
    this.#options = options;
    const { programs, timeoutMs = TIMEOUT_MS } = options;
    this.#ffmpeg = { ...ffmpeg, env: programs?.env ?? {}, timeoutMs };
  }

  /** @throws TtsError (output); whatever the track throws */
  async record(file: OpenFile, track: Track): Promise<WrittenSize> {
    const { path, name, start } = file;
    const { tagged } = this.#format;
    // Only this process can open the path of its stdout, and only on Linux.
    if (start !== 0 || !tagged || !existsSync(path)) return this.#append(file, track);
    try {
      const target = realpathSync(path);
      const bytes = await this.#recordTagged(target, track, tagged);
      return { bytes, writtenBytes: statSync(path).size };
    } catch (error) {
      const isOfSystem = error instanceof Error && 'code' in error && !(error instanceof TtsError);
      throw isOfSystem && !this.#ffmpeg.signal.aborted ? unwritable(name, error) : error;
    }
  }

  /** Encodes into a temporary file, and then copies it with the tags and chapters, which are known by then. */
  async #recordTagged(target: string, track: Track, tagged: TaggedFormat): Promise<number> {
    const plain = temporaryPath(target);
    closeSync(openSync(plain, 'wx', 0o600));
    try {
      const bytes = await this.#encode(track, plain);
      await this.#tag(plain, target, track, tagged);
      return bytes;
    } finally {
      rmSync(plain, { force: true });
    }
  }

  /** @returns the number of PCM bytes */
  async #encode(track: Track, target: string): Promise<number> {
    let bytes = 0;
    const { format, pcm } = resampled(track, this.#format, (more) => {
      bytes += more;
    });
    const written = await this.#run([...this.#coding(format), ...this.#format.plain, `file:${target}`], pcm);
    assertWhole(written, secondsOf(track.format, bytes));
    return bytes;
  }

  /** @returns the seconds of sound that ffmpeg reports */
  async #run(
    args: readonly string[],
    sound: AsyncIterable<Uint8Array>,
    inputs: readonly (string | Uint8Array)[] = [],
  ): Promise<number | undefined> {
    const ffmpeg = await Ffmpeg.start(args, { stdout: 'ignore', inputs }, this.#ffmpeg);
    try {
      await feed(ffmpeg, sound);
      return await ffmpeg.end();
    } finally {
      ffmpeg.stop();
    }
  }

  /**
   * Tries again without the cover if ffmpeg rejects it.
   * @param plain the output of the first pass
   */
  async #tag(plain: string, target: string, track: Track, tagged: TaggedFormat): Promise<void> {
    const isShown = track.tags.cover !== undefined && tagged.family !== 'ogg';
    try {
      await this.#copy(plain, target, track, tagged);
    } catch (error) {
      if (!isShown || this.#ffmpeg.signal.aborted || !(error instanceof TtsError)) throw error;
      const { cover: _cover, ...tags } = track.tags;
      await this.#copy(plain, target, { ...track, tags }, tagged);
      this.#options.warn?.(`the cover is left out: ${error.message}`);
    }
  }

  async #copy(
    plain: string,
    target: string,
    { tags, format, chapters }: Track,
    tagged: TaggedFormat,
  ): Promise<void> {
    const isMp4 = tagged.family === 'mp4';
    const list = isMp4 ? fromTheStart(chapters()) : chapters();
    const cover = tagged.family === 'ogg' ? undefined : tags.cover;
    const language = isMp4 ? languageCode(tags.language) : undefined;
    const metadata = metadataOf(tagged.family, tags, list, format.sampleRate);
    const args = [
      ...[...tagged.input, '-i', 'pipe:0', '-f', 'ffmetadata', '-i', 'pipe:4'],
      ...(cover ? ['-f', cover.mediaType === 'image/png' ? 'png_pipe' : 'jpeg_pipe', '-i', 'pipe:5'] : []),
      ...['-map', '0:a', '-map_metadata', '1', '-map_chapters', isMp4 ? '1' : '-1'],
      ...(cover ? COVER : []),
      ...(language === undefined ? [] : ['-metadata:s:a:0', `language=${language}`]),
      ...['-c', 'copy', ...tagged.output(list.length), `file:${target}`],
    ];
    await this.#run(args, createReadStream(plain), [metadata, ...(cover ? [cover.bytes] : [])]);
    if (statSync(target).size < statSync(plain).size / 2) throw failed('it wrote a part of the sound only');
    if (isMp4 && list.length > 1) await divideTitles(target, this.#ffmpeg.signal);
  }

  /** @throws TtsError (output) for a format that cannot begin in the middle of a file */
  async #append(file: OpenFile, track: Track): Promise<WrittenSize> {
    if (!this.#format.streams)
      throw new TtsError(`${this.#format.name} cannot be appended to ${file.name}`, {
        exitCode: ExitCode.output,
        hint: 'name a file with -o',
      });
    return writeStream(file, (onSound) => this.stream(track, onSound), this.#ffmpeg.signal);
  }

  async *stream(track: Track, onSound: (bytes: number) => void): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    const { format, pcm } = resampled(track, this.#format, (more) => {
      bytes += more;
      onSound(more);
    });
    const { tagged } = this.#format;
    const inputs = tagged ? [metadataOf(tagged.family, track.tags, [], 1)] : [];
    const args = [
      ...this.#coding(format, tagged && ['-f', 'ffmetadata', '-i', 'pipe:4']),
      ...(tagged ? ['-map', '0:a', '-map_metadata', '1'] : []),
      ...this.#format.plain,
      // Without this, sound would wait until a page is full.
      ...['-flush_packets', '1', 'pipe:1'],
    ];
    const ffmpeg = await Ffmpeg.start(args, { stdout: 'pipe', inputs }, this.#ffmpeg);
    const feeding = feed(ffmpeg, pcm).then(async () => {
      assertWhole(await ffmpeg.end(), secondsOf(track.format, bytes));
    });
    feeding.catch(() => ffmpeg.stop());
    try {
      yield* this.#format.trimmed?.(ffmpeg.stdout) ?? ffmpeg.stdout;
      await feeding;
    } catch (error) {
      await feeding;
      throw error;
    } finally {
      ffmpeg.stop();
    }
  }

  /** @param inputs arguments for further inputs, after the sound */
  #coding(format: PcmFormat, inputs: readonly string[] = []): string[] {
    const { name, bitrates } = this.#format;
    if (bitrates) assertBitrate(name, this.#options.bitrate, bitrates, format);
    const usual = this.#format.bitrate && this.#format.bitrate * format.channels;
    const { bitrate = usual } = this.#options;
    return [
      ...['-f', nameOf(format), '-ar', `${format.sampleRate}`, '-ac', `${format.channels}`, '-i', 'pipe:0'],
      ...inputs,
      ...['-c:a', this.#format.encoder, ...this.#format.encoding],
      ...(bitrate === undefined || name === 'flac' ? [] : ['-b:a', `${bitrate}k`]),
    ];
  }
}

/** By this comment, FLAC marks a picture as the front cover. */
const COVER = [
  ...['-map', '2:v', '-disposition:v:0', 'attached_pic'],
  ...['-metadata:s:v:0', 'comment=Cover (front)'],
];

/** Seconds by which ffmpeg's count may differ: a frame of the codec, and the encoder's delay. */
const TOLERANCE_SECONDS = 0.5;

/** @throws TtsError (output) if ffmpeg counted less sound than it got */
function assertWhole(counted: number | undefined, seconds: number): void {
  if (counted === undefined || counted > seconds - TOLERANCE_SECONDS) return;
  throw failed(`it wrote ${counted} s of ${seconds.toFixed(2)} s`);
}

async function feed(ffmpeg: Ffmpeg, pcm: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pcm) await ffmpeg.write(piece);
}

/** @returns ffmpeg's name for the sample format */
function nameOf({ encoding, bitsPerSample }: PcmFormat): string {
  if (encoding === 'float') return 'f32le';
  return bitsPerSample === 8 ? 'u8' : `s${bitsPerSample}le`;
}

/** Names a temporary file like a part of the target, so that the cleanup after a killed run finds it. */
function temporaryPath(target: string): string {
  const [, part] = /^(.*)\.part$/s.exec(target) ?? [];
  const number = Math.floor(Math.random() * 1e9) + 1;
  return part === undefined ? join(tmpdir(), `tts-${crypto.randomUUID()}`) : `${part}-${number}.part`;
}

/**
 * Converts sound to a rate of the format, and cuts it to the frame: rounding up would make it longer.
 * @param onSound called with the PCM bytes of each original piece
 */
function resampled(
  speech: Speech,
  how: Pick<FfmpegFormat, 'rates' | 'otherRate'>,
  onSound: (bytes: number) => void,
): Pick<Speech, 'format' | 'pcm'> {
  const { format } = speech;
  const sampleRate = rateFor(format.sampleRate, how);
  let bytes = 0;
  const pcm = counted(speech.pcm, (more) => {
    bytes += more;
    onSound(more);
  });
  if (sampleRate === format.sampleRate) return { format, pcm };
  const to = { ...format, sampleRate };
  const most = () =>
    Math.floor(((bytes / frameBytes(format)) * sampleRate) / format.sampleRate) * frameBytes(to);
  return { format: to, pcm: cut(converted({ ...speech, pcm }, to).pcm, most) };
}

function rateFor(
  sampleRate: number,
  { rates, otherRate }: Pick<FfmpegFormat, 'rates' | 'otherRate'>,
): number {
  if (!rates || rates.includes(sampleRate)) return sampleRate;
  return otherRate ?? rates.find((rate) => rate >= sampleRate) ?? sampleRate;
}

async function* cut(pcm: AsyncIterable<Uint8Array>, most: () => number): AsyncGenerator<Uint8Array> {
  let given = 0;
  for await (const piece of pcm) {
    const part = piece.subarray(0, most() - given);
    given += part.length;
    if (part.length > 0) yield part;
  }
}

/** Bytes of a frame's header up to the frame's length. */
const HEADER = 6;

/**
 * Removes the first frame, the encoder's silence, which bare AAC cannot tell decoders to skip. They fade the next one in.
 */
async function* withoutDelay(adts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of adts) {
    if (!head) {
      yield piece;
      continue;
    }
    head = Buffer.concat([head, piece]);
    const length = frameLength(head);
    if (length === undefined || head.length < length) continue;
    if (head.length > length) yield head.subarray(length);
    head = undefined;
  }
}

/** @returns bytes, 0 if this is no frame; `undefined` until enough has come */
function frameLength(head: Buffer): number | undefined {
  if (head.length < HEADER) return undefined;
  const isFrame = head[0] === 0xff && (head.readUInt8(1) & 0xf0) === 0xf0;
  return isFrame ? (head.readUInt32BE(2) >>> 5) & 0x1fff : 0;
}

/** Milliseconds in which ffmpeg must list its encoders. */
const LISTING_MS = 20_000;

/**
 * @returns the path of ffmpeg
 * @throws TtsError (output) if it is missing, or lacks the encoder
 */
async function findFfmpeg(
  { name, encoder }: FfmpegFormat,
  programs: ProgramHost = { env: {}, platform: 'linux' },
): Promise<string> {
  const { env, platform } = programs;
  const program = await findProgram('ffmpeg', programs);
  if (program === undefined) throw missing(name, 'which is not installed', platform);
  const listing = listings.get(program) ?? listed(program, env);
  listings.set(program, listing);
  const list = await listing.catch((error) => {
    listings.delete(program);
    throw missing(name, `which does not run: ${error.message}`, platform);
  });
  if (new RegExp(`^ A\\S* ${encoder} `, 'm').test(list)) return program;
  throw missing(name, `and this one lacks the encoder ${encoder}`, platform);
}

/** The encoders that each ffmpeg lists, by its path. */
const listings = new Map<string, Promise<string>>();

async function listed(program: string, env: ProgramHost['env']): Promise<string> {
  const signal = AbortSignal.timeout(LISTING_MS);
  const bytes = await outputOf(program, ['-hide_banner', '-loglevel', 'error', '-encoders'], { env, signal });
  return bytes.toString('latin1');
}

function missing(name: string, why: string, platform: NodeJS.Platform): TtsError {
  const command = { darwin: 'brew install ffmpeg', win32: 'winget install ffmpeg' }[platform as string];
  return new TtsError(`${name} is made by ffmpeg, ${why}`, {
    exitCode: ExitCode.output,
    hint: `install it: ${command ?? 'apt-get install ffmpeg'}; or write .mp3, which needs nothing`,
  });
}
