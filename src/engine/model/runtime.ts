import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** sherpa-onnx, whichever of its packages is there. */
export interface Runtime {
  /** The name of its package. */
  readonly name: string;
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
 * Loads the first package that can be loaded: the native one does not load with every C library. A package has to be installed with
 * tts, or by it: npm puts it into the same folder or into that of tts. Node itself would also take one from every folder above,
 * from the home folder and from `NODE_PATH`.
 * @param installed folders with a `node_modules` that tts has filled
 * @param isBeside false looks nowhere else
 * @throws Error that says how to install it, or why none can be loaded
 */
export function loadRuntime(installed: readonly string[], isBeside = true): Runtime {
  const places = [
    ...(isBeside ? placesBeside() : []),
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
    name: PORTABLE,
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
