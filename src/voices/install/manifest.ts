import { dirname, join } from 'node:path';
import type { ModelSpeaker, Scales } from '../../engines/engine.ts';
import { namesIn, writing } from '../../kit/folders.ts';
import { isOwnFolder, readOwn } from '../../kit/guard.ts';

/** A file of an installed voice. */
export interface InstalledFile {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  /** The file as it is at the hub, if bytes were appended to it here. */
  readonly original?: { readonly size: number; readonly sha256: string };
}

/** How the files of a voice were verified. */
export type Checked = 'sha256' | 'md5' | 'sha256 given' | 'not checked';

/** The content of `voice.json`: everything that is known of an installed voice. */
export interface Manifest {
  readonly format: 1;
  readonly name: string;
  readonly key: string;
  /** The number of its first speaker. */
  readonly number: number;
  readonly language: string;
  readonly quality: string;
  /** Hz. */
  readonly sampleRate: number;
  /** The number of voices that the model has. */
  readonly voices: number;
  readonly speakers: readonly ModelSpeaker[];
  readonly scales?: Scales;
  readonly licence: string;
  readonly class: string;
  readonly trained?: string;
  readonly source: string;
  /** The SHA-256 of the archives that its files came from. */
  readonly archives?: readonly string[];
  readonly checked: Checked;
  /** The folder of espeak-ng's data, relative to the data folder, and the files in it that this voice needs. */
  readonly espeak?: { readonly folder: string; readonly files: readonly InstalledFile[] };
  readonly files: readonly InstalledFile[];
}

/** Returns the command that installs a voice again. */
export function installAgain({ name, quality }: Pick<Manifest, 'name' | 'quality'>): string {
  return quality === 'own'
    ? `tts voices install --from PLACE --name ${name}`
    : `tts voices install --force ${name}`;
}

export const MANIFEST = 'voice.json';
export const CARD = 'MODEL_CARD';

/** The hint for a data folder that cannot be written. */
export const ELSEWHERE = 'name another folder with TTS_DATA_DIR';

/** @throws TtsError (output) instead of the system's error */
export function attempt<T>(path: string, action: () => T): T {
  return writing(path, action, ELSEWHERE);
}

export function voicesFolder(data: string): string {
  return join(data, 'voices');
}

/** Returns all installed voices, sorted by name. One whose manifest cannot be read does not count. */
export function installedVoices(data: string | undefined, uid: number | undefined): Manifest[] {
  if (data === undefined || !isOwnFolder(data, uid) || !isOwnFolder(voicesFolder(data), uid)) return [];
  const names = namesIn(voicesFolder(data)).sort();
  return names.flatMap((name) => readManifest(data, name, uid) ?? []);
}

export function readManifest(data: string, name: string, uid: number | undefined): Manifest | undefined {
  const folder = join(voicesFolder(data), name);
  if (!isOwnFolder(folder, uid)) return undefined;
  try {
    const manifest = JSON.parse(readOwn(join(folder, MANIFEST), uid)) as Manifest;
    return isManifest(manifest) && manifest.name === name ? manifest : undefined;
  } catch {
    return undefined;
  }
}

function isManifest({ format, speakers, files, number, sampleRate }: Manifest): boolean {
  return (
    format === 1 &&
    Array.isArray(speakers) &&
    Array.isArray(files) &&
    Number.isInteger(number) &&
    Number.isInteger(sampleRate)
  );
}

/** The version of sherpa-onnx, also in `runtime-locks.json`. */
export const RUNTIME_VERSION = '1.13.8';

/** Names of the runtime's folders, by the kind of its package. */
export const RUNTIME_FOLDERS = {
  native: `sherpa-onnx-${RUNTIME_VERSION}`,
  portable: `sherpa-onnx-${RUNTIME_VERSION}-wasm`,
} as const;

/** Returns folders that may hold the runtime. Code that another user could have written is not loaded. */
export function runtimesIn(data: string | undefined, uid: number | undefined): string[] {
  if (data === undefined || !isOwnFolder(data, uid)) return [];
  const folders = Object.values(RUNTIME_FOLDERS).map((name) => join(data, 'runtime', name));
  return folders.filter((folder) => [dirname(folder), folder].every((each) => isOwnFolder(each, uid)));
}
