import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { selfSigned } from '../support/certificate.ts';
import { complete, head } from '../support/http-bytes.ts';
import { listen } from '../support/listen.ts';
import { startProxy } from '../support/proxy.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(30_000));
const toFile = ['hi', '-o', 'out.wav'];

describe('a proxy', () => {
  it('is sent the request in absolute form for http', async () => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    for (const [env, args] of [
      [{ HTTP_PROXY: proxy.url }, []],
      [{ http_proxy: proxy.url }, []],
      [{ HTTP_PROXY: `127.0.0.1:${proxy.port}` }, []],
      [{}, ['--proxy', proxy.url]],
      [{ HTTP_PROXY: 'http://127.0.0.1:1' }, ['--proxy', proxy.url]],
    ] as const) {
      const run = await new Sandbox().run([...toFile, ...args], { env: named(server.url, env) });
      expect(run).toMatchObject({ status: 0, stderr: '' });
    }
    expect(new Set(proxy.asked)).toEqual(new Set([`POST ${server.url}/tts`]));
    expect(proxy.asked).toHaveLength(5);
    expect(server.requests[0]).toMatchObject({ method: 'POST', path: '/tts' });
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it('is asked for a tunnel for https, in which it cannot read the key', async () => {
    const proxy = await startProxy();
    const certificate = await selfSigned();
    const server = await serveBytes(complete(wav), certificate);
    const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile });
    const box = new Sandbox();
    expect(await box.run(toFile, { env: { ...env, HTTPS_PROXY: proxy.url } })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(await box.run([...toFile, '--proxy', proxy.url], { env })).toMatchObject({ status: 0 });
    const tunnel = `CONNECT 127.0.0.1:${server.port}`;
    expect(proxy.asked).toEqual([tunnel, tunnel]);
    expect(proxy.tunnelled().length).toBeGreaterThan(100);
    expect(proxy.tunnelled().includes(KEY)).toBe(false);
    expect(server.requests[0]?.header('x-api-key')).toBe(KEY);
  });

  it('gets its user and password, and they are never shown', async () => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    const url = proxy.url.replace('//', '//anna:p4ssw0rd@');
    for (const env of [{ HTTP_PROXY: url }, {}]) {
      const args = 'HTTP_PROXY' in env ? [] : ['--proxy', url];
      const run = await new Sandbox().run([...toFile, '-v', ...args], { env: named(server.url, env) });
      expect(run.status).toBe(0);
      expect(run.stderr).not.toContain('p4ssw0rd');
    }
    const basic = `Basic ${Buffer.from('anna:p4ssw0rd').toString('base64')}`;
    expect(proxy.credentials).toEqual([basic, basic]);
  });

  it.each(['127.0.0.1', '*', 'example.com,127.0.0.1', '127.0.0.1:PORT'])(
    'is passed by for hosts in NO_PROXY: %s',
    async (except) => {
      const proxy = await startProxy();
      const server = await serveBytes(complete(wav));
      for (const name of ['NO_PROXY', 'no_proxy']) {
        const env = named(server.url, {
          HTTP_PROXY: proxy.url,
          [name]: except.replace('PORT', String(server.port)),
        });
        expect(await new Sandbox().run(toFile, { env })).toMatchObject({ status: 0, stderr: '' });
      }
      expect(proxy.asked).toEqual([]);
    },
  );

  it('is not passed by for other hosts in NO_PROXY', async () => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    const env = named(server.url, { HTTP_PROXY: proxy.url, NO_PROXY: 'example.com,127.0.0.2' });
    await new Sandbox().run(toFile, { env });
    expect(proxy.asked).toHaveLength(1);
  });

  it('beyond the own network gets no key over plain http, though the service is near', async () => {
    const env = named('http://tts.local/api', { HTTP_PROXY: 'http://proxy.example.com:3128' });
    const run = await new Sandbox().run(toFile, { env });
    expectFailure(run, 2, /not sent over plain http through the proxy proxy\.example\.com:3128/);
    const free = await new Sandbox().run([...toFile, '--dry-run'], {
      env: { ...env, NO_PROXY: 'tts.local' },
    });
    expect(free.status).toBe(0);
    const meant = await new Sandbox().run([...toFile, '--dry-run', '--allow-insecure-http'], { env });
    expect(meant.status).toBe(0);
  });

  it('that is for https only is not used for http', async () => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    const env = named(server.url, { HTTPS_PROXY: proxy.url });
    expect(await new Sandbox().run(toFile, { env })).toMatchObject({ status: 0 });
    expect(proxy.asked).toEqual([]);
  });

  it('that cannot be reached is 6, and named', async () => {
    for (const url of ['http://example.com', 'https://example.com']) {
      const args = [...toFile, '--proxy', 'http://127.0.0.1:1', '--allow-insecure-http'];
      const run = await new Sandbox().run(args, { env: named(url) });
      expectFailure(run, 6, /proxy/);
      expect(run.stderr).toContain('127.0.0.1:1');
    }
  });

  it('may be spoken to over TLS, also by its address, and has to prove who it is', async () => {
    const certificate = await selfSigned();
    const proxy = await startProxy({ certificate });
    for (const server of [await serveBytes(complete(wav)), await serveBytes(complete(wav), certificate)]) {
      const args = [...toFile, '--proxy', proxy.url];
      const env = named(server.url, { NODE_EXTRA_CA_CERTS: certificate.certFile });
      expect(await new Sandbox().run(args, { env })).toMatchObject({ status: 0, stderr: '' });
      expect(proxy.asked.pop()).toBe(`CONNECT ${new URL(server.url).host}`);
      const strange = await new Sandbox().run(args, { env: named(server.url) });
      expectFailure(strange, 6, /certificate of the proxy 127\.0\.0\.1:\d+ (?:or of \S+ )?cannot be trusted/);
      expect(proxy.asked).toEqual([]);
    }
  });

  it.each([
    ['http://127.0.0.1:9', 'http://10.0.0.1:9'],
    ['http://127.0.0.1:9', 'https://example.com:9'],
    ['https://127.0.0.1:9', 'https://example.com:9'],
  ])('%s is not taken for the service %s on the same port', async (proxy, service) => {
    const run = await new Sandbox().run([...toFile, '--proxy', proxy], { env: named(service) });
    expectFailure(run, 6, /nothing listens at the proxy 127\.0\.0\.1:9\nhint: check --proxy/);
  });

  it('that has no address is named', async () => {
    const run = await new Sandbox().run([...toFile, '--proxy', 'http://nowhere.invalid'], {
      env: named('https://example.com'),
    });
    expectFailure(
      run,
      6,
      /the name of the proxy nowhere\.invalid cannot be resolved \(ENOTFOUND\)\nhint: check --proxy/,
    );
  });

  it('that refuses a tunnel or wants a password is an error that says so', async () => {
    for (const [refuse, hint] of [
      [403, /proxy/],
      [407, /user:password/],
    ] as const) {
      const proxy = await startProxy({ refuse });
      const run = await new Sandbox().run([...toFile, '--proxy', proxy.url], {
        env: named('https://example.com'),
      });
      expectFailure(run, 6, new RegExp(`proxy.*${refuse}`));
      expect(run.stderr).toMatch(hint);
    }
  });

  it.each([
    'nonsense://x',
    'http://',
    'ftp://proxy',
    'http://127.0.0.1:1/x',
    'http://127.0.0.1:1//',
    'http://127.0.0.1:1?y',
    'http://127.0.0.1:1#z',
  ])('is refused where it is %s', async (url) => {
    const env = named('http://127.0.0.1:1');
    expectFailure(await new Sandbox().run([...toFile, '--proxy', url], { env }), 2, /--proxy/);
    const fromEnvironment = await new Sandbox().run(toFile, { env: { ...env, HTTP_PROXY: url } });
    expectFailure(fromEnvironment, 2, /HTTP_PROXY/);
  });

  it('of SOCKS is refused, and the error names http and https', async () => {
    const args = [...toFile, '--proxy', 'socks5://127.0.0.1:1080'];
    const run = await new Sandbox().run(args, { env: named('http://127.0.0.1:1') });
    expectFailure(
      run,
      2,
      /"socks5:\/\/127\.0\.0\.1\*+".*expected a URL that begins with http:\/\/ or https:\/\//,
    );
  });

  it('is named where it is refused, without its password', async () => {
    const env = named('http://127.0.0.1:1');
    for (const [url, shown] of [
      ['ftp://proxy', '"ftp://proxy"'],
      ['ftp://me:hidden-word@proxy', '"ftp://***@proxy"'],
      ['me:hidden-word@proxy:x', '"***@proxy***"'],
      ['http://proxy:hidden-word', '"http://proxy***"'],
      ['http://proxy:80/hidden-word', '"http://proxy***"'],
    ] as const) {
      const runs = [
        await new Sandbox().run([...toFile, '--proxy', url], { env }),
        await new Sandbox().run(toFile, { env: { ...env, HTTP_PROXY: url } }),
      ];
      for (const { status, stderr } of runs) {
        expect({ status, isNamed: stderr.includes(shown) }).toEqual({ status: 2, isNamed: true });
        expect(stderr).not.toContain('hidden-word');
      }
    }
  });

  it('that hangs up instead of opening a tunnel is asked once for each try', async () => {
    const proxy = await startProxy({ hangUp: true });
    const env = named('https://example.com', { TTS_RETRIES: '1' });
    const run = await new Sandbox().run([...toFile, '--proxy', proxy.url], { env });
    expectFailure(run, 6, /the proxy \S+ closed the connection without an answer\nhint: check --proxy/);
    expect(proxy.asked).toHaveLength(2);
  });

  it.each(['SSH-2.0-OpenSSH\r\n', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`])(
    'that does not speak HTTP is not taken for the service: %#',
    async (bytes) => {
      const other = createServer(
        (socket) => void socket.on('error', () => {}).once('data', () => socket.write(bytes)),
      );
      const proxy = `http://127.0.0.1:${await listen(other)}`;
      const run = await new Sandbox().run([...toFile, '--proxy', proxy], {
        env: named('https://example.com'),
      });
      expectFailure(run, 6, /the proxy \S+ sent an invalid HTTP answer\nhint: check --proxy/);
    },
  );

  it('that has no tunnel for the moment is asked again', async () => {
    const proxy = await startProxy({ refuse: 503 });
    const env = named('https://example.com', { TTS_RETRIES: '1' });
    expectFailure(await new Sandbox().run([...toFile, '--proxy', proxy.url], { env }), 6, /status 503/);
    expect(proxy.asked).toHaveLength(2);
  });

  it('is not blamed where there is none', async () => {
    const hangsUp = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end()));
    const port = await listen(hangsUp);
    const run = await new Sandbox().run(toFile, { env: named(`https://127.0.0.1:${port}`) });
    expectFailure(run, 6, new RegExp(`127\\.0\\.0\\.1:${port} closed the connection`));
    expect(run.stderr).not.toMatch(/--proxy/);
  });

  it('that requires a password is reported for http, too', async () => {
    const proxy = await startProxy({ refuse: 407 });
    const args = [...toFile, '--allow-insecure-http', '--proxy', proxy.url];
    const run = await new Sandbox().run(args, { env: named('http://example.com') });
    expectFailure(run, 6, /proxy.*407/);
    expect(run.stderr).toMatch(/user:password/);
  });

  it.each([
    ['anna@', 'anna:'],
    ['anna:100%@', 'anna:100%'],
    ['an%40na:p%C3%A4ss@', 'an@na:päss'],
  ])('gets the user and password of %s', async (inUrl, meant) => {
    const proxy = await startProxy();
    const server = await serveBytes(complete(wav));
    const env = named(server.url, { HTTP_PROXY: proxy.url.replace('//', `//${inUrl}`) });
    expect(await new Sandbox().run(toFile, { env })).toMatchObject({ status: 0, stderr: '' });
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from(meant).toString('base64')}`]);
  });

  it('in front of a connection that is reset makes no whole answer of a torn one', async () => {
    const torn: Script = async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'audio/wav', Connection: 'close' }));
      await wire.write(plainWav(sound(2000), 0xffffffff));
      wire.reset();
    };
    const direct = await serveBytes(torn);
    const http = named('http://example.com', { HTTP_PROXY: direct.url });
    const args = [...toFile, '--stream', '--allow-insecure-http'];
    expectFailure(await new Sandbox().run(args, { env: http }), 7, /broke off/);
    const certificate = await selfSigned();
    const endless: Script = async (wire) => {
      await wire.write(head(200, { 'Content-Type': 'audio/wav', Connection: 'close' }));
      await wire.write(plainWav(sound(20_000), 0xffffffff));
    };
    const server = await serveBytes(endless, certificate);
    const { url: HTTPS_PROXY } = await startProxy({ tear: 20_000 });
    const https = named(server.url, { HTTPS_PROXY, NODE_EXTRA_CA_CERTS: certificate.certFile });
    expectFailure(await new Sandbox().run(args, { env: https }), 7, /broke off/);
  });
});
