import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/ask.ts';
import { BROWSER, openPage, type Page } from '../support/browser.ts';
import { listen } from '../support/listen.ts';
import { isThere } from '../support/programs.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { startToneService } from '../support/tone-service.ts';

const APP = 'https://app.example.com';
const exposed = 'Retry-After, X-Instructions-Ignored, X-Request-Id';

const start = async (cors?: string) => {
  const tones = await startToneService({ basePath: '/api', cors });
  onTestFinished(() => tones.close());
  return tones;
};

const allowed = ({ headers }: { readonly headers: object }) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

describe('--cors', () => {
  it.each(['/tts', '/speakers'])(
    'answers what a browser asks before it uses %s, without a key',
    async (path) => {
      const { service } = await start(APP);
      const asked = await ask(service.url + path, {
        method: 'OPTIONS',
        headers: {
          origin: APP,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type,x-api-key',
        },
      });
      expect(asked.status).toBe(204);
      expect(allowed(asked)).toEqual({
        'access-control-allow-origin': APP,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'Authorization, Content-Type, X-API-KEY',
        'access-control-max-age': '600',
      });
    },
  );

  it.each([APP, '*'])('shows answers to pages of %s, refusals too', async (origin) => {
    const { service, speak } = await start(origin);
    const headers = { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed };
    const unknown = await ask(`${service.url}/speakers`);
    expect([unknown.status, allowed(unknown)]).toEqual([401, headers]);
    const wrong = await speak({ text: 'x' });
    expect([wrong.status, allowed(wrong)]).toEqual([422, headers]);
    const whole = await speak({ text: 'x', speaker_no: 1 });
    expect([whole.status, allowed(whole)]).toEqual([200, headers]);
  });

  it('leaves all other paths to programs', async () => {
    const { service } = await start('*');
    for (const path of ['/healthz', '/openapi.json', '/nothing', '/'])
      expect(allowed(await ask(service.url + path, { headers: { accept: 'text/html' } }))).toEqual({});
  });

  it('is off by itself', async () => {
    const { service, speak } = await start();
    expect(allowed(await ask(`${service.url}/tts`, { method: 'OPTIONS' }))).toEqual({});
    expect(allowed(await speak({ text: 'x', speaker_no: 1 }))).toEqual({});
  });

  it.each([
    'app.example.com',
    `${APP}/page`,
    `${APP},https://b.example`,
    'https://*.example.com',
    'null',
    '',
  ])('takes one origin, and not %j', async (value) => {
    const { status, stderr } = await new Sandbox().tts(['serve', '--port=0', '--cors', value]);
    expect(stderr).toBe(
      `tts: bad value for --cors: ${value}\nhint: expected one origin without a path, as in https://app.example.com, or "*"\n`,
    );
    expect(status).toBe(2);
  });
});

/** A page of another origin than the service, with its origin. */
async function openApp(): Promise<{ page: Page; origin: string }> {
  const port = await listen(
    createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<title>app</title>')),
  );
  const origin = `http://127.0.0.1:${port}`;
  return { page: await openPage(`${origin}/`), origin };
}

async function serve(...args: string[]): Promise<string> {
  const running = new Sandbox().start(['serve', '--port=0', '--json', '--api-key', KEY, ...args], {
    patience: 120_000,
  });
  for await (const line of running.stdout) return JSON.parse(String(line)).url;
  throw new Error((await running.ended).stderr);
}

const headers = { 'content-type': 'application/json', 'x-api-key': KEY };

/** What a page gets of an answer. */
interface Fetched {
  readonly status: number;
  readonly id: string | null;
  readonly retryAfter: string | null;
  readonly bytes: number;
  /** It is the hash of all bytes. */
  readonly hash: string;
  /** From the first piece to the last. */
  readonly seconds: number;
}

const fetchIn = (page: Page, url: string, init: object) =>
  page.evaluate<Fetched | string>(`(async () => {
    const answer = await fetch(${JSON.stringify(url)}, ${JSON.stringify(init)});
    const pieces = [], times = [];
    for (let reader = answer.body.getReader(), next; !(next = await reader.read()).done;) {
      pieces.push(next.value);
      times.push(performance.now());
    }
    const bytes = await new Blob(pieces).arrayBuffer();
    return {
      status: answer.status,
      id: answer.headers.get('X-Request-Id'),
      retryAfter: answer.headers.get('Retry-After'),
      bytes: bytes.byteLength,
      hash: new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).join(),
      seconds: (times.at(-1) - times[0]) / 1000,
    };
  })().catch((error) => String(error))`);

describe.skipIf(!isThere(BROWSER))('a page of another origin, in a browser', () => {
  it('reads a streamed answer while it is made, byte for byte', async () => {
    const { page, origin } = await openApp();
    const url = await serve('--cors', origin, '--fault', 'bandwidth=100k,times=1');
    const body = {
      text: 'One sentence. Another one.',
      speaker_no: 1,
      config: { use_streaming_response: true },
    };
    const init = {
      method: 'POST',
      headers: { ...headers, authorization: 'Bearer of something' },
      body: JSON.stringify(body),
    };
    const heard = (await fetchIn(page, `${url}/tts`, init)) as Fetched;
    const { bytes } = await ask(`${url}/tts`, { method: 'POST', headers, body });
    expect(heard.status).toBe(200);
    expect(heard.bytes).toBe(bytes.length);
    const hash = await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes));
    expect(heard.hash).toBe(new Uint8Array(hash).join());
    expect(heard.seconds).toBeGreaterThan(0.5);
    const { requests } = (await ask(`${url}/requests`, { headers })).json;
    expect(requests.map(({ method, status }: Record<string, unknown>) => [method, status])).toEqual([
      ['OPTIONS', 204],
      ['POST', 200],
      ['POST', 200],
    ]);
  });

  it('reads the speakers, a refusal, and the headers that a client needs', async () => {
    const { page } = await openApp();
    const url = await serve('--cors', '*', '--fault', 'status=503,retry-after=7');
    expect(await fetchIn(page, `${url}/speakers`, { headers })).toMatchObject({ status: 200 });
    const body = JSON.stringify({ text: 'Hello.', speaker_no: 1 });
    const refused = (await fetchIn(page, `${url}/tts`, { method: 'POST', headers, body })) as Fetched;
    expect(refused).toMatchObject({ status: 503, retryAfter: '7', id: expect.stringMatching(/^[\w-]{36}$/) });
  });

  it.each([
    ['no origin', []],
    ['another origin', ['--cors', APP]],
  ])('gets nothing where the service names %s', async (_, cors) => {
    const { page } = await openApp();
    const url = await serve(...cors, '--fault', 'none');
    const body = JSON.stringify({ text: 'Hello.', speaker_no: 1 });
    expect(await fetchIn(page, `${url}/tts`, { method: 'POST', headers, body })).toBe(
      'TypeError: Failed to fetch',
    );
    const { requests } = (await ask(`${url}/requests`, { headers })).json;
    expect(requests).toMatchObject([{ method: 'OPTIONS' }]);
  });
});
