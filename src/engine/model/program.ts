import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { toInt16 } from '../samples.ts';
import { type Order, type Report, readFrames, writeFrame } from './frames.ts';

interface Sherpa {
  readonly OfflineTts: { createAsync(config: object): Promise<Tts> };
  readWave(file: string): { samples: Float32Array; sampleRate: number };
}

interface Tts {
  readonly sampleRate: number;
  readonly numSpeakers: number;
  generateAsync(request: object): Promise<unknown>;
}

/** Of one frame. */
const MOST_SAMPLES = 1_000_000;

const orders = new Socket({ fd: 3, readable: true, writable: false });
const reports = new Socket({ fd: 4, readable: false, writable: true });
const cancelled = new Set<number>();
let tts: Promise<Tts> | undefined;
let sherpa: Sherpa | undefined;

const report = (message: Report) => writeFrame(reports, message);

async function load(config: object): Promise<void> {
  sherpa = createRequire(import.meta.url)('sherpa-onnx-node') as Sherpa;
  tts = sherpa.OfflineTts.createAsync(config);
  const { sampleRate, numSpeakers } = await tts;
  report({ type: 'loaded', sampleRate, voices: numSpeakers });
}

async function speak({ id, text, options, reference }: Extract<Order, { type: 'speak' }>): Promise<void> {
  const model = await tts;
  const wave = reference === undefined ? undefined : sherpa?.readWave(reference);
  const likeness = wave && { referenceAudio: wave.samples, referenceSampleRate: wave.sampleRate };
  await model?.generateAsync({
    text,
    enableExternalBuffer: false,
    generationConfig: { ...options, ...likeness },
    onProgress: ({ samples }: { samples: Float32Array }) => {
      for (let start = 0; start < samples.length; start += MOST_SAMPLES)
        report({ type: 'samples', id, samples: toInt16(samples.subarray(start, start + MOST_SAMPLES)) });
      return !cancelled.has(id);
    },
  });
  report({ type: 'end', id });
}

async function obey(order: Order): Promise<void> {
  const id = order.type === 'speak' ? order.id : undefined;
  try {
    if (order.type === 'load') await load(order.config);
    else if (order.type === 'speak') await speak(order);
    else cancelled.add(order.id);
  } catch (error) {
    report({ type: 'error', id, message: error instanceof Error ? error.message : String(error) });
  } finally {
    if (id !== undefined) cancelled.delete(id);
  }
}

for await (const order of readFrames<Order>(orders)) void obey(order);
reports.end();
