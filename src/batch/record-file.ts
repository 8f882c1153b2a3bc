import { readSync } from 'node:fs';
import { writeAt } from '../files/block-writer.ts';
import { NamelessFile } from '../files/nameless-file.ts';
import { keyedHash } from './keyed-hash.ts';

const BATCH_BYTES = 256 * 1024;

/**
 * Keeps records in a temporary file, with 40 bytes of index a record.
 * @throws TtsError (output) where that cannot be written, here and in the methods
 */
export class RecordFile<T> implements Disposable {
  readonly #file = new NamelessFile('batch');
  readonly #ends = new NumberList();
  readonly #indexes: readonly KeyIndex<T>[];
  /** Records are read into it, one after another. */
  #buffer = Buffer.allocUnsafe(1024);
  /** Records wait in it as bytes: strings that wait would make V8 enlarge the place for young objects. */
  #pending = Buffer.allocUnsafe(BATCH_BYTES);
  #pendingBytes = 0;
  #writtenBytes = 0;

  /** @param keys the keys to {@link find} records by; keys of different kinds must differ */
  constructor(...keys: readonly ((record: T) => string)[]) {
    this.#indexes = keys.map((key) => new KeyIndex(key));
  }

  get count(): number {
    return this.#ends.length;
  }

  /** @returns the number of the record, from 0 */
  add(record: T): number {
    const text = JSON.stringify(record);
    const length = Buffer.byteLength(text);
    if (this.#pendingBytes + length > this.#pending.length) this.#flush();
    if (length > this.#pending.length) this.#pending = Buffer.allocUnsafe(2 * length);
    this.#pendingBytes += this.#pending.write(text, this.#pendingBytes);
    this.#ends.push(this.#writtenBytes + this.#pendingBytes);
    for (const index of this.#indexes)
      index.add(index.keyOf(record), this.count - 1, (same) => this.at(same));
    return this.count - 1;
  }

  at(number: number): T {
    const end = this.#ends.at(number);
    const start = this.#ends.at(number - 1);
    if (end > this.#writtenBytes) this.#flush();
    const length = end - start;
    if (length > this.#buffer.length) this.#buffer = Buffer.allocUnsafe(2 * length);
    let read = 0;
    while (read < length) read += readSync(this.#file.fd, this.#buffer, read, length - read, start + read);
    return JSON.parse(this.#buffer.toString('utf8', 0, length));
  }

  /** @returns the last record with this key */
  find(which: number, key: string): number | undefined {
    return this.#indexes[which]?.find(key, (number) => this.at(number));
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #flush(): void {
    const bytes = this.#pending.subarray(0, this.#pendingBytes);
    this.#pendingBytes = 0;
    this.#file.writing(() => writeAt(this.#file.fd, bytes, this.#writtenBytes));
    this.#writtenBytes += bytes.length;
  }
}

/** It uses open addressing, and reads records to tell equal hashes apart. A record replaces an older one with its key. */
class KeyIndex<T> {
  readonly keyOf: (record: T) => string;
  readonly #hashOf = keyedHash();
  readonly #hashes = new NumberList(Int32Array);
  /** A place holds the number of a record plus one, and 0 if it is free. The length is a power of two. */
  #places = new Int32Array(1024);
  #used = 0;

  constructor(keyOf: (record: T) => string) {
    this.keyOf = keyOf;
  }

  add(key: string, number: number, read: (number: number) => T): void {
    this.#hashes.push(this.#hashOf(key));
    const place = this.#placeOf(key, this.#hashes.at(number), read);
    if (!this.#places[place]) this.#used += 1;
    this.#places[place] = number + 1;
    if (2 * this.#used > this.#places.length) this.#grow();
  }

  find(key: string, read: (number: number) => T): number | undefined {
    const number = this.#places[this.#placeOf(key, this.#hashOf(key), read)];
    return number ? number - 1 : undefined;
  }

  /** @returns the place of the key, or the free one for it */
  #placeOf(key: string, hash: number, read: (number: number) => T): number {
    const isSame = (number: number) => this.#hashes.at(number) === hash && this.keyOf(read(number)) === key;
    const mask = this.#places.length - 1;
    let place = hash & mask;
    for (let taken = this.#places[place]; taken && !isSame(taken - 1); taken = this.#places[place])
      place = (place + 1) & mask;
    return place;
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Int32Array(2 * old.length);
    const mask = this.#places.length - 1;
    for (const taken of old) {
      if (!taken) continue;
      let place = this.#hashes.at(taken - 1) & mask;
      while (this.#places[place]) place = (place + 1) & mask;
      this.#places[place] = taken;
    }
  }
}

const CHUNK = 65_536;

export class NumberList {
  readonly #chunks: (Float64Array | Int32Array)[] = [];
  readonly #Chunk: typeof Float64Array | typeof Int32Array;
  length = 0;

  /** @param Chunk the type of array, for integers below 2^53 or below 2^31 */
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
