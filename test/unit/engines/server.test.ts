import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { openServer } from '../../../src/engines/server.ts';
import { listen } from '../../support/listen.ts';

const COMMON = { kind: 'server', name: 'any', format: 'wav', maxChars: 300, concurrency: 1 } as const;

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
