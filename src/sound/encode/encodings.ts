import { extname } from 'node:path';
import { usageError } from '../../kit/error.ts';
import { nearestName, visible } from '../../kit/words.ts';
import type { Encoding, EncodingName, EncodingOptions, StreamingEncoding } from './encoding.ts';
import type { ffmpegFormats } from './ffmpeg.ts';
import { wav } from './wav.ts';

/** One row of the table of formats. */
interface Row {
  /** They begin with a dot and have small letters. */
  readonly endings: readonly string[];
  /** Further endings, of files that have no header, and the Hz at which a PBX plays them. */
  readonly bare?: Readonly<Record<string, number>>;
  /** True if its files hold the marks of chapters. */
  readonly holdsChapters?: boolean;
  /** False for a format that can only be written to a file. */
  readonly streams?: boolean;
  /**
   * A function loads the code of a format when it is used.
   * @param rate Hz of a file without a header
   */
  readonly encoding: Encoding | ((options: EncodingOptions, rate: number | undefined) => Promise<Encoding>);
}

/** The endings of Asterisk: `format_pcm.c` and `format_sln.c` read no header. FreeSWITCH reads .ul and .al so, too. */
const MU_LAW = { '.ulaw': 8000, '.ul': 8000, '.mu': 8000, '.ulw': 8000 };
const A_LAW = { '.alaw': 8000, '.al': 8000, '.alw': 8000 };
const LINEAR = {
  '.sln': 8000,
  '.sln12': 12_000,
  '.sln16': 16_000,
  '.sln24': 24_000,
  '.sln32': 32_000,
  '.sln44': 44_100,
  '.sln48': 48_000,
};

/** The table of formats. Where two have one ending, the first is meant. */
const FORMATS: Readonly<Record<EncodingName, Row>> = {
  wav: { endings: ['.wav'], encoding: wav },
  mp3: {
    endings: ['.mp3'],
    holdsChapters: true,
    encoding: async (options) => (await import('./mp3.ts')).mp3(options),
  },
  alaw: {
    endings: ['.wav'],
    bare: A_LAW,
    encoding: async (_, rate) => (await import('./telephone.ts')).telephone('alaw', rate),
  },
  ulaw: {
    endings: ['.wav'],
    bare: MU_LAW,
    encoding: async (_, rate) => (await import('./telephone.ts')).telephone('ulaw', rate),
  },
  s16le: {
    endings: [],
    bare: LINEAR,
    encoding: async (_, rate) => (await import('./telephone.ts')).raw(rate),
  },
  m4b: { ...byFfmpeg('m4b'), streams: false },
  m4a: { ...byFfmpeg('m4a'), streams: false },
  aac: { ...byFfmpeg('aac'), holdsChapters: false },
  ogg: byFfmpeg('ogg'),
  // Opus may lie in a file that ends in .ogg.
  opus: { ...byFfmpeg('opus'), endings: ['.opus', '.ogg'] },
  flac: byFfmpeg('flac'),
  epub: { endings: ['.epub'], holdsChapters: true, streams: false, encoding: async () => NO_BOOK },
};

/** The book is made where its text is known: `src/run/read-along.ts`. */
const NO_BOOK: Encoding = {
  name: 'epub',
  assertReady: noBook,
  record: noBook,
};

async function noBook(): Promise<never> {
  throw usageError(
    'a read-along book is made of one text',
    'tts -f book.epub -o book.read.epub; rows, chapters and answers of a service are sound alone: -o out.mp3',
  );
}

function byFfmpeg(name: keyof typeof ffmpegFormats): Row {
  return {
    endings: [`.${name}`],
    holdsChapters: true,
    async encoding(options) {
      const ffmpeg = await import('./ffmpeg.ts');
      return ffmpeg.byFfmpeg(ffmpeg.ffmpegFormats[name], options);
    },
  };
}

const rows = Object.entries(FORMATS) as [EncodingName, Row][];

function open(name: EncodingName, options: EncodingOptions, rate: number | undefined): Encoding {
  const { encoding, streams = true } = FORMATS[name];
  if (typeof encoding !== 'function') return encoding;
  let loading: Promise<Encoding> | undefined;
  const loaded = () => {
    loading ??= encoding(options, rate);
    return loading;
  };
  return {
    name,
    assertReady: async (...known) => (await loaded()).assertReady(...known),
    record: async (...sound) => (await loaded()).record(...sound),
    ...(streams && {
      async *stream(...sound) {
        yield* (await loaded()).stream?.(...sound) ?? [];
      },
    }),
  };
}

