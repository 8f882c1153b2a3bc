import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { selfSigned } from '../support/certificate.ts';
import { answer, complete, head, inTurn } from '../support/http-bytes.ts';
import { listen } from '../support/listen.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(30_000));
const toFile = ['hi', '-o', 'out.wav'];

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('is not followed, whatever its kind: %i', async (status) => {
    const elsewhere = await serveBytes(complete(wav));
    const server = await serveBytes(answer(status, '', { Location: `${elsewhere.url}/tts` }));
    const run = await new Sandbox().run(toFile, { env: named(server.url, { TTS_RETRIES: '2' }) });
    expectFailure(run, 7, /another address/);
    expect(run.stderr).toMatch(new RegExp(`the base URL below ${elsewhere.url}$`, 'm'));
    expect(elsewhere.connections.made).toBe(0);
  });

  it('is shown by its origin alone: the rest of its address may hold the key', async () => {
    const location = `https://other.example.com/${encodeURIComponent(KEY)}/%6b%65y/tts?key=hidden-word`;
    const server = await serveBytes(answer(302, '', { Location: location }));
    const run = await new Sandbox().run(toFile, { env: named(server.url) });
    expectFailure(run, 7, /another address[\s\S]*the base URL below https:\/\/other\.example\.com$/m);
    expect(run.stderr).not.toMatch(/hidden-word|%6b/);
  });
});

describe('TLS', () => {
  it('is not trusted with a self-signed certificate, and the hint names NODE_EXTRA_CA_CERTS', async () => {
    const certificate = await selfSigned();
    const server = await serveBytes(complete(wav), certificate);
    const box = new Sandbox();
    const distrusted = await box.run(toFile, { env: named(server.url, { TTS_RETRIES: '2' }) });
    expectFailure(distrusted, 6, /certificate of 127\.0\.0\.1:\d+ cannot be trusted/);
    expect(distrusted.stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect(server.requests).toHaveLength(0);
    const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile });
    expect(await box.tts(toFile, { env })).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('is expected of a server that speaks none', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'));
    });
    const url = `https://127.0.0.1:${await listen(server)}`;
    const run = await new Sandbox().run(toFile, { env: named(url) });
    expectFailure(run, 6, /does not speak TLS/);
    expect(run.stderr).toMatch(/hint: .*http:\/\//);
  });

  it('spoken to by plain HTTP is not an answer', async () => {
    const server = await serveBytes(complete(wav), await selfSigned());
    const run = await new Sandbox().run(toFile, { env: named(server.url.replace('https', 'http')) });
    expect([6, 7]).toContain(run.status);
    expect(run.stderr).toMatch(/^tts: [^\n]+\nhint: [^\n]+\n$/);
  });
});

describe('more connections than files may be open', () => {
  it('are an error that says how to allow them', async () => {
    const server = await serveBytes(async (wire, request, number) => {
      await sleep(70);
      await complete(wav)(wire, request, number);
    });
    const box = new Sandbox();
    box.file('long.txt', 'There is a sentence here.\n\n'.repeat(100));
    const line = 'ulimit -n 40; tts -f long.txt --max-chars 30 --concurrency 64 -o long.wav';
    const run = await box.shell(line, { env: named(server.url) });
    expectFailure(
      run,
      6,
      /too many files are open \(EMFILE\); .*\nhint: allow more \(ulimit -n\), or lower --concurrency/,
    );
    expect(box.list()).toEqual(['long.txt']);
  });
});

it('A machine without its loopback device is reported.', async ({ skip }) => {
  const box = new Sandbox();
  const alone = 'unshare -rn';
  if ((await box.shell(`${alone} true`)).status !== 0) skip('no network of its own can be made here');
  const run = await box.shell(`${alone} tts hi -q -o hi.wav`, { env: named('http://127.0.0.1:9') });
  expectFailure(run, 6, /there is no route to 127\.0\.0\.1.*\nhint: .*loopback device/);
  expect(box.list()).toEqual([]);
});

