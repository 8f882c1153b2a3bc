/** The program of a model process: loads sherpa-onnx and a model, and speaks texts. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toInt16 } from '../sound/samples.ts';
import { type Order, type Report, readFrames, writeFrame } from './model-frames.ts';

/** The packages of the runtime: with native code, and in WebAssembly. */
const NATIVE = 'sherpa-onnx-node';
const PORTABLE = 'sherpa-onnx';

/** Samples per frame; longer sound is sent in several. */
const MOST_SAMPLES = 1_000_000;

const orders = new Socket({ fd: 3, readable: true, writable: false });
const reports = new Socket({ fd: 4, readable: false, writable: true });
const cancelled = new Set<number>();
let runtime: Runtime | undefined;
let opened: Promise<OpenedModel> | undefined;

const report = (message: Report) => writeFrame(reports, message);

async function load({ config, runtimes = [] }: Extract<Order, { type: 'load' }>): Promise<void> {
  runtime = loadRuntime(runtimes);
  opened = runtime.open(config);
  const { sampleRate, numSpeakers } = (await opened).model;
  report({ type: 'loaded', sampleRate, voices: numSpeakers });
}

async function speak({ id, text, options, reference }: Extract<Order, { type: 'speak' }>): Promise<void> {
  const wave = reference === undefined ? undefined : runtime?.readWave(reference);
  const imitated = wave && { referenceAudio: wave.samples, referenceSampleRate: wave.sampleRate };
  await (await opened)?.speak(text, { ...options, ...imitated }, (samples) => {
    for (let start = 0; start < samples.length; start += MOST_SAMPLES)
      report({ type: 'samples', id, samples: toInt16(samples.subarray(start, start + MOST_SAMPLES)) });
    return !cancelled.has(id);
  });
  report({ type: 'end', id });
}

async function execute(order: Order): Promise<void> {
  const id = order.type === 'speak' ? order.id : undefined;
  try {
    if (order.type === 'probe')
      report({ type: 'found', runtime: loadRuntime(order.runtimes, order.looksBeside).name });
    else if (order.type === 'load') await load(order);
    else if (order.type === 'speak') await speak(order);
    else cancelled.add(order.id);
  } catch (error) {
    report({ type: 'error', id, message: error instanceof Error ? error.message : String(error) });
  } finally {
    if (id !== undefined) cancelled.delete(id);
  }
}

/** sherpa-onnx, from whichever of its packages is installed. */
interface Runtime {
  /** The name of the package. */
  readonly name: string;
  open(config: object): Promise<OpenedModel>;
  readWave(file: string): Wave;
}

interface OpenedModel {
  readonly model: { readonly sampleRate: number; readonly numSpeakers: number };
  /** @param onSamples called after each sentence; returns false to stop the model */
  speak(text: string, options: object, onSamples: (samples: Float32Array) => boolean): Promise<unknown>;
}

interface Wave {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** The interface of the native package, which speaks in threads of its own. */
interface Native extends Pick<Runtime, 'readWave'> {
  readonly OfflineTts: {
    createAsync(
      config: object,
    ): Promise<OpenedModel['model'] & { generateAsync(request: object): Promise<unknown> }>;
  };
}

/** The interface of the WebAssembly package, which blocks its thread while it speaks. */
interface Portable extends Pick<Runtime, 'readWave'> {
  createOfflineTts(
    config: object,
  ): OpenedModel['model'] & { generateWithConfig(text: string, options: object): unknown };
}

/**
 * Loads the first package that can be loaded: the native one does not work with every C library. A package must be installed
 * by tts, or with tts: then npm puts it next to tts or inside it. Node itself would also search every folder above, the home
 * folder and `NODE_PATH`.
 * @param installed folders with a `node_modules` that tts has filled
 * @param looksBeside false to look in these folders only
 * @throws Error that says how to install it, or why none can be loaded
 */
function loadRuntime(installed: readonly string[], looksBeside = true): Runtime {
  const places = [
    ...(looksBeside ? placesBeside() : []),
    ...installed.map((folder) => join(folder, 'node_modules')),
  ];
  const load = createRequire(import.meta.url);
  let fault: unknown;
  for (const name of [NATIVE, PORTABLE])
    for (const folder of places.map((place) => join(place, name)).filter(existsSync)) {
      try {
        const loaded = load(folder);
        return name === NATIVE ? nativeRuntime(loaded) : portableRuntime(loaded);
      } catch (error) {
        fault ??= error;
      }
    }
  throw fault ?? new Error(`a model folder needs the package ${NATIVE}: npm install -g ${NATIVE}`);
}

function placesBeside(): string[] {
  const own = dirname(dirname(fileURLToPath(import.meta.url)));
  const shared = dirname(own);
  return [join(own, 'node_modules'), ...(basename(shared) === 'node_modules' ? [shared] : [])];
}

function nativeRuntime({ OfflineTts, readWave }: Native): Runtime {
  return {
    name: NATIVE,
    readWave,
    async open(config) {
      const model = await OfflineTts.createAsync(config);
      const speak: OpenedModel['speak'] = (text, generationConfig, onSamples) => {
        const onProgress = ({ samples }: { samples: Float32Array }) => onSamples(samples);
        return model.generateAsync({ text, enableExternalBuffer: false, generationConfig, onProgress });
      };
      return { model, speak };
    },
  };
}

function portableRuntime({ createOfflineTts, readWave }: Portable): Runtime {
  return {
    name: PORTABLE,
    readWave,
    async open(config) {
      const model = createOfflineTts(config);
      const speak: OpenedModel['speak'] = async (text, options, onSamples) => {
        const callback = (samples: Float32Array) => (onSamples(samples) ? 1 : 0);
        return model.generateWithConfig(text, { ...options, callback });
      };
      return { model, speak };
    },
  };
}

// After the last order, the texts that are still spoken keep the process alive.
for await (const order of readFrames<Order>(orders)) void execute(order);
