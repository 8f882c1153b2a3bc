import { execFileSync } from 'node:child_process';

/** The samples of a file as ffmpeg decodes them, with 16 bits. */
export function decoded(path: string): Int16Array {
  const bytes = execFileSync('ffmpeg', ['-v', 'error', '-i', path, '-f', 's16le', '-'], {
    maxBuffer: 2 ** 30,
  });
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
