import { frameBytes, type PcmFormat } from './pcm.ts';

export interface Samples {
  readonly samples: Int16Array;
  /** Hz. */
  readonly sampleRate: number;
}

const FULL_SCALE = 32_768;

export function zeros(frames: number): Float32Array {
  return new Float32Array(mappedBuffer(4 * frames));
}

/** @returns samples from -1 to 1 */
export function toFloat(samples: Int16Array): Float32Array {
  const floats = zeros(samples.length);
  for (let frame = 0; frame < floats.length; frame += 1) floats[frame] = (samples[frame] ?? 0) / FULL_SCALE;
  return floats;
}

/** Clips samples beyond full scale. */
export function toInt16(samples: Float32Array | Float64Array): Int16Array {
  const integers = new Int16Array(mappedBuffer(2 * samples.length));
  for (let frame = 0; frame < samples.length; frame += 1) {
    const integer = rounded((samples[frame] ?? 0) * FULL_SCALE);
    integers[frame] = Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, integer));
  }
  return integers;
}

/** Like `Math.round`, which V8 takes twice as long for: 0.06 s for 10 minutes of sound. */
function rounded(value: number): number {
  return Math.floor(value + 0.5);
}

export function join(pieces: readonly Float32Array[]): Float32Array {
  const joined = zeros(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let end = 0;
  for (const piece of pieces) {
    joined.set(piece, end);
    end += piece.length;
  }
  return joined;
}

/** Allocates a resizable buffer: mapped memory, which is freed at once, where malloc would keep buffers of some MB. */
export function mappedBuffer(bytes: number): ArrayBuffer {
  return new ArrayBuffer(bytes, { maxByteLength: bytes });
}

type Kind = Pick<PcmFormat, 'encoding' | 'bitsPerSample'>;

/**
 * @returns interleaved samples from -1 to 1
 * @param bytes whole frames
 */
export function floatsOf(bytes: Uint8Array, format: Kind): Float32Array {
  const floats = new Float32Array((8 * bytes.length) / format.bitsPerSample);
  readFloats(bytes, format, floats);
  return floats;
}

/** Like {@link floatsOf}, but writes the samples to the start of an array. */
export function readFloats(bytes: Uint8Array, format: Kind, floats: Float32Array): void {
  const read = sampleReader(format);
  const size = format.bitsPerSample / 8;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0, end = bytes.length / size; at < end; at += 1) floats[at] = read(view, at * size);
}

/** @param samples interleaved, from -1 to 1; integers are clipped */
export function bytesOf(samples: ArrayLike<number>, format: Kind): Uint8Array {
  const write = sampleWriter(format);
  const size = format.bitsPerSample / 8;
  const view = new DataView(new ArrayBuffer(samples.length * size));
  for (let at = 0; at < samples.length; at += 1) write(view, at * size, samples[at] ?? 0);
  return new Uint8Array(view.buffer);
}

/**
 * Splits interleaved samples into lanes.
 * @param bytes whole frames
 * @param count the number of channels, or 1 for their mean
 * @returns the samples of each lane, from -1 to 1
 */
export function lanesOf(bytes: Uint8Array, format: PcmFormat, count: number): Float64Array[] {
  const { channels, bitsPerSample } = format;
  const size = frameBytes(format);
  const read = sampleReader(format);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const mixed = channels / count;
  return Array.from({ length: count }, (_, first) => {
    const lane = new Float64Array(bytes.length / size);
    for (let frame = 0; frame < lane.length; frame += 1) {
      let sum = 0;
      for (let channel = first; channel < first + mixed; channel += 1)
        sum += read(view, frame * size + (channel * bitsPerSample) / 8);
      lane[frame] = sum / mixed;
    }
    return lane;
  });
}

/**
 * Takes floats that are no numbers for silence: one of them would spoil all that a filter makes of the samples after it.
 * @returns a function that reads the sample at a byte offset, from -1 to 1
 */
