import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toInt16 } from '../../audio/samples.ts';
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

/** Longer sound goes in several frames. */
const MOST_SAMPLES = 1_000_000;

const orders = new Socket({ fd: 3, readable: true, writable: false });
const reports = new Socket({ fd: 4, readable: false, writable: true });
const cancelled = new Set<number>();
let tts: Promise<Tts> | undefined;
let sherpa: Sherpa | undefined;

const report = (message: Report) => writeFrame(reports, message);

/**
 * A package has to be installed with tts: npm puts it into the same folder or into that of tts. Node itself would also take one
 * from every folder above, from the home folder and from `NODE_PATH`.
 */
function folderOf(name: string): string {
  const own = dirname(dirname(fileURLToPath(import.meta.url)));
  const shared = dirname(own);
  const places = [join(own, 'node_modules'), ...(basename(shared) === 'node_modules' ? [shared] : [])];
  const found = places.map((place) => join(place, name)).find(existsSync);
  if (found === undefined)
    throw new Error(`a model folder needs the package ${name}: npm install -g ${name}`);
  return found;
}

async function load(config: object): Promise<void> {
  sherpa = createRequire(import.meta.url)(folderOf('sherpa-onnx-node')) as Sherpa;
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
