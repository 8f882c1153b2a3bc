import { extname } from 'node:path';
import { ExitCode, TtsError, usageError } from '../error.ts';
import { visible } from '../printable.ts';
import type { Encoding, StreamingEncoding } from './encoding/encoding.ts';
import { wav } from './encoding/wav.ts';

const encodings: readonly Encoding[] = [wav];

/** The encoding that a file's name asks for. It is WAV where the ending names none. */
export function encodingOf(name: string): Encoding {
  const ending = extname(name).toLowerCase();
  return encodings.find(({ endings }) => endings.includes(ending)) ?? wav;
}

/** In "Dr. Smith" a name goes on after the dot. */
const ENDING = /\.[\p{L}\p{N}_-]+$/u;

/**
 * A file holds what its ending says. A name without an ending may hold anything.
 * @throws TtsError (usage) for a name that promises a format which is not written
 */
export function assertEncodable(name: string): void {
  const ending = ENDING.exec(extname(name))?.[0];
  if (ending === undefined || encodings.some(({ endings }) => endings.includes(ending.toLowerCase()))) return;
  const stem = /^[\w./-]+$/.test(name) ? name.slice(0, -ending.length) : 'x';
  throw usageError(
    `-o ${visible(name)}: only WAV files are written, and ${visible(ending)} is not an ending of one`,
    `write a WAV: -o ${stem}.wav; another program can make the other format of it: ffmpeg -i ${stem}.wav ${stem}${visible(ending)}`,
  );
}

/** @throws TtsError (output) for an encoding that needs a file */
export function streamingOf({ stream, ...encoding }: Encoding, name: string): StreamingEncoding {
  if (stream) return { ...encoding, stream };
  throw new TtsError(`${name} is not a file, and ${encoding.name} can only be written to a file`, {
    exitCode: ExitCode.output,
    hint: 'name a file with -o, or choose another format',
  });
}
