/** Messages between this program and the process of a model: JSON or samples, in frames of length, kind and content. */
import type { Readable, Writable } from 'node:stream';

/** A message to the process of a model. */
export type Order =
  | { readonly type: 'probe'; readonly runtimes: readonly string[]; readonly looksBeside: boolean }
  | { readonly type: 'load'; readonly config: object; readonly runtimes?: readonly string[] }
  | {
      readonly type: 'speak';
      readonly id: number;
      readonly text: string;
      readonly options: object;
      readonly reference?: string;
    }
  | { readonly type: 'cancel'; readonly id: number };

/** A message from it. */
export type Report =
  | { readonly type: 'found'; readonly runtime: string }
  | { readonly type: 'loaded'; readonly sampleRate: number; readonly voices: number }
  | { readonly type: 'samples'; readonly id: number; readonly samples: Int16Array }
  | { readonly type: 'end'; readonly id: number }
  | { readonly type: 'error'; readonly id?: number | undefined; readonly message: string };

const JSON_FRAME = 0;
const SAMPLES_FRAME = 1;
/** A head holds the length in four bytes, and the kind in one. */
const HEAD_BYTES = 5;
/** The longest frame in bytes: almost three minutes of samples at 48 kHz. */
const MOST_FRAME_BYTES = 16 * 2 ** 20;

export function writeFrame(stream: Writable, message: Order | Report): void {
  const [kind, bytes] =
    message.type === 'samples'
      ? [SAMPLES_FRAME, samplesBytes(message)]
      : [JSON_FRAME, Buffer.from(JSON.stringify(message))];
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt8(kind, 4);
  stream.write(Buffer.concat([head, bytes]));
}

function samplesBytes({ id, samples }: Extract<Report, { type: 'samples' }>): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt32LE(id);
  return Buffer.concat([head, new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)]);
}

/**
 * Reads the messages of a stream. A torn last frame is dropped.
 * @throws Error for a frame that is too long
 */
export async function* readFrames<Message extends Order | Report>(stream: Readable): AsyncGenerator<Message> {
  let held = Buffer.alloc(0);
  for await (const piece of stream) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    while (held.length >= HEAD_BYTES) {
      const length = held.readUInt32LE(0);
      if (length > MOST_FRAME_BYTES) throw new Error(`a frame of ${length} bytes`);
      if (held.length < HEAD_BYTES + length) break;
      const bytes = held.subarray(HEAD_BYTES, HEAD_BYTES + length);
      yield (
        held.readUInt8(4) === SAMPLES_FRAME ? samplesIn(bytes) : JSON.parse(bytes.toString())
      ) as Message;
      held = held.subarray(HEAD_BYTES + length);
    }
  }
}

function samplesIn(bytes: Buffer): Extract<Report, { type: 'samples' }> {
  // An Int16Array needs an even offset.
  const samples = new Int16Array(Uint8Array.from(bytes.subarray(4)).buffer);
  return { type: 'samples', id: bytes.readUInt32LE(0), samples };
}
