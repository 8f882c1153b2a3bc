import { Socket } from 'node:net';
import { toInt16 } from '../sound/samples.ts';
import { loadRuntime, type OpenedModel, type Runtime } from './model.ts';
import { type Order, type Report, readFrames, writeFrame } from './model-process.ts';

/** Longer sound goes in several frames. */
const MOST_SAMPLES = 1_000_000;

const orders = new Socket({ fd: 3, readable: true, writable: false });
const reports = new Socket({ fd: 4, readable: false, writable: true });
const cancelled = new Set<number>();
let runtime: Runtime | undefined;
let model: Promise<OpenedModel> | undefined;

const report = (message: Report) => writeFrame(reports, message);

async function load({ config, runtimes = [] }: Extract<Order, { type: 'load' }>): Promise<void> {
  runtime = loadRuntime(runtimes);
  model = runtime.open(config);
  const { sampleRate, voices } = await model;
  report({ type: 'loaded', sampleRate, voices });
}

async function speak({ id, text, options, reference }: Extract<Order, { type: 'speak' }>): Promise<void> {
  const opened = await model;
  const wave = reference === undefined ? undefined : runtime?.readWave(reference);
  const likeness = wave && { referenceAudio: wave.samples, referenceSampleRate: wave.sampleRate };
  await opened?.speak(text, { ...options, ...likeness }, (samples) => {
    for (let start = 0; start < samples.length; start += MOST_SAMPLES)
      report({ type: 'samples', id, samples: toInt16(samples.subarray(start, start + MOST_SAMPLES)) });
    return !cancelled.has(id);
  });
  report({ type: 'end', id });
}

async function obey(order: Order): Promise<void> {
  const id = order.type === 'speak' ? order.id : undefined;
  try {
    if (order.type === 'probe')
      report({ type: 'found', runtime: loadRuntime(order.runtimes, order.isBeside).name });
    else if (order.type === 'load') await load(order);
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
