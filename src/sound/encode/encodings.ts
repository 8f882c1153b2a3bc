/** The table of output formats, and the choice among them by name or file ending. */
import { extname } from 'node:path';
import { usageError } from '../../kit/error.ts';
import { loadOnce } from '../../kit/wait.ts';
import { nearestName, visible } from '../../kit/words.ts';
import type { Encoding, EncodingName, EncodingOptions, StreamingEncoding } from './encoding.ts';
import type { ffmpegFormats } from './ffmpeg.ts';
import { wav } from './wav.ts';

/** One row of the table of formats. */
interface Row {
  /** With their dot, in lower case. */
  readonly endings: readonly string[];
  /** Further endings of files without a header, with the Hz at which a PBX plays them. */
  readonly headerless?: Readonly<Record<string, number>>;
  /** True if its files can hold chapter marks. */
  readonly holdsChapters?: boolean;
  /** False for a format that cannot go through a pipe. */
  readonly streams?: boolean;
  /**
   * A function loads the format's code on first use.
   * @param rate Hz of a file without a header
   */
  readonly encoding: Encoding | ((options: EncodingOptions, rate: number | undefined) => Promise<Encoding>);
}

/**
 * Endings that Asterisk plays without a header (`format_pcm.c`, `format_sln.c`); FreeSWITCH does so for .ul and .al, too.
 */
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

/** The table of formats. The first row with an ending wins. */
const FORMATS: Readonly<Record<EncodingName, Row>> = {
  wav: { endings: ['.wav'], encoding: wav },
  mp3: {
    endings: ['.mp3'],
    holdsChapters: true,
    encoding: async (options) => (await import('./mp3.ts')).mp3(options),
  },
  alaw: {
    endings: ['.wav'],
    headerless: A_LAW,
    encoding: async (_, rate) => (await import('./telephone.ts')).telephone('alaw', rate),
  },
  ulaw: {
    endings: ['.wav'],
    headerless: MU_LAW,
    encoding: async (_, rate) => (await import('./telephone.ts')).telephone('ulaw', rate),
  },
  s16le: {
    endings: [],
    headerless: LINEAR,
    encoding: async (_, rate) => (await import('./telephone.ts')).raw(rate),
  },
  m4b: { ...byFfmpeg('m4b'), streams: false },
  m4a: { ...byFfmpeg('m4a'), streams: false },
  aac: { ...byFfmpeg('aac'), holdsChapters: false },
  ogg: byFfmpeg('ogg'),
  // Some programs name Opus files .ogg.
  opus: { ...byFfmpeg('opus'), endings: ['.opus', '.ogg'] },
  flac: byFfmpeg('flac'),
  epub: { endings: ['.epub'], holdsChapters: true, streams: false, encoding: async () => NO_BOOK },
};

/** Read-along books are made where their text is known: `src/run/read-along.ts`. */
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
  const loaded = loadOnce(() => encoding(options, rate));
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

/** Returns the ending in lower case; "Dr. Smith" has none. */
function endingOf(name: string): string | undefined {
  return /\.[\p{L}\p{N}_-]+$/u.exec(extname(name))?.[0].toLowerCase();
}

/** Returns the named encoding, or else the one for the file's ending, or else WAV. */
export function encodingOf(
  file: string,
  { encode, ...options }: EncodingOptions & { readonly encode?: EncodingName | undefined },
): Encoding {
  return open(nameOf(file, encode), options, headerlessRate(file));
}

/** Returns a key that is equal for files with the same encoding. */
export function encodingKey(file: string, encode?: EncodingName): string {
  return `${nameOf(file, encode)} ${headerlessRate(file) ?? ''}`;
}

/** True if the named format, or else the one for the file's ending, holds chapters. */
export function holdsChapters(file: string, encode?: EncodingName): boolean {
  return FORMATS[nameOf(file, encode)].holdsChapters ?? false;
}

function nameOf(file: string, encode?: EncodingName): EncodingName {
  return encode ?? namesFor(endingOf(file))[0] ?? 'wav';
}

function namesFor(ending = ''): EncodingName[] {
  return rows
    .filter(([, { endings, headerless }]) => endings.includes(ending) || headerless?.[ending] !== undefined)
    .map(([name]) => name);
}

/** @returns the Hz at which a PBX plays a file without a header */
function headerlessRate(file: string): number | undefined {
  const ending = endingOf(file) ?? '';
  return rows.map(([, { headerless }]) => headerless?.[ending]).find((rate) => rate !== undefined);
}

/** Returns the usual ending for files of an encoding. */
export function usualEnding(encode: EncodingName = 'wav'): string {
  return FORMATS[encode].endings[0] ?? '.raw';
}

/** True if the name ends like a format that can be written. */
export function hasKnownEnding(name: string): boolean {
  return namesFor(endingOf(name)).length > 0;
}

/** Endings of raw samples that may have any form: Asterisk takes .pcm for µ-law. */
const RAW_ENDINGS = new Set(['.s16le', '.raw', '.pcm']);

/** True if the name has an ending of {@link RAW_ENDINGS}. */
export function hasRawEnding(name: string): boolean {
  return RAW_ENDINGS.has(endingOf(name) ?? '');
}

export interface RequestedEncoding {
  readonly encode?: EncodingName | undefined;
  /** Hz. */
  readonly sampleRate?: number | undefined;
}

/**
 * Checks that ending and request agree. `--encode` decides for names without an ending, or with an unknown one.
 * @throws TtsError (usage), also for a rate that a file without a header cannot have
 */
export function assertEncodable(name: string, { encode, sampleRate }: RequestedEncoding): void {
  const ending = endingOf(name);
  if (ending === undefined) return;
  const meant = namesFor(ending);
  const rate = headerlessRate(name);
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
    hasRawEnding(name)
      ? `--encode s16le writes bare samples of 16 bits; otherwise end the name with ${KNOWN}`
      : nearest
        ? `did you mean ${nearest}? Otherwise ${remedy}`
        : remedy,
  );
}

const ENDINGS = [...new Set(rows.flatMap(([, { endings }]) => endings))];
const KNOWN = ENDINGS.join(', ').replace(/, ([^,]+)$/, ' or $1');

/** @throws TtsError (usage) for an encoding that can only be written to a file */
export function streamingOf({ stream, ...encoding }: Encoding, name: string): StreamingEncoding {
  if (stream) return { ...encoding, stream };
  throw usageError(
    `${name} is not a file, and ${encoding.name} can only be written to a file`,
    `name a file: -o book.${encoding.name}; --encode mp3 can go through a pipe`,
  );
}
