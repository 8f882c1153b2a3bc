import dns from 'node:dns';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Callbacks } from '../../../src/serve/callbacks.ts';
import { defaultLimits, type LogRecord, Refusal } from '../../../src/serve/http.ts';
import { listen } from '../../support/listen.ts';
import { inPieces } from '../sound/body.ts';
import { sound, speechFormat } from '../sound/wav-builder.ts';

/** @returns what the service logs of a callback to this URL */
async function outcomeOf(
  url: string,
  origins: readonly string[] = [],
  pcm: AsyncIterable<Uint8Array> = inPieces(sound(100)),
): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  const limits = { ...defaultLimits, callbackBackoff: 1 };
  const log = (record: LogRecord) => void records.push(record);
  const callbacks = new Callbacks({
    apiKey: null,
    origins: new Set(origins),
    limits,
    log,
  });
  const speech = { format: speechFormat, speakable: true, pcm };
  callbacks.accept('id', new URL(url), async () => speech);
  await callbacks.settled();
  return records;
}

const refused = [
  expect.objectContaining({
    ...{ event: 'callback', delivered: false, tries: 1 },
    reason: expect.stringContaining('has no public address'),
  }),
];

/** The resolver of this process finds this machine behind each name. */
function resolveToLoopback(): void {
  type Done = (error: null, found: string | dns.LookupAddress[], family?: number) => void;
  const here = { address: '127.0.0.1', family: 4 };
  const lookup = (_name: string, { all }: dns.LookupOptions, done: Done) =>
    all ? done(null, [here]) : done(null, here.address, here.family);
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

it('A callback to an address that is not public is tried once: that does not pass.', async () => {
  expect(await outcomeOf('http://127.0.0.1:9/')).toEqual(refused);
});

it('A callback to a name that leads to this machine reaches it only where its origin is listed.', async () => {
  let requests = 0;
  const receiver = createServer((request, response) => {
    requests += 1;
    request.resume().on('end', () => response.writeHead(204).end());
  });
  const origin = `http://inside.example:${await listen(receiver)}`;
  resolveToLoopback();
  expect(await outcomeOf(`${origin}/`)).toEqual(refused);
  expect(requests).toBe(0);
  expect(await outcomeOf(`${origin}/`, [origin])).toEqual([expect.objectContaining({ delivered: true })]);
  expect(requests).toBe(1);
});

it('A callback gets the words of the service for an engine that fails, and the log those of the engine.', async () => {
  const got: string[] = [];
  const server = createServer(async (request, response) => {
    for await (const piece of request) got.push(String(piece));
    response.end();
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(2);
    throw new Refusal(507, 'storage_failed', 'cannot write /secret: no space is left there');
  }
  const [told] = await outcomeOf(`${url}/`, [url], broken());
  expect(told).toMatchObject({ event: 'engine', reason: 'cannot write /secret: no space is left there' });
  expect(got.join('')).toMatch(/^\{"error":\{"code":"storage_failed","message":"The voice failed;[^/]+\}$/);
});
