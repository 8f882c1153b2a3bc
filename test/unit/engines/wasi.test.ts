import { expect, it } from 'vitest';
import { loadAssets } from '../../../src/engines/flite.ts';
import { Wasi } from '../../../src/engines/flite-wasi.ts';

interface Program {
  readonly memory: WebAssembly.Memory;
  _start(): void;
}

it('tells what a program printed when it ended itself', async () => {
  const { flite } = await loadAssets();
  const wasi = new Wasi();
  const program = new WebAssembly.Instance(flite, { wasi_snapshot_preview1: wasi.imports })
    .exports as Program;
  wasi.prepare(program.memory, ['flite', '--help']);
  expect(() => program._start()).toThrow(/ended with status 0: .*-voice/s);
});