describe('a packed answer', () => {
  const packed = [
    ['gzip', gzipSync(wav)],
    ['x-gzip', gzipSync(wav)],
    ['GZIP', gzipSync(wav)],
    ['deflate', deflateSync(wav)],
    ['deflate', deflateRawSync(wav)],
    ['br', brotliCompressSync(wav)],
    ['gzip, br', brotliCompressSync(gzipSync(wav))],
    ['deflate\r\nContent-Encoding: gzip', gzipSync(deflateSync(wav))],
    ['identity, gzip', gzipSync(wav)],
    ['identity', wav],
  ] as const;

  it.each(packed)('is unpacked: %s', async (coding, bytes) => {
    const server = await serveBytes(complete(bytes, { 'Content-Encoding': coding }));
    const box = new Sandbox();
    expect(await box.run(toFile, { env: named(server.url) })).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it.each(packed.slice(0, -1))('that is torn is not complete: %s', async (coding, bytes) => {
    const torn = bytes.subarray(0, bytes.length - 20);
    const server = await serveBytes(complete(torn, { 'Content-Encoding': coding }));
    const box = new Sandbox();
    expectFailure(await box.run(toFile, { env: named(server.url) }), 7, /broke off/);
    expect(box.list()).toEqual([]);
  });

  it('that is torn while its reader pauses is asked for again', async () => {
    const long = plainWav(Buffer.alloc(10 * 2 ** 20, 1));
    const whole = gzipSync(long);
    const coding = { 'Content-Encoding': 'gzip' };
    const server = await serveBytes(
      inTurn(
        async (wire) => {
          await wire.write(head(200, { 'Content-Length': whole.length, ...coding }));
          await wire.write(whole.subarray(0, -8));
          wire.end();
        },
        complete(whole, coding),
      ),
    );
    const box = new Sandbox();
    const run = await box.shell('set -o pipefail; tts hi | (sleep 2; cat > out.wav)', {
      env: named(server.url, { TTS_RETRIES: '1' }),
    });
    expect(run).toMatchObject({ status: 0 });
    expect(box.read('out.wav').subarray(44).equals(long.subarray(44))).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  it('that is damaged, or packed in an unknown way, is an error', async () => {
    const damaged = await serveBytes(complete(Buffer.alloc(500, 'x'), { 'Content-Encoding': 'gzip' }));
    expectFailure(await new Sandbox().run(toFile, { env: named(damaged.url) }), 7, /answer/);
    for (const coding of ['snappy', 'gzip, snappy', Array(5).fill('gzip').join(', ')]) {
      const unknown = await serveBytes(complete(wav, { 'Content-Encoding': coding }));
      const run = await new Sandbox().run(toFile, { env: named(unknown.url) });
      expectFailure(run, 7, /has an unknown content encoding: (?:snappy|gzip, gzip)/);
    }
  });

  it.each([
    ['gzip', gzipSync('{"message":"no such speaker"}')],
    ['br', brotliCompressSync('{"message":"no such speaker"}')],
  ])('with an error in it is read: %s', async (coding, bytes) => {
    const server = await serveBytes(answer(422, bytes, { 'Content-Encoding': coding }));
    expectFailure(await new Sandbox().run(toFile, { env: named(server.url) }), 7, /422: no such speaker/);
  });

  it('keeps its status where its error cannot be unpacked', async () => {
    const server = await serveBytes(answer(403, 'xxxx', { 'Content-Encoding': 'snappy' }));
    expectFailure(await new Sandbox().run(toFile, { env: named(server.url) }), 3, /status 403/);
    const torn = await serveBytes(answer(401, gzipSync('no').subarray(0, 8), { 'Content-Encoding': 'gzip' }));
    expectFailure(await new Sandbox().run(toFile, { env: named(torn.url) }), 3, /status 401/);
  });
});
