import { createServer } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../../src/engines/engine.ts';
import { openServer } from '../../../src/engines/server.ts';
import { listen } from '../../support/listen.ts';

type Shape = Partial<Pick<ServerConfig, 'model' | 'format' | 'sampleRate'>> & {
  readonly url?: string;
  readonly voice?: string;
};

const COMMON = { kind: 'server', name: 'any', format: 'wav', maxChars: 300, concurrency: 1 } as const;

async function identityOf({ url = 'http://127.0.0.1:8/v1', voice = 'anna', ...more }: Shape) {
  const config = { ...COMMON, ...more, url: new URL(url), voices: [voice] };
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

describe('a busy server', () => {
  it.each([
    [{ 'Retry-After': '1.5' }, 1.5],
    [{ 'Retry-After': 'Tue, 01 Jan 2030 00:01:30 GMT', Date: 'Tue, 01 Jan 2030 00:01:00 GMT' }, 30],
    [{ 'Retry-After': 'soon' }, undefined],
  ])('is asked again when it says so: %j', async (headers, retryAfter) => {
    const port = await listen(createServer((_, response) => response.writeHead(503, headers).end()));
    const config = { ...COMMON, url: new URL(`http://127.0.0.1:${port}/v1`), voices: ['anna'] };
    const { signal } = new AbortController();
    await using source = await openServer(config, { timeoutMs: 5000, signal });
    const [voice] = source.voices;
    if (voice === undefined) throw new Error('there is no voice');
    await expect(source.speak('Hello.', voice, signal)).rejects.toMatchObject({ kind: 'busy', retryAfter });
  });
});
