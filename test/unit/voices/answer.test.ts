import { expect, it, onTestFinished } from 'vitest';
import { HttpClient } from '../../../src/kit/http/client.ts';
import { ConcurrencyLimiter } from '../../../src/kit/limit.ts';
import { createSynthesizer } from '../../../src/voices/service.ts';
import { serveBytes } from '../../support/byte-server.ts';
import { head } from '../../support/http-bytes.ts';

it.each([200, 500])('A request is ended as soon as its answer is of no use: status %i', async (status) => {
  let closed: Promise<void> | undefined;
  const server = await serveBytes(async (wire) => {
    closed = wire.closed;
    await wire.write(head(status, { 'Content-Encoding': 'zstd-and-more', 'Content-Length': 1_000_000 }));
  });
  const url = new URL(server.url);
  const timeoutMs = 600_000;
  const http = new HttpClient({ connections: 1, timeoutMs });
  onTestFinished(() => http[Symbol.asyncDispose]());
  const synthesize = createSynthesizer({
    http,
    url,
    timeoutMs,
    key: 'key',
    keyOrigin: 'the test',
    fields: { speaker: 1 },
    limiter: new ConcurrencyLimiter(1),
    retries: 0,
    onEvent: () => {},
    checksum: undefined,
  });
  const made = synthesize({ text: 'hi', index: 0 }, new AbortController().signal);
  await expect(made).rejects.toThrow(status === 200 ? /zstd-and-more/ : /500/);
  await closed;
});