/** "Dr. Smith" has no ending. */
function endingOf(name: string): string | undefined {
  return /\.[\p{L}\p{N}_-]+$/u.exec(extname(name))?.[0].toLowerCase();
}

/** The encoding with a name, or else that of a file's ending; WAV by default. */
export function encodingOf(
  file: string,
  { encode, ...options }: EncodingOptions & { readonly encode?: EncodingName | undefined },
): Encoding {
  return open(nameOf(file, encode), options, bareRate(file));
}

/** Files with one key have one encoding. */
export function encodingKey(file: string, encode?: EncodingName): string {
  return `${nameOf(file, encode)} ${bareRate(file) ?? ''}`;
}

/** True if the format with a name, or else that of a file's ending, holds chapters. */
export function holdsChapters(file: string, encode?: EncodingName): boolean {
  return FORMATS[nameOf(file, encode)].holdsChapters ?? false;
}

function nameOf(file: string, encode?: EncodingName): EncodingName {
  return encode ?? namesFor(endingOf(file))[0] ?? 'wav';
}

function namesFor(ending = ''): EncodingName[] {
  return rows
    .filter(([, { endings, bare }]) => endings.includes(ending) || bare?.[ending] !== undefined)
    .map(([name]) => name);
}

/** @returns the Hz of a file without a header that a PBX plays */
function bareRate(file: string): number | undefined {
  const ending = endingOf(file) ?? '';
  return rows.map(([, { bare }]) => bare?.[ending]).find((rate) => rate !== undefined);
}

/** The ending for a file of an encoding. */
export function usualEnding(encode: EncodingName = 'wav'): string {
  return FORMATS[encode].endings[0] ?? '.raw';
}

/** True for a name with the ending of a format that is written. */
export function isOfFormat(name: string): boolean {
  return namesFor(endingOf(name)).length > 0;
}

/** Endings of bare samples, which may have any other form as well: Asterisk takes .pcm for µ-law. */
const OF_SAMPLES = new Set(['.s16le', '.raw', '.pcm']);

/** True for a name with such an ending. */
export function isOfSamples(name: string): boolean {
  return OF_SAMPLES.has(endingOf(name) ?? '');
}

export interface RequestedEncoding {
  readonly encode?: EncodingName | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
}

/**
 * A file holds what its ending says. A name without an ending may hold anything, and `--encode` says what any other ending is.
 * @throws TtsError (usage), also for another rate than that of a file without a header
 */
export function assertEncodable(name: string, { encode, sampleRate }: RequestedEncoding): void {
  const ending = endingOf(name);
  if (ending === undefined) return;
  const meant = namesFor(ending);
  const rate = bareRate(name);
  if (rate !== undefined && sampleRate !== undefined && rate !== sampleRate)
    throw usageError(
      `-o ${visible(name)}: ${ending} has no header, is played at ${rate} Hz, and cannot have ${sampleRate} Hz`,
      `leave the rate out, say -r ${rate}, or choose another ending: a WAV tells its rate`,
    );
  if (encode && (meant.length === 0 || meant.includes(encode))) return;
  if (encode)
    throw usageError(
      `-o ${visible(name)} and --encode ${encode} ask for different formats`,
      'leave --encode out, or choose another ending',
    );
  if (meant.length > 0) return;
  const nearest = nearestName(ending, ENDINGS);
  const remedy = `end the name with ${KNOWN}, or say what the file is to hold, with --encode`;
  throw usageError(
    `-o ${visible(name)}: ${visible(ending)} is not the ending of a format that tts writes`,
    isOfSamples(name)
      ? `--encode s16le writes bare samples of 16 bits; otherwise end the name with ${KNOWN}`
      : nearest
        ? `did you mean ${nearest}? Otherwise ${remedy}`
        : remedy,
  );
}

const ENDINGS = [...new Set(rows.flatMap(([, { endings }]) => endings))];
const KNOWN = ENDINGS.join(', ').replace(/, ([^,]+)$/, ' or $1');

/** @throws TtsError (usage) for an encoding that needs a file */
export function streamingOf({ stream, ...encoding }: Encoding, name: string): StreamingEncoding {
  if (stream) return { ...encoding, stream };
  throw usageError(
    `${name} is not a file, and ${encoding.name} can only be written to a file`,
    `name a file: -o book.${encoding.name}; --encode mp3 can go through a pipe`,
  );
}
