import type { BitrateRange } from '../encoding.ts';
import type { EncodingName } from '../names.ts';
import { withoutDelay } from './adts.ts';

/** How ffmpeg makes a format. */
export interface FfmpegFormat {
  readonly name: EncodingName;
  readonly encoder: string;
  /** kbit/s for each channel; `undefined` leaves it to the encoder. */
  readonly bitrate?: number;
  readonly bitrates?: BitrateRange;
  /** Hz. Sound of another rate is converted; without a list, none is. */
  readonly rates?: readonly number[];
  /** Hz. Sound of another rate is brought to this one, or else to the next in the list. */
  readonly otherRate?: number;
  /** Arguments of the encoder. */
  readonly encoding: readonly string[];
  /** The sound as it leaves the encoder, which a pipe can carry. */
  readonly plain: readonly string[];
  /** True if a reader of a pipe gets the plain sound. */
  readonly streams: boolean;
  /** Takes out of that what the encoder puts in front. */
  readonly trimmed?: (plain: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** How tags, chapters and cover get in, in a second pass that copies the sound; `undefined` if the format has none. */
  readonly tagged?: TaggedFormat;
}

export interface TaggedFormat {
  /** Arguments for the input of the second pass. */
  readonly input: readonly string[];
  /** Arguments for its output. */
  output(chapterCount: number): readonly string[];
  readonly chapters: 'sections' | 'comments';
  readonly cover: 'picture' | 'comment';
}

const AAC_RATES = [
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
];

const OPUS_RATES = [8000, 12_000, 16_000, 24_000, 48_000];

/** Milliseconds of sound in a fragment. */
const FRAGMENT_MS = 5000;

/** The older of the two lists of chapters counts them in one byte. */
const MOST_IN_OLD_LIST = 255;

/** A frame of 1024 samples has at most 6144 bits for each channel (ISO/IEC 14496-3). */
const aacBitrates: BitrateRange = ({ sampleRate, channels }) => [
  LEAST,
  Math.floor((6 * sampleRate * channels) / 1000),
];

/** The ranges of libvorbis for one and for two channels, up to a rate in Hz: measured with 1.3.7. */
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

/** kbit/s. `--bitrate` takes no less. */
const LEAST = 8;

const AAC = { encoder: 'aac', bitrate: 64, bitrates: aacBitrates, rates: AAC_RATES, encoding: [] } as const;

/** MP4 has its index at the end, so the first pass writes fragments. Their times tell players to skip the encoder's delay. */
function mp4(name: 'm4a' | 'm4b', brand: string): FfmpegFormat {
  return {
    ...AAC,
    name,
    plain: ['-movflags', 'delay_moov', '-frag_duration', `${1000 * FRAGMENT_MS}`, '-f', 'mp4'],
    streams: false,
    tagged: {
      input: ['-copyts'],
      output: (chapterCount) => [
        ...['-movflags', chapterCount > MOST_IN_OLD_LIST ? '+faststart+disable_chpl' : '+faststart'],
        ...['-brand', brand, '-f', 'ipod'],
      ],
      chapters: 'sections',
      cover: 'picture',
    },
  };
}

function xiph(name: 'opus' | 'ogg' | 'flac', encoder: string, more: Partial<FfmpegFormat>): FfmpegFormat {
  const plain = ['-f', name];
  const cover = name === 'flac' ? 'picture' : 'comment';
  const tagged = { input: [], output: () => plain, chapters: 'comments', cover } as const;
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
