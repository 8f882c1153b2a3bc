import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { PcmFormat } from '../pcm.ts';
import { lanesOf } from '../samples.ts';

/** The settings for one sound. */
export interface LameSettings {
  readonly channels: number;
  /** Hz; one of {@link MP3_RATES}. */
  readonly sampleRate: number;
  /** kbit/s. */
  readonly bitrate: number;
}

/** Hz that MP3 supports. */
export const MP3_RATES = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;

/** Frames of silence that the encoder puts before the sound. */
export const ENCODER_DELAY = 576;

interface LameExports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  enc_init(settings: number): number;
  enc_get_pcm(encoder: number, frames: number): number;
  enc_encode(encoder: number, frames: number): number;
  enc_flush(encoder: number): number;
  enc_get_out_buf(encoder: number): number;
}

const SETTINGS_BYTES = 20;

/** LAME as WebAssembly. It returns MPEG frames with a constant bitrate, and no header of its own. */
export class Lame {
  readonly #lame: LameExports;
  readonly #encoder: number;
  readonly #channels: number;

  constructor(module: WebAssembly.Module, { channels, sampleRate, bitrate }: LameSettings) {
    const instance = new WebAssembly.Instance(module, {
      env: { emscripten_notify_memory_growth() {} },
      wasi_snapshot_preview1: {
        proc_exit(status: number) {
          throw new Error(`the encoder ended with ${status}`);
        },
      },
    });
    this.#lame = instance.exports as unknown as LameExports;
    this.#lame._initialize();
    const address = this.#lame.malloc(SETTINGS_BYTES);
    const settings = new DataView(this.#lame.memory.buffer, address, SETTINGS_BYTES);
    [channels, sampleRate, bitrate].forEach((value, at) => void settings.setUint32(4 * at, value, true));
    // No variable bitrate, and no resampling.
    settings.setFloat32(12, -1, true);
    settings.setUint32(16, sampleRate, true);
    this.#encoder = this.#lame.enc_init(address);
    this.#channels = channels;
    if (this.#encoder === 0) throw new Error(`no encoder for ${sampleRate} Hz at ${bitrate} kbit/s`);
  }

  /** @param lanes the samples of each channel, from -1 to 1 */
  encode(lanes: readonly Float64Array[]): Uint8Array {
    const frames = lanes[0]?.length ?? 0;
    if (frames === 0) return new Uint8Array();
    const { memory, enc_get_pcm: room, enc_encode: encode } = this.#lame;
    // This call may grow the memory and so replace its buffer.
    const addresses = room(this.#encoder, frames);
    const places = new Uint32Array(memory.buffer, addresses, this.#channels).slice();
    places.forEach((place, channel) => {
      new Float32Array(memory.buffer, place, frames).set(lanes[channel] ?? new Float32Array(frames));
    });
    return this.#taken(encode(this.#encoder, frames));
  }

  /** @returns the frames still held by the encoder */
  end(): Uint8Array {
    return this.#taken(this.#lame.enc_flush(this.#encoder));
  }

  #taken(bytes: number): Uint8Array {
    if (bytes < 0) throw new Error(`the encoder failed: ${bytes}`);
    return new Uint8Array(this.#lame.memory.buffer, this.#lame.enc_get_out_buf(this.#encoder), bytes).slice();
  }
}

/** The first message to the worker. PCM follows, then `end`, which flushes the encoder. */
export interface Mp3Order extends Pick<LameSettings, 'bitrate'> {
  readonly format: PcmFormat;
}

parentPort?.once('message', async ({ format, bitrate }: Mp3Order) => {
  const module = await WebAssembly.compile(readFileSync(new URL('mp3.wasm', import.meta.url)));
  const lame = new Lame(module, { ...format, bitrate });
  parentPort?.on('message', (pcm: Uint8Array | 'end') => {
    const encoded = pcm === 'end' ? lame.end() : lame.encode(lanesOf(pcm, format, format.channels));
    parentPort?.postMessage(encoded, [encoded.buffer as ArrayBuffer]);
  });
  parentPort?.postMessage('ready');
});
