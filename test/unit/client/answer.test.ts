import { expect, it, onTestFinished } from 'vitest';
import { readAnswer } from '../../../src/client/answer.ts';
import { createTransport } from '../../../src/client/transport.ts';
import { serveBytes } from '../../support/byte-server.ts';
import { head } from '../../support/http-bytes.ts';

it.each([200, 500])(
  'An answer that nobody can unpack is let go of at once, with a body that goes on: status %i',
  async (status) => {
    let closed: Promise<void> | undefined;
    const server = await serveBytes(async (wire) => {
      closed = wire.closed;
      await wire.write(head(status, { 'Content-Encoding': 'zstd-and-more', 'Content-Length': 1_000_000 }));
    });
    const url = new URL(server.url);
    const timeoutMs = 600_000;
    const transport = await createTransport({ url, connections: 1, timeoutMs });
    onTestFinished(() => transport.close());
    const answer = await transport.get({}, new AbortController().signal);
    const expected = { url, timeoutMs, keyOrigin: 'the test', elsewhere: false };
    await expect(readAnswer(answer, expected)).rejects.toThrow(status === 200 ? /zstd-and-more/ : /500/);
    await closed;
  },
);
