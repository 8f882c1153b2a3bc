import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openServer } from '../../../../src/engine/external/server.ts';
import type { ServerConfig } from '../../../../src/engine/source.ts';

type Shape = Partial<Pick<ServerConfig, 'model' | 'format' | 'sampleRate'>> & {
  readonly url?: string;
  readonly voice?: string;
};

async function identityOf({ url = 'http://127.0.0.1:8/v1', voice = 'anna', ...more }: Shape) {
  const common = { kind: 'server', name: 'any', format: 'wav', maxChars: 300, concurrency: 1 } as const;
  const config = { ...common, ...more, url: new URL(url), voices: [voice] };
  const source = await openServer(config, { timeoutMs: 1000, signal: new AbortController().signal });
  return source.voices.map((each) => source.identityOf(each))[0];
}

describe('the identity of a voice of a server', () => {
  it('is that of version 0.2 where it has one meaning only', async () => {
    expect(await identityOf({})).toBe('server http://127.0.0.1:8/v1  anna');
    expect(await identityOf({ model: 'm' })).toBe('server http://127.0.0.1:8/v1 m anna');
  });

  it.each<[Shape, string]>([
    [{ format: 'pcm', sampleRate: 12_000 }, '{"format":"pcm","sampleRate":12000,"voice":"anna"}'],
    [{ sampleRate: 12_000 }, '{"format":"wav","sampleRate":12000,"voice":"anna"}'],
    [{ model: 'a', voice: 'b c' }, '{"model":"a","format":"wav","voice":"b c"}'],
    [{ model: 'a b', voice: 'c' }, '{"model":"a b","format":"wav","voice":"c"}'],
  ])('is JSON where it had several: %j', async (shape, json) => {
    expect(await identityOf(shape)).toBe(`server http://127.0.0.1:8/v1 ${json}`);
  });

  it('is another one for everything that shapes the sound', async () => {
    const word = fc.stringMatching(/^[ab "{}]{1,4}$/);
    const shape = fc.record({
      url: fc.constantFrom('http://127.0.0.1:8/v1', 'http://127.0.0.1:8/v1/a'),
      model: fc.option(word, { nil: undefined }),
      format: fc.constantFrom('wav' as const, 'pcm' as const),
      sampleRate: fc.constantFrom(undefined, 12_000, 24_000),
      voice: word,
    });
    await fc.assert(
      fc.asyncProperty(shape, shape, async (one, other) => {
        const isSame = (await identityOf(one)) === (await identityOf(other));
        expect(isSame).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 500 },
    );
  });
});
