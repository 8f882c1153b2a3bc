import { execFileSync } from 'node:child_process';

/** Decodes a file with ffmpeg into 16-bit samples. @param rate Hz; by default the rate of the file */
export function decoded(path: string, rate?: number): Int16Array {
  const resampling = rate === undefined ? [] : ['-ar', `${rate}`];
  const bytes = execFileSync('ffmpeg', ['-v', 'error', '-i', path, ...resampling, '-f', 's16le', '-'], {
    maxBuffer: 2 ** 30,
  });
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
