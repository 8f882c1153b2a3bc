import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BATCH_BYTES = 256 * 1024;

/** In a temporary file, with 40 bytes of index a record. */
export class RecordFile<T> implements Disposable {
  readonly #path = join(tmpdir(), `tts-batch-${randomUUID()}`);
  readonly #fd = openSync(this.#path, 'wx+', 0o600);
  readonly #ends = new NumberList();
  readonly #indexes: readonly KeyIndex<T>[];
  #pending: string[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;

  /** @param keys to {@link find} records by; different kinds must differ */
  constructor(...keys: readonly ((record: T) => string)[]) {
    this.#indexes = keys.map((key) => new KeyIndex(key));
    // POSIX keeps an open file; on Windows `dispose` removes it.
    removeQuietly(this.#path);
  }

  get count(): number {
    return this.#ends.length;
  }

  /** @returns its number, from 0 */
  add(record: T): number {
    const text = JSON.stringify(record);
    this.#pending.push(text);
    this.#pendingBytes += Buffer.byteLength(text);
    this.#ends.push(this.#writtenBytes + this.#pendingBytes);
    for (const index of this.#indexes) index.add(record, this.count - 1);
    if (this.#pendingBytes >= BATCH_BYTES) this.#flush();
    return this.count - 1;
  }

  at(number: number): T {
    const end = this.#ends.at(number);
    const start = this.#ends.at(number - 1);
    if (end > this.#writtenBytes) this.#flush();
    const bytes = Buffer.allocUnsafe(end - start);
    let read = 0;
    while (read < bytes.length) read += readSync(this.#fd, bytes, read, bytes.length - read, start + read);
    return JSON.parse(bytes.toString());
  }

  /** @returns the last accepted record with this key */
  find(which: number, key: string, accepts = (_: T) => true): number | undefined {
    const index = this.#indexes[which];
    return index?.find(key, (number) => {
      const record = this.at(number);
      return index.keyOf(record) === key && accepts(record);
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
    removeQuietly(this.#path);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending.join(''));
    this.#pending = [];
    this.#pendingBytes = 0;
    let written = 0;
    while (written < bytes.length)
      written += writeSync(this.#fd, bytes, written, bytes.length - written, this.#writtenBytes + written);
    this.#writtenBytes += bytes.length;
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Windows keeps an open file.
  }
}

/** Open addressing. Reads records to tell equal hashes apart. */
class KeyIndex<T> {
  readonly keyOf: (record: T) => string;
  readonly #hashes = new NumberList(Int32Array);
  /** Numbers plus one; 0 is free. The length is a power of two. */
  #places = new Int32Array(1024);

  constructor(keyOf: (record: T) => string) {
    this.keyOf = keyOf;
  }

  add(record: T, number: number): void {
    this.#hashes.push(hash32(this.keyOf(record)));
    if (2 * this.#hashes.length > this.#places.length) this.#grow();
    else this.#put(number);
  }

  find(key: string, isSame: (number: number) => boolean): number | undefined {
    const wanted = hash32(key);
    const mask = this.#places.length - 1;
    let found = -1;
    for (let place = wanted & mask; this.#places[place]; place = (place + 1) & mask) {
      const number = (this.#places[place] ?? 0) - 1;
      if (number > found && this.#hashes.at(number) === wanted && isSame(number)) found = number;
    }
    return found < 0 ? undefined : found;
  }

  #put(number: number): void {
    const mask = this.#places.length - 1;
    let place = this.#hashes.at(number) & mask;
    while (this.#places[place]) place = (place + 1) & mask;
    this.#places[place] = number + 1;
  }

  #grow(): void {
    this.#places = new Int32Array(2 * this.#places.length);
    for (let number = 0; number < this.#hashes.length; number += 1) this.#put(number);
  }
}

const CHUNK = 65_536;

export class NumberList {
  readonly #chunks: (Float64Array | Int32Array)[] = [];
  readonly #Chunk: typeof Float64Array | typeof Int32Array;
  length = 0;

  /** @param Chunk for integers below 2^53, or below 2^31 */
  constructor(Chunk: typeof Float64Array | typeof Int32Array = Float64Array) {
    this.#Chunk = Chunk;
  }

  push(value: number): void {
    const at = this.length % CHUNK;
    if (at === 0) this.#chunks.push(new this.#Chunk(CHUNK));
    (this.#chunks.at(-1) as Float64Array | Int32Array)[at] = value;
    this.length += 1;
  }

  at(place: number): number {
    return this.#chunks[Math.floor(place / CHUNK)]?.[place % CHUNK] ?? 0;
  }
}

/** FNV-1a. */
function hash32(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash;
}
