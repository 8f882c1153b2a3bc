import { extname } from 'node:path';
import { usageError } from '../error.ts';
import { nearestName } from '../nearest.ts';
import { visible } from '../printable.ts';
import type { Encoding, EncodingOptions, Format, StreamingEncoding } from './encoding/encoding.ts';
import type { EncodingName } from './encoding/names.ts';
import { wav } from './encoding/wav.ts';

/** Where two formats have one ending, the first is meant. */
const formats: readonly Format[] = [
  { name: 'wav', endings: ['.wav'], holdsChapters: false, open: () => wav },
  later('mp3', ['.mp3'], async (options) => (await import('./encoding/mp3/mp3.ts')).mp3(options), {
    holdsChapters: true,
  }),
  later('alaw', ['.wav'], async () => (await import('./encoding/telephone.ts')).telephone('alaw')),
  later('ulaw', ['.wav'], async () => (await import('./encoding/telephone.ts')).telephone('ulaw')),
  later('s16le', [], async () => (await import('./encoding/raw.ts')).raw),
  ...(['m4b', 'm4a', 'aac', 'ogg', 'opus', 'flac'] as const).map((name) =>
    later(
      name,
      // Opus may lie in a file that ends in .ogg.
      name === 'opus' ? ['.opus', '.ogg'] : [`.${name}`],
      async (options) => {
        const { ffmpegFormats } = await import('./encoding/ffmpeg/formats.ts');
        return (await import('./encoding/ffmpeg/encoding.ts')).byFfmpeg(ffmpegFormats[name], options);
      },
      { streams: !name.startsWith('m4'), holdsChapters: true },
    ),
  ),
];

/** A format whose code is loaded when it is used. */
function later(
  name: EncodingName,
  endings: readonly string[],
  load: (options: EncodingOptions) => Promise<Encoding>,
  { streams = true, holdsChapters = false } = {},
): Format {
  return {
    name,
    endings,
    holdsChapters,
    open(options) {
      let loading: Promise<Encoding> | undefined;
      const loaded = () => {
        loading ??= load(options);
        return loading;
      };
      return {
        name,
        assertReady: async () => (await loaded()).assertReady(),
        record: async (...sound) => (await loaded()).record(...sound),
        ...(streams && {
          async *stream(...sound) {
            yield* (await loaded()).stream?.(...sound) ?? [];
          },
        }),
      };
    },
  };
}

/** In "Dr. Smith" a name goes on after the dot. */
const ENDING = /\.[\p{L}\p{N}_-]+$/u;

function endingOf(name: string): string | undefined {
  return ENDING.exec(extname(name))?.[0].toLowerCase();
}

/** The encoding that is asked for by name, or else by the ending of a file. It is WAV where neither says another. */
export function encodingOf(
  file: string,
  { encode, ...options }: EncodingOptions & { readonly encode?: EncodingName | undefined },
): Encoding {
  return formatOf(file, encode)?.open(options) ?? wav;
}

/** True if the format that is asked for by name, or else by the ending of a file, holds the marks of chapters. */
export function holdsChapters(file: string, encode?: EncodingName): boolean {
  return formatOf(file, encode)?.holdsChapters ?? false;
}

function formatOf(file: string, encode?: EncodingName): Format | undefined {
  const ending = endingOf(file) ?? '';
  return formats.find(({ name, endings }) => (encode ? name === encode : endings.includes(ending)));
}

/** The ending of a file that has no name yet. */
export function usualEnding(encode: EncodingName = 'wav'): string {
  const [ending = '.raw'] = formats.find(({ name }) => name === encode)?.endings ?? [];
  return ending;
}

/** True if the name ends as one of a format that is written. */
export function isOfFormat(name: string): boolean {
  const ending = endingOf(name);
  return ending !== undefined && formats.some(({ endings }) => endings.includes(ending));
}

/**
 * A file holds what its ending says. A name without an ending may hold anything, and `--encode` says what any other ending is.
 * @throws TtsError (usage)
 */
export function assertEncodable(name: string, encode?: EncodingName): void {
  const ending = endingOf(name);
  if (ending === undefined) return;
  const meant = formats.filter(({ endings }) => endings.includes(ending));
  if (encode && (meant.length === 0 || meant.some((format) => format.name === encode))) return;
  if (encode)
    throw usageError(
      `-o ${visible(name)} and --encode ${encode} ask for different formats`,
      'leave --encode out, or choose another ending',
    );
  if (meant.length > 0) return;
  const nearest = nearestName(ending, ENDINGS);
  throw usageError(
    `-o ${visible(name)}: ${visible(ending)} is not the ending of a format that tts writes`,
    `${nearest ? `did you mean ${nearest}? E` : 'e'}nd the name with ${KNOWN}, or say what the file is to hold, with --encode`,
  );
}

const ENDINGS = [...new Set(formats.flatMap(({ endings }) => endings))];
const KNOWN = ENDINGS.join(', ').replace(/, ([^,]+)$/, ' or $1');

/** @throws TtsError (usage) for an encoding that needs a file */
export function streamingOf({ stream, ...encoding }: Encoding, name: string): StreamingEncoding {
  if (stream) return { ...encoding, stream };
  throw usageError(
    `${name} is not a file, and ${encoding.name} can only be written to a file`,
    `name a file: -o book.${encoding.name}; --encode mp3 can go through a pipe`,
  );
}
