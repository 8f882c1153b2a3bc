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
  /** True if its files hold the marks of chapters. */
  readonly holdsChapters?: boolean;
  /** False for a format that can only be written to a file. */
  readonly streams?: boolean;
  /** A function loads the code of a format when it is used. */
  readonly encoding: Encoding | ((options: EncodingOptions) => Promise<Encoding>);
}

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
    encoding: async () => (await import('./telephone.ts')).telephone('alaw'),
  },
  ulaw: {
    endings: ['.wav'],
    encoding: async () => (await import('./telephone.ts')).telephone('ulaw'),
  },
  s16le: { endings: [], encoding: async () => (await import('./telephone.ts')).raw },
  m4b: { ...byFfmpeg('m4b'), streams: false },
  m4a: { ...byFfmpeg('m4a'), streams: false },
  aac: { ...byFfmpeg('aac'), holdsChapters: false },
  ogg: byFfmpeg('ogg'),
  // Opus may lie in a file that ends in .ogg.
  opus: { ...byFfmpeg('opus'), endings: ['.opus', '.ogg'] },
  flac: byFfmpeg('flac'),
};

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

function open(name: EncodingName, options: EncodingOptions): Encoding {
  const { encoding, streams = true } = FORMATS[name];
  if (typeof encoding !== 'function') return encoding;
  let loading: Promise<Encoding> | undefined;
  const loaded = () => {
    loading ??= encoding(options);
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
  return open(nameOf(file, encode), options);
}

/** True if the format with a name, or else that of a file's ending, holds chapters. */
export function holdsChapters(file: string, encode?: EncodingName): boolean {
  return FORMATS[nameOf(file, encode)].holdsChapters ?? false;
}

function nameOf(file: string, encode?: EncodingName): EncodingName {
  return encode ?? namesFor(endingOf(file))[0] ?? 'wav';
}

function namesFor(ending = ''): EncodingName[] {
  return rows.filter(([, { endings }]) => endings.includes(ending)).map(([name]) => name);
}

/** The ending for a file of an encoding. */
export function usualEnding(encode: EncodingName = 'wav'): string {
  return FORMATS[encode].endings[0] ?? '.raw';
}

/** True for a name with the ending of a format that is written. */
export function isOfFormat(name: string): boolean {
  return namesFor(endingOf(name)).length > 0;
}

/** Endings that telephones and sound programs use for what `--encode` writes. */
const OF_ENCODINGS = new Map<string, EncodingName>([
  ['.ulaw', 'ulaw'],
  ['.ul', 'ulaw'],
  ['.alaw', 'alaw'],
  ['.al', 'alaw'],
  ['.s16le', 's16le'],
  ['.sln', 's16le'],
  ['.raw', 's16le'],
  ['.pcm', 's16le'],
]);

/** True for a name with such an ending. */
export function isOfEncoding(name: string): boolean {
  return OF_ENCODINGS.has(endingOf(name) ?? '');
}

/**
 * A file holds what its ending says. A name without an ending may hold anything, and `--encode` says what any other ending is.
 * @throws TtsError (usage)
 */
export function assertEncodable(name: string, encode?: EncodingName): void {
  const ending = endingOf(name);
  if (ending === undefined) return;
  const meant = namesFor(ending);
  if (encode && (meant.length === 0 || meant.includes(encode))) return;
  if (encode)
    throw usageError(
      `-o ${visible(name)} and --encode ${encode} ask for different formats`,
      'leave --encode out, or choose another ending',
    );
  if (meant.length > 0) return;
  const named = OF_ENCODINGS.get(ending);
  const nearest = nearestName(ending, ENDINGS);
  const remedy = `end the name with ${KNOWN}, or say what the file is to hold, with --encode`;
  throw usageError(
    `-o ${visible(name)}: ${visible(ending)} is not the ending of a format that tts writes`,
    named
      ? `--encode ${named} writes it${named === 's16le' ? '' : ', as a WAV'}; otherwise end the name with ${KNOWN}`
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
