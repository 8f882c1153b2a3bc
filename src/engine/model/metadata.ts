import { closeSync, openSync, readSync, statSync } from 'node:fs';

/** Bytes at the end of an ONNX file. Its metadata is there. */
const METADATA_BYTES = 64 * 1024;

/** Bytes; the longest values are lists of speakers. */
const LONGEST_VALUE = 16 * 1024;

export function mentions(file: string, word: string): boolean {
  return ends(file, METADATA_BYTES).last.includes(word);
}

/**
 * Reads a value of `metadata_props`: a field with key and value, each of which begins with its length
 * (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
 * @returns empty where there is none
 */
export function metadataOf(file: string, key: string): string {
  const { last } = ends(file, METADATA_BYTES);
  const name = Buffer.from([0x0a, key.length, ...Buffer.from(key), 0x12]);
  const at = last.lastIndexOf(name);
  if (at < 0) return '';
  let length = 0;
  let from = at + name.length;
  for (let shift = 0; shift < 21; shift += 7) {
    const byte = last[from] ?? 0;
    from += 1;
    length |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return length > LONGEST_VALUE ? '' : last.toString('utf8', from, from + length);
}

export function ends(file: string, most: number): { first: Buffer; last: Buffer } {
  const fd = openSync(file, 'r');
  try {
    const { size } = statSync(file);
    const length = Math.min(most, size);
    const [first, last] = [Buffer.alloc(length), Buffer.alloc(length)];
    readSync(fd, first, 0, length, 0);
    readSync(fd, last, 0, length, size - length);
    return { first, last };
  } finally {
    closeSync(fd);
  }
}
