import { createRequire } from 'node:module';
import { cachedDataVersionTag } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { beginLoad, leaveYoungSpaceSmall, unoptimised } from '../../src/v8-flags.ts';

const parser = createRequire(import.meta.url)('undici/lib/llhttp/llhttp_simd-wasm.js') as Buffer<ArrayBuffer>;

/** More of it than the types of Node know. */
const { Module } = WebAssembly as unknown as {
  Module: {
    new (bytes: Uint8Array): WebAssembly.Module;
    exports(module: WebAssembly.Module): { readonly name: string }[];
  };
};

/** V8 takes compiled code only where this is what it was when the code was made; it is made of the flags, too. */
const asStarted = cachedDataVersionTag();

describe('what V8 is told', () => {
  it('is told while a parser is compiled, and taken back', () => {
    let during = asStarted;
    const compiled = unoptimised(() => {
      during = cachedDataVersionTag();
      return new Module(parser);
    });
    expect(Module.exports(compiled).map(({ name }) => name)).toContain('llhttp_execute');
    expect(during).not.toBe(asStarted);
    expect(cachedDataVersionTag()).toBe(asStarted);
  });

  it('is taken back where the compilation fails', () => {
    expect(() => unoptimised(() => new Module(Buffer.from('no module')))).toThrow('WebAssembly');
    expect(cachedDataVersionTag()).toBe(asStarted);
  });

  it('of the space for young objects is taken back as long as something is loaded', () => {
    leaveYoungSpaceSmall();
    const small = cachedDataVersionTag();
    expect(small).not.toBe(asStarted);
    const first = beginLoad();
    const second = beginLoad();
    expect(cachedDataVersionTag()).toBe(asStarted);
    first();
    expect(cachedDataVersionTag()).toBe(asStarted);
    second();
    expect(cachedDataVersionTag()).toBe(small);
  });
});
