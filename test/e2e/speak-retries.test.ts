import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { answer, complete, head, httpChunk, inTurn, silent, streamed } from '../support/http-bytes.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { plainWav, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const pcm = sound(40_000);
const wav = plainWav(pcm);
const retrying = (url: string, retries = 3) => named(url, { TTS_RETRIES: String(retries) });

/** Milliseconds of a run that gets this answer first and a WAV then. */
async function delayAfter(headers: Record<string, string | number>, status = 503): Promise<number> {
  const arrivals: number[] = [];
  const server = await serveBytes((wire, request, number) => {
    arrivals.push(performance.now());
    return inTurn(answer(status, '', headers), complete(wav))(wire, request, number);
  });
  expect(await new Sandbox().run(['hi', '-o', 'out.wav'], { env: retrying(server.url) })).toMatchObject({
    status: 0,
    stderr: '',
  });
  expect(arrivals).toHaveLength(2);
  return (arrivals[1] ?? 0) - (arrivals[0] ?? 0);
}

describe('another try', () => {
  it.each([408, 425, 429, 500, 502, 503, 504])('is made after status %i', async (status) => {
    await delayAfter({ 'Retry-After': 0 }, status);
  });

  it.each([400, 401, 402, 403, 404, 409, 410, 422, 501, 505, 301, 302, 307, 308])(
    'is not made after status %i',
    async (status) => {
      const server = await serveBytes(answer(status, 'no'));
      const run = await new Sandbox().run(['hi'], { env: retrying(server.url) });
      expect(run.status).not.toBe(0);
      expect(server.requests).toHaveLength(1);
    },
  );

  it('is made as often as was said, and no more', async () => {
    for (const retries of [0, 1, 2]) {
      const server = await serveBytes(answer(429, 'slow down', { 'Retry-After': 0 }));
      const run = await new Sandbox().run(['hi'], { env: retrying(server.url, retries) });
      expectFailure(run, 4, /slow down/);
      expect(server.requests).toHaveLength(retries + 1);
    }
  });

  it('sends the same request', async () => {
    const server = await serveBytes(inTurn(answer(500, '', { 'Retry-After': 0 }), complete(wav)));
    await new Sandbox().run(['hi', '--stream', '-o', 'out.wav'], { env: retrying(server.url) });
    const [first, second] = server.requests;
    expect(second).toMatchObject({
      method: 'POST',
      path: '/tts',
      headers: first?.headers,
      body: first?.body,
    });
  });

  it('waits as many seconds as the service asks for', async () => {
    const delay = await delayAfter({ 'Retry-After': 2 });
    expect(delay).toBeGreaterThanOrEqual(1950);
    expect(delay).toBeLessThan(6000);
  });

  it('waits until the date that the service names', async () => {
    const delay = await delayAfter({ 'Retry-After': new Date(Date.now() + 3000).toUTCString() });
    expect(delay).toBeGreaterThanOrEqual(1000);
    expect(delay).toBeLessThan(8000);
  });

  it('goes by the clock of the service, where it tells the time', async () => {
    const theirs = Date.now() - 3_600_000;
    const times = {
      Date: new Date(theirs).toUTCString(),
      'Retry-After': new Date(theirs + 2000).toUTCString(),
    };
    const delay = await delayAfter(times);
    expect(delay).toBeGreaterThanOrEqual(1900);
    expect(delay).toBeLessThan(6000);
  });

  it.each(['', 'soon', '-5', 'NaN', new Date(0).toUTCString()])(
    'comes soon, but not at once, where Retry-After is %j',
    async (value) => {
      const delay = await delayAfter({ 'Retry-After': value });
      expect(delay).toBeGreaterThanOrEqual(30);
      expect(delay).toBeLessThan(5000);
    },
  );

  it('is not made where the service asks for a wait of days', async () => {
    const server = await serveBytes(answer(429, 'come back tomorrow', { 'Retry-After': 86_400_000 }));
    expectFailure(await new Sandbox().run(['hi'], { env: retrying(server.url) }), 4, /come back tomorrow/);
    expect(server.requests).toHaveLength(1);
  });

  it('ends at Ctrl-C while it waits', async () => {
    const server = await serveBytes(answer(503, '', { 'Retry-After': 600 }));
    const box = new Sandbox();
    const run = box.start(['hi', '-o', 'out.wav'], { env: retrying(server.url) });
    await expect.poll(() => server.requests.length).toBe(1);
    const { ended, milliseconds } = await run.endBy('SIGINT');
    expect(ended.status).toBe(130);
    expect(milliseconds).toBeLessThan(60_000);
    expect(box.list()).toEqual([]);
  });

  it('is reported with -v, and not without', async () => {
    const server = await serveBytes(inTurn(answer(500, 'oops', { 'Retry-After': 0 }), complete(wav)));
    const run = await new Sandbox().run(['hi', '-v', '-o', 'out.wav'], { env: retrying(server.url) });
    expect(run.stderr).toMatch(/status 500[\s\S]*oops[\s\S]*another try[\s\S]*status 200/);
  });

  it('is made where the connection is refused, and exits 6 after all tries', async () => {
    const run = await new Sandbox().run(['hi', '-v'], { env: retrying('http://127.0.0.1:1', 1) });
    expect(run.status).toBe(6);
    expect(run.stderr.match(/another try/g)).toHaveLength(1);
  });
});

