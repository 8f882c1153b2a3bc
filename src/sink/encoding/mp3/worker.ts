import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { frameBytes, type PcmFormat } from '../../../audio/pcm.ts';
import { sampleReader } from '../../../audio/samples.ts';
import { Lame, type LameSettings } from './lame.ts';

/** The first message to the worker. PCM follows, and `end` for the rest. */
export interface Mp3Order extends Pick<LameSettings, 'bitrate'> {
  readonly format: PcmFormat;
}

parentPort?.once('message', async ({ format, bitrate }: Mp3Order) => {
  const module = await WebAssembly.compile(readFileSync(new URL('mp3.wasm', import.meta.url)));
  const lame = new Lame(module, { ...format, bitrate });
  parentPort?.on('message', (pcm: Uint8Array | 'end') => {
    const encoded = pcm === 'end' ? lame.end() : lame.encode(lanesOf(pcm, format));
    parentPort?.postMessage(encoded, [encoded.buffer as ArrayBuffer]);
  });
  parentPort?.postMessage('ready');
});

function lanesOf(pcm: Uint8Array, format: PcmFormat): Float32Array[] {
  const { channels, bitsPerSample } = format;
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.length);
  const read = sampleReader(format);
  const size = frameBytes(format);
  return Array.from({ length: channels }, (_, channel) => {
    const lane = new Float32Array(pcm.length / size);
    const start = channel * (bitsPerSample / 8);
    for (let frame = 0; frame < lane.length; frame += 1) lane[frame] = read(view, frame * size + start);
    return lane;
  });
}
