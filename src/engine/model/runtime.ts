import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** sherpa-onnx, whichever of its packages is there. */
export interface Runtime {
  open(config: object): Promise<OpenedModel>;
  readWave(file: string): Wave;
}

export interface OpenedModel {
  readonly sampleRate: number;
  readonly voices: number;
  /** @param onSamples is called for each sentence; false stops the model */
  speak(text: string, options: object, onSamples: (samples: Float32Array) => boolean): Promise<void>;
}

interface Wave {
  readonly samples: Float32Array;
  readonly sampleRate: number;
}

/** The package with native code, which speaks in threads of its own. */
interface Native {
  readonly OfflineTts: { createAsync(config: object): Promise<NativeModel> };
  readWave(file: string): Wave;
}

interface NativeModel {
  readonly sampleRate: number;
  readonly numSpeakers: number;
  generateAsync(request: object): Promise<unknown>;
}

/** The package in WebAssembly, which nothing else can interrupt while it speaks. */
interface Portable {
  createOfflineTts(config: object): {
    readonly sampleRate: number;
    readonly numSpeakers: number;
    generateWithConfig(text: string, options: object): unknown;
  };
  readWave(file: string): Wave;
}

const NATIVE = 'sherpa-onnx-node';
const PORTABLE = 'sherpa-onnx';

/**
 * A package has to be installed with tts, or by it: npm puts it into the same folder or into that of tts. Node itself would also
 * take one from every folder above, from the home folder and from `NODE_PATH`.
 * @param installed folders with a `node_modules` that tts has filled
 * @throws Error that says how to install it
 */
export function loadRuntime(installed: readonly string[]): Runtime {
  const own = dirname(dirname(fileURLToPath(import.meta.url)));
  const shared = dirname(own);
  const beside = [join(own, 'node_modules'), ...(basename(shared) === 'node_modules' ? [shared] : [])];
  const places = [...beside, ...installed.map((folder) => join(folder, 'node_modules'))];
  const find = (name: string) => places.map((place) => join(place, name)).find(existsSync);
  const load = createRequire(import.meta.url);
  const native = find(NATIVE);
  if (native !== undefined) return nativeRuntime(load(native) as Native);
  const portable = find(PORTABLE);
  if (portable !== undefined) return portableRuntime(load(portable) as Portable);
  throw new Error(`a model folder needs the package ${NATIVE}: npm install -g ${NATIVE}`);
}

function nativeRuntime({ OfflineTts, readWave }: Native): Runtime {
  return {
    readWave,
    async open(config) {
      const model = await OfflineTts.createAsync(config);
      return {
        sampleRate: model.sampleRate,
        voices: model.numSpeakers,
        async speak(text, options, onSamples) {
          const onProgress = ({ samples }: { samples: Float32Array }) => onSamples(samples);
          await model.generateAsync({
            text,
            enableExternalBuffer: false,
            generationConfig: options,
            onProgress,
          });
        },
      };
    },
  };
}

function portableRuntime({ createOfflineTts, readWave }: Portable): Runtime {
  return {
    readWave,
    async open(config) {
      const model = createOfflineTts(config);
      return {
        sampleRate: model.sampleRate,
        voices: model.numSpeakers,
        async speak(text, options, onSamples) {
          const callback = (samples: Float32Array) => (onSamples(samples) ? 1 : 0);
          model.generateWithConfig(text, { ...options, callback });
        },
      };
    },
  };
}
