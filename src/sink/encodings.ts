import { extname } from 'node:path';
import { ExitCode, TtsError, usageError } from '../error.ts';
import type { Encoding, StreamingEncoding } from './encoding/encoding.ts';
import { wav } from './encoding/wav.ts';

const encodings: readonly Encoding[] = [wav];

/** The encoding that a file's name asks for. It is WAV where the ending names none. */
export function encodingOf(name: string): Encoding {
  const ending = extname(name).toLowerCase();
  return encodings.find(({ endings }) => endings.includes(ending)) ?? wav;
}

const SOUND = /^\.(?:mp3|ogg|opus|flac|m4a|aac|wma|webm)$/i;

/** @throws TtsError (usage) for a name that promises a format which is not written */
export function assertEncodable(name: string): void {
  const ending = extname(name);
  if (!SOUND.test(ending) || encodingOf(name) !== wav) return;
  const stem = /^[\w./-]+$/.test(name) ? name.slice(0, -ending.length) : 'x';
  throw usageError(
    `-o ${name}: only WAV files are written`,
    `write a WAV, and make the other of it: -o ${stem}.wav && ffmpeg -i ${stem}.wav ${stem}${ending}`,
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
