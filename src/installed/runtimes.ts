import { dirname, join } from 'node:path';
import { isOwnFolder } from './manifest.ts';

/** Folders of the runtime below that of all data, by the kind of its package. */
export const RUNTIME_FOLDERS = {
  native: 'sherpa-onnx-1.13.8',
  portable: 'sherpa-onnx-1.13.8-wasm',
} as const;

/** The folders in which the runtime may lie. Code that somebody else could have written is not loaded. */
export function runtimesIn(data: string | undefined, uid: number | undefined): string[] {
  if (data === undefined || !isOwnFolder(data, uid)) return [];
  const folders = Object.values(RUNTIME_FOLDERS).map((name) => join(data, 'runtime', name));
  return folders.filter((folder) => [dirname(folder), folder].every((each) => isOwnFolder(each, uid)));
}