export function sampleReader({ encoding, bitsPerSample }: Kind): (view: DataView, at: number) => number {
  if (encoding === 'float')
    return (view, at) => {
      const sample = view.getFloat32(at, true);
      return Number.isFinite(sample) ? sample : 0;
    };
  if (bitsPerSample === 8) return (view, at) => (view.getUint8(at) - 128) / 2 ** 7;
  if (bitsPerSample === 16) return (view, at) => view.getInt16(at, true) / 2 ** 15;
  if (bitsPerSample === 24)
    return (view, at) => (view.getInt16(at + 1, true) * 256 + view.getUint8(at)) / 2 ** 23;
  return (view, at) => view.getInt32(at, true) / 2 ** 31;
}

/** @returns a function that writes a sample from -1 to 1 at a byte offset, and clips integers */
function sampleWriter({ encoding, bitsPerSample }: Kind) {
  if (encoding === 'float')
    return (view: DataView, at: number, sample: number) => view.setFloat32(at, sample, true);
  const scale = 2 ** (bitsPerSample - 1);
  const write = integerWriter(bitsPerSample);
  return (view: DataView, at: number, sample: number) =>
    write(view, at, Math.max(-scale, Math.min(scale - 1, rounded(sample * scale))));
}

function integerWriter(bits: number): (view: DataView, at: number, value: number) => void {
  if (bits === 8) return (view, at, value) => view.setUint8(at, value + 128);
  if (bits === 16) return (view, at, value) => view.setInt16(at, value, true);
  if (bits === 32) return (view, at, value) => view.setInt32(at, value, true);
  return (view, at, value) => {
    view.setUint8(at, value & 0xff);
    view.setInt16(at + 1, value >> 8, true);
  };
}

/** Reads a given number of bytes from pieces of any size, without copying whole pieces. */
export class ByteReader {
  readonly #body: AsyncIterator<Uint8Array>;
  #ahead: Uint8Array = new Uint8Array(0);
  #consumed = 0;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body[Symbol.asyncIterator]();
  }

  get position(): number {
    return this.#consumed;
  }

  /** @returns the next bytes without consuming them; fewer at the end of the source */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#ahead.length < count) {
      const piece = await this.#pull();
      if (piece === undefined) break;
      this.#ahead = this.#ahead.length === 0 ? piece : Buffer.concat([this.#ahead, piece]);
    }
    return this.#ahead.subarray(0, count);
  }

  /** @returns 1 to `limit` bytes; `undefined` at the end */
  async piece(limit: number): Promise<Uint8Array | undefined> {
    while (this.#ahead.length === 0) {
      const piece = await this.#pull();
      if (piece === undefined) return undefined;
      this.#ahead = piece;
    }
    const piece = this.#ahead.length > limit ? this.#ahead.subarray(0, limit) : this.#ahead;
    this.#ahead = this.#ahead.subarray(piece.length);
    this.#consumed += piece.length;
    return piece;
  }

  unread(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#ahead = this.#ahead.length === 0 ? bytes : Buffer.concat([bytes, this.#ahead]);
    this.#consumed -= bytes.length;
  }

  /** @returns the next bytes; fewer at the end of the source */
  async take(count: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(count);
    let filled = 0;
    while (filled < count) {
      const piece = await this.piece(count - filled);
      if (piece === undefined) break;
      bytes.set(piece, filled);
      filled += piece.length;
    }
    return bytes.subarray(0, filled);
  }

  async skip(count: number): Promise<void> {
    for (let remaining = count; remaining > 0; ) {
      const piece = await this.piece(remaining);
      if (piece === undefined) return;
      remaining -= piece.length;
    }
  }

  async close(): Promise<void> {
    this.#ahead = new Uint8Array(0);
    await this.#body.return?.();
  }

  async #pull(): Promise<Uint8Array | undefined> {
    const next = await this.#body.next();
    return next.done ? undefined : next.value;
  }
}