/** Streams a WAV up to a byte, then breaks off. */
const breaking =
  (body: Uint8Array, at: number) => async (wire: Parameters<ReturnType<typeof complete>>[0]) => {
    await wire.write(head(200, { 'Transfer-Encoding': 'chunked' }));
    await wire.write(httpChunk(body.subarray(0, at)));
    wire.reset();
  };

describe('a stream that breaks', () => {
  const open = plainWav(pcm, 0xffffffff);

  it.each([45, 46, 1000, 20_001, open.length - 1])(
    'goes on at the frame where it broke: byte %i',
    async (at) => {
      const server = await serveBytes(inTurn(breaking(open, at), streamed(open, 4096)));
      const box = new Sandbox();
      const env = retrying(server.url);
      const run = await box.run(['hi', '--stream'], { env });
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(parseWav(run.stdout).pcm).toEqual(pcm);
      expect(server.requests).toHaveLength(2);
    },
  );

  it('goes on in a file as well, more than once', async () => {
    const server = await serveBytes(
      inTurn(breaking(open, 1000), breaking(open, 501), breaking(open, 30_000), streamed(open, 4096)),
    );
    const box = new Sandbox();
    const run = await box.run(['hi', '--stream', '-o', 'out.wav'], { env: retrying(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(wholePcm(box.read('out.wav'))).toEqual(pcm);
  });

  it('fails where the service goes on in another format', async () => {
    const other = plainWav(pcm, 0xffffffff, { ...speechFormat, sampleRate: 8000 });
    const server = await serveBytes(inTurn(breaking(open, 1000), streamed(other)));
    const box = new Sandbox();
    const run = await box.run(['hi', '--stream', '-o', 'out.wav'], { env: retrying(server.url) });
    expectFailure(run, 7, /another format/);
    expect(box.list()).toEqual([]);
  });

  it('fails where the service has less to say when asked again', async () => {
    const server = await serveBytes(
      inTurn(breaking(open, 20_000), streamed(plainWav(pcm.subarray(0, 400), 0))),
    );
    const run = await new Sandbox().run(['hi', '--stream', '-o', 'out.wav'], {
      env: retrying(server.url, 1),
    });
    expectFailure(run, 7, /less audio/);
  });

  it('does not begin again in a pipe that has its first half', async () => {
    const server = await serveBytes(breaking(open, 20_044));
    const run = await new Sandbox().run(['hi', '--stream'], { env: retrying(server.url, 1) });
    expect(run.status).toBe(7);
    expect(run.stdout.subarray(44)).toEqual(pcm.subarray(0, 20_000));
  });
});

describe('a timeout', () => {
  it('ends a run with 5 where the service accepts and says nothing', async () => {
    const server = await serveBytes(silent);
    const box = new Sandbox();
    const run = await box.run(['hi', '-o', 'out.wav', '--timeout', '0.4'], { env: named(server.url) });
    expectFailure(run, 5, /no answer from 127\.0\.0\.1:\d+ within 0\.4 s/);
    expect(box.list()).toEqual([]);
  });

  it('ends a run with 5 where the service falls silent in the middle', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Content-Length': wav.length }));
      await wire.write(wav.subarray(0, 1000));
    });
    const box = new Sandbox();
    const run = await box.run(['hi', '-o', 'out.wav', '--timeout', '0.4'], { env: named(server.url) });
    expectFailure(run, 5, /for 0\.4 s/);
    expect(box.list()).toEqual([]);
  });

  it('ends a run with 5 where no connection comes about', async () => {
    // TEST-NET-1 of RFC 5737: nobody answers there, or the system says at once that there is no way.
    const env = named('https://192.0.2.1');
    const run = await new Sandbox().run(['hi', '--timeout', '0.5'], { env });
    expect([5, 6]).toContain(run.status);
  });

  it('is a reason to try again', async () => {
    const server = await serveBytes(inTurn(silent, complete(wav)));
    const box = new Sandbox();
    const run = await box.run(['hi', '-o', 'out.wav', '--timeout', '0.4'], { env: retrying(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('is no cap on a service that keeps speaking', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Content-Length': wav.length }));
      for (let at = 0; at < wav.length; at += 4000) {
        await sleep(200);
        await wire.write(wav.subarray(at, at + 4000));
      }
    });
    const box = new Sandbox();
    const run = await box.run(['hi', '-o', 'out.wav', '--timeout', '1'], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('out.wav')).toEqual(wav);
  });

  it('does not take a slow reader for a silent service', async () => {
    const long = plainWav(sound(8_000_000));
    const server = await serveBytes(complete(long));
    const run = await new Sandbox().shell(
      'tts hi --timeout 0.5 | (sleep 2; cat > late.wav); exit $PIPESTATUS',
      {
        env: named(server.url),
      },
    );
    expect(run).toMatchObject({ status: 0, stderr: '' });
  });
});
