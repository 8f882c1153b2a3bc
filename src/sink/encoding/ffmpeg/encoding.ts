import { randomUUID } from 'node:crypto';
import { closeSync, createReadStream, existsSync, openSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PcmFormat, secondsOf, type Track } from '../../../audio/pcm.ts';
import { ExitCode, TtsError } from '../../../error.ts';
import { unwritable } from '../../../files/writable.ts';
import {
  assertBitrate,
  assertPossibleBitrate,
  type Encoding,
  type EncodingOptions,
  type OpenFile,
  type Written,
  writeStream,
} from '../encoding.ts';
import { languageCode } from '../tags.ts';
import { findFfmpeg } from './find.ts';
import { fitting, rateFor } from './fitting.ts';
import type { FfmpegFormat, TaggedFormat } from './formats.ts';
import { fromTheStart, metadataOf } from './metadata.ts';
import { Ffmpeg, type FfmpegOptions, failed } from './process.ts';

const PATIENCE_MS = 60_000;

/** A format that ffmpeg makes. */
export function byFfmpeg(format: FfmpegFormat, options: EncodingOptions): Encoding {
  const find = () => findFfmpeg(format, options.programs);
  const maker = async (signal: AbortSignal) => new Maker(format, options, { program: await find(), signal });
  return {
    name: format.name,
    async assertReady(sampleRate) {
      const { name, bitrates: rangeOf } = format;
      if (options.bitrate !== undefined && rangeOf)
        assertPossibleBitrate(name, options.bitrate, {
          rangeOf,
          sampleRate: sampleRate && rateFor(sampleRate, format),
        });
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

/** The sound as it left the encoder, and the file that is made of it. */
interface Files {
  readonly plain: string;
  readonly target: string;
}

class Maker {
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
    const { programs, patienceMs = PATIENCE_MS } = options;
    this.#ffmpeg = { ...ffmpeg, env: programs?.env ?? {}, patienceMs };
  }

  /** @throws TtsError (output); what the track throws */
  async record(file: OpenFile, track: Track): Promise<Written> {
    const { path, name, start } = file;
    const { tagged } = this.#format;
    // The path of stdout is one that only this process has. Elsewhere than on Linux it leads nowhere.
    if (start !== 0 || !tagged || !existsSync(path)) return this.#append(file, track);
    try {
      const target = realpathSync(path);
      const bytes = await this.#recordTagged(target, track, tagged);
      return { bytes, writtenBytes: statSync(path).size };
    } catch (error) {
      if (error instanceof TtsError || this.#ffmpeg.signal.aborted || !hasCode(error)) throw error;
      throw unwritable(name, error);
    }
  }

  /** The sound is encoded into a file of its own, and then copied after the tags and chapters that are known by then. */
  async #recordTagged(target: string, track: Track, tagged: TaggedFormat): Promise<number> {
    const plain = besidePart(target);
    closeSync(openSync(plain, 'wx', 0o600));
    try {
      const bytes = await this.#encode(track, plain);
      await this.#tag({ plain, target }, track, tagged);
      return bytes;
    } finally {
      rmSync(plain, { force: true });
    }
  }

  /** @returns the PCM bytes */
  async #encode(track: Track, target: string): Promise<number> {
    let bytes = 0;
    const { format, pcm } = fitting(track, this.#format, (more) => {
      bytes += more;
    });
    const args = [...this.#coding(format), ...this.#format.plain, `file:${target}`];
    const ffmpeg = await Ffmpeg.start(args, { stdout: 'ignore' }, this.#ffmpeg);
    try {
      await feed(ffmpeg, pcm);
      assertWhole(await ffmpeg.end(), secondsOf(track.format, bytes));
      return bytes;
    } finally {
      ffmpeg.stop();
    }
  }

  async #tag(files: Files, track: Track, tagged: TaggedFormat): Promise<void> {
    const isShown = track.tags.cover !== undefined && tagged.cover === 'picture';
    try {
      await this.#copy(files, track, tagged);
    } catch (error) {
      if (!isShown || this.#ffmpeg.signal.aborted || !(error instanceof TtsError)) throw error;
      const { cover: _cover, ...tags } = track.tags;
      await this.#copy(files, { ...track, tags }, tagged);
      this.#options.warn?.(`the cover is left out: ${error.message}`);
    }
  }

  async #copy(
    { plain, target }: Files,
    { tags, format, chapters }: Track,
    tagged: TaggedFormat,
  ): Promise<void> {
    const list = tagged.chapters === 'sections' ? fromTheStart(chapters()) : chapters();
    const cover = tagged.cover === 'picture' ? tags.cover : undefined;
    const language = tagged.chapters === 'sections' ? languageCode(tags.language) : undefined;
    const metadata = metadataOf({ tags, chapters: list, sampleRate: format.sampleRate }, tagged);
    const args = [
      ...[...tagged.input, '-i', 'pipe:0', '-f', 'ffmetadata', '-i', 'pipe:4'],
      ...(cover ? ['-f', cover.mediaType === 'image/png' ? 'png_pipe' : 'jpeg_pipe', '-i', 'pipe:5'] : []),
      ...['-map', '0:a', '-map_metadata', '1', '-map_chapters', tagged.chapters === 'sections' ? '1' : '-1'],
      ...(cover ? COVER : []),
      ...(language === undefined ? [] : ['-metadata:s:a:0', `language=${language}`]),
      ...['-c', 'copy', ...tagged.output(list.length), `file:${target}`],
    ];
    const inputs = [metadata, ...(cover ? [cover.bytes] : [])];
    const ffmpeg = await Ffmpeg.start(args, { stdout: 'ignore', inputs }, this.#ffmpeg);
    try {
      await feed(ffmpeg, createReadStream(plain));
      await ffmpeg.end();
      if (statSync(target).size < statSync(plain).size / 2) throw failed('it wrote a part of the sound only');
    } finally {
      ffmpeg.stop();
    }
  }

  /** @throws TtsError (output) for a format that cannot begin in the middle of a file */
  async #append(file: OpenFile, track: Track): Promise<Written> {
    if (!this.#format.streams)
      throw new TtsError(`${this.#format.name} cannot be appended to ${file.name}`, {
        exitCode: ExitCode.output,
        hint: 'name a file with -o',
      });
    return writeStream(file, (onSound) => this.stream(track, onSound), this.#ffmpeg.signal);
  }

  async *stream(track: Track, onSound: (bytes: number) => void): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    const { format, pcm } = fitting(track, this.#format, (more) => {
      bytes += more;
      onSound(more);
    });
    const { tagged } = this.#format;
    const metadata = tagged && metadataOf({ tags: track.tags, chapters: [], sampleRate: 1 }, tagged);
    const args = [
      ...this.#coding(format, metadata === undefined ? [] : ['-f', 'ffmetadata', '-i', 'pipe:4']),
      ...(metadata === undefined ? [] : ['-map', '0:a', '-map_metadata', '1']),
      ...this.#format.plain,
      // What is heard must not wait for a full page.
      ...['-flush_packets', '1', 'pipe:1'],
    ];
    const inputs = metadata === undefined ? [] : [metadata];
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

  /** @param inputs further ones, after the sound */
  #coding(format: PcmFormat, inputs: readonly string[] = []): string[] {
    const { name, bitrates: rangeOf } = this.#format;
    if (this.#options.bitrate !== undefined && rangeOf)
      assertBitrate(name, this.#options.bitrate, { rangeOf, format });
    const { bitrate = usualBitrate(this.#format, format) } = this.#options;
    return [
      ...['-f', nameOf(format), '-ar', `${format.sampleRate}`, '-ac', `${format.channels}`, '-i', 'pipe:0'],
      ...inputs,
      ...['-c:a', this.#format.encoder, ...this.#format.encoding],
      ...(bitrate === undefined || this.#format.name === 'flac' ? [] : ['-b:a', `${bitrate}k`]),
    ];
  }
}

/** The comment is how FLAC says that a picture is the front of the cover. */
const COVER = [
  ...['-map', '2:v', '-disposition:v:0', 'attached_pic'],
  ...['-metadata:s:v:0', 'comment=Cover (front)'],
];

/** Seconds by which ffmpeg's count of the sound may differ: a frame of the codec, and what the encoder puts in front. */
const TOLERANCE_SECONDS = 0.5;

/** @throws TtsError (output) if ffmpeg counted less than came */
function assertWhole(counted: number | undefined, seconds: number): void {
  if (counted === undefined || counted > seconds - TOLERANCE_SECONDS) return;
  throw failed(`it wrote ${counted} s of ${seconds.toFixed(2)} s`);
}

async function feed(ffmpeg: Ffmpeg, pcm: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pcm) await ffmpeg.write(piece);
}

function usualBitrate({ bitrate }: FfmpegFormat, { channels }: PcmFormat): number | undefined {
  return bitrate && bitrate * channels;
}

/** @returns ffmpeg's name for the samples */
function nameOf({ encoding, bitsPerSample }: PcmFormat): string {
  if (encoding === 'float') return 'f32le';
  return bitsPerSample === 8 ? 'u8' : `s${bitsPerSample}le`;
}

/** Leftovers of a killed run are found by the end of the name of its part. */
function besidePart(target: string): string {
  const [, part] = /^(.*)\.part$/s.exec(target) ?? [];
  const number = Math.floor(Math.random() * 1e9) + 1;
  return part === undefined ? join(tmpdir(), `tts-${randomUUID()}`) : `${part}-${number}.part`;
}

function hasCode(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}
