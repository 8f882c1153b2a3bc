import { createServer } from 'node:http';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { ask, type Reply } from '../support/ask.ts';
import { BROWSER, endBrowser, OTHER_NAME, openPage, type Page } from '../support/browser.ts';
import { listen } from '../support/listen.ts';
import { isThere } from '../support/programs.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { serve as startServing } from '../support/serve.ts';
import { serveStrict } from '../support/strict-service.ts';
import { startToneService } from '../support/tone-service.ts';
import { writeUserConfig } from '../support/user-config.ts';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';

afterAll(endBrowser);

/** Starts `tts serve`, and returns its address. */
async function serve(args = `--api-key ${KEY}`, box = new Sandbox()): Promise<string> {
  return (await startServing(`${args} --json`, { box })).url;
}

/** A service with the same page whose voices fail where the text says so. */
async function serveTones(cors?: string): Promise<string> {
  const tones = await startToneService({ apiKey: KEY, cors });
  onTestFinished(() => tones.close());
  return tones.service.url;
}

/** The sound that a request makes, from another client than the page. */
const speech = (url: string, body: object): Promise<Reply> =>
  ask(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body,
  });

/** Keeps what the page plays and saves, and what its policy forbids. */
const WATCH = `
  window.saved = []; window.forbidden = [];
  addEventListener('securitypolicyviolation', ({ violatedDirective }) => forbidden.push(violatedDirective));
  const makeUrl = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved.push(blob); return makeUrl(blob) };`;

/** What is shown of an element. */
const textOf = (page: Page, id: string) =>
  page.evaluate<string>(
    `((element) => (element.checkVisibility() ? element.innerText : ''))(document.getElementById('${id}'))`,
  );

const status = (page: Page, words: RegExp) => expect.poll(() => textOf(page, 'status')).toMatch(words);

/** Sets fields as a person does. */
const fill = (page: Page, fields: Readonly<Record<string, string>>) =>
  page.evaluate(
    `for (const [id, value] of Object.entries(${JSON.stringify(fields)})) { const field = document.getElementById(id); field.value = value; for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true })) }`,
  );

async function open(url: string, options: object = {}, fragment = ''): Promise<Page> {
  const page = await openPage(`${url}/${fragment}`, { script: WATCH, ...options });
  await expect.poll(() => page.evaluate(`document.activeElement.id`)).toMatch(/^(key|text)$/);
  return page;
}

async function openWithKey(url: string, options: object = {}): Promise<Page> {
  const page = await open(url, options);
  await page.type(KEY);
  await page.press('Enter');
  await status(page, /voices are ready/);
  return page;
}

/** Chooses a voice by what its line begins with. */
const chooseVoice = (page: Page, name: string) =>
  page.evaluate(
    `{ const voice = document.getElementById('voice'); voice.value = [...voice.options].find(({ text }) => text.startsWith('${name} ')).value; voice.dispatchEvent(new Event('change', { bubbles: true })) }`,
  );

const choose = (page: Page, answer: string) =>
  page.evaluate(`document.querySelector('[value="${answer}"]').click()`);

/** The file that the player and the link name. */
async function saved(page: Page): Promise<Buffer> {
  const base64 = await page.evaluate<string>(
    `new Promise((resolve) => { const reader = new FileReader(); reader.onload = () => resolve(reader.result.split(',')[1]); reader.readAsDataURL(saved.at(-1)) })`,
  );
  return Buffer.from(base64, 'base64');
}

describe('GET / of tts serve', () => {
  it('is a page where HTML is asked for, and nothing for all others', async () => {
    const url = await serve(`--api-key ${KEY} --base-path /api`);
    const page = await ask(`${url}/`, { headers: { accept: HTML } });
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept',
    });
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-[^' ]+'; style-src 'sha256-[^' ]+';/);
    expect(policy).not.toContain('unsafe');
    const head = await ask(`${url}/`, { method: 'HEAD', headers: { accept: HTML } });
    expect(head).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
    expect(head.headers['content-length']).toBe(String(page.bytes.length));
    for (const accept of ['*/*', 'application/json'])
      expect(await ask(`${url}/`, { headers: { accept } })).toMatchObject({
        status: 404,
        json: { error: { code: 'not_found' } },
      });
    const bare = await ask(url, { headers: { accept: HTML } });
    expect([bare.status, new URL(String(bare.headers.location), url).href]).toEqual([308, `${url}/`]);
  });
});

describe.skipIf(!isThere(BROWSER))('the page of tts serve, in a browser', () => {
  it('asks for the key, keeps it in memory only, and loads nothing from outside', async () => {
    const url = await serve();
    const page = await open(url);
    await status(page, /^Give the API key of this service to begin\.$/);
    expect(await textOf(page, 'problem')).toBe('');
    expect(await textOf(page, 'lines')).toBe('');
    await page.type('wrong');
    await page.press('Enter');
    await expect.poll(() => textOf(page, 'problem')).toBe('The API key in X-API-KEY is not valid.');
    await page.evaluate(`document.getElementById('key').select()`);
    await page.type(KEY);
    await page.press('Enter');
    await status(page, /^\d+ voices are ready\.$/);
    await fill(page, { text: 'Hello.' });
    const kept = `[document.documentElement.outerHTML, [...document.querySelectorAll('input')].map((input) => input.value), JSON.stringify({ ...localStorage, ...sessionStorage }), document.cookie, location.href].join()`;
    expect(await page.evaluate(kept)).not.toContain(KEY);
    expect(page.requests.filter((address) => !/^(?:blob|data):/.test(address))).toEqual([
      `${url}/`,
      ...Array.from({ length: 3 }, () => `${url}/speakers`),
    ]);
    expect(await page.evaluate('forbidden')).toEqual([]);
    expect(await page.evaluate(`document.querySelector('a[href="openapi.json"]').href`)).toBe(
      `${url}/openapi.json`,
    );
    await page.evaluate(`document.getElementById('forget').click()`);
    expect(await page.evaluate(`document.getElementById('speak').disabled`)).toBe(true);
  });

  it('asks for no key where the service wants none', async () => {
    const page = await open(await serve('--no-auth'));
    await status(page, /voices are ready/);
    expect(await textOf(page, 'key-form')).toBe('');
    expect(await textOf(page, 'curl')).not.toContain('X-API-KEY');
    expect(await textOf(page, 'tts')).toContain('TTS_API_KEY=none tts ');
  });

  it('takes the key out of the address that tts serve prints', async () => {
    const { said } = await startServing('');
    const [, url = '', fragment = ''] = /in a browser: (\S+)\/(#\S+)\n/.exec(said.stderr) ?? [];
    const page = await open(url, {}, fragment);
    await status(page, /voices are ready/);
    expect(await textOf(page, 'key-form')).toBe('');
    expect(await page.evaluate('location.href')).toBe(`${url}/`);
    expect(page.requests.join()).not.toContain(fragment.slice('#key='.length));
  });

  it('asks for the number of a voice where a relayed service lists none', async () => {
    const seed = await serveStrict();
    const box = new Sandbox();
    writeUserConfig(box, { keys: { [seed.url]: seed.key } });
    const page = await open(await serve(`--no-auth --base-url ${seed.url}`, box));
    await status(page, /lists no voices/);
    await fill(page, { text: 'Hello.', number: '181', instructions: 'warmly' });
    await page.press('Control+Enter');
    await status(page, /of speech/);
    expect(seed.bodies).toEqual([{ text: 'Hello.', speaker_no: 181, config: { instructions: 'warmly' } }]);
  });

  it('plays and saves an MP3 at the speed that is chosen', async () => {
    const url = await serve();
    const page = await openWithKey(url);
    await fill(page, { text: 'Hello there.', speed: '1.25' });
    await page.press('Control+Enter');
    await status(page, /^\d\.\d\d s of speech, complete after \d+\.\d+ s, \d+ KiB\.$/);
    const asked = { input: 'Hello there.', voice: 'rms', response_format: 'mp3' };
    expect(await saved(page)).toEqual((await speech(url, { ...asked, speed: 1.25 })).bytes);
    expect((await speech(url, asked)).bytes.length).toBeGreaterThan(1.1 * (await saved(page)).length);
    expect(await page.evaluate('document.getElementById("save").download')).toBe('speech.mp3');
    expect(await page.evaluate('document.getElementById("save").href === sound.src')).toBe(true);
    await expect.poll(() => page.evaluate('sound.ended')).toBe(true);
    // The sound is heard to its end: then there is nothing to stop.
    expect(await page.evaluate('document.getElementById("stop").disabled')).toBe(true);
  });

  it('tells of an answer that breaks off, and of a refusal, and saves nothing of it', async () => {
    const page = await openWithKey(await serveTones());
    await fill(page, { text: `${'sound '.repeat(1000)}slow broken` });
    await page.press('Control+Enter');
    await expect.poll(() => textOf(page, 'problem')).toMatch(/broke off/);
    expect([await page.evaluate('saved.length'), await textOf(page, 'result')]).toEqual([0, '']);
    await fill(page, { text: 'It is full.' });
    await page.press('Control+Enter');
    const refusal = 'too many requests wait already. Try again in 3 s.';
    await expect.poll(() => textOf(page, 'problem')).toBe(refusal);
  });

  it('lists voices by their language, and offers instructions as the kind of the voice allows', async () => {
    const page = await openWithKey(await serve());
    const options = (id: string) =>
      page.evaluate<string[]>(`[...document.getElementById('${id}').options].map(({ text }) => text)`);
    expect(await options('language')).toContain('English');
    expect((await options('voice')).slice(0, 2)).toEqual([
      'rms · American English · man · 1',
      'slt · American English · woman · 2',
    ]);
    const isShown = () => page.evaluate(`document.getElementById('instructions').checkVisibility()`);
    expect(await isShown()).toBe(false);
    await chooseVoice(page, 'rms-styled');
    expect(await isShown()).toBe(true);
    await fill(page, { text: 'Hello.', instructions: 'slowly, like a pirate' });
    await page.press('Control+Enter');
    await status(page, /Not understood: .*pirate/);
  });

  it('shows lines that make the same sound in a shell', async () => {
    const box = new Sandbox();
    const url = await serve(undefined, box);
    const page = await openWithKey(url);
    const text = `It's "quoted" \\ $HOME \`id\` !\n\n-o x é 😀 ${'and so on, '.repeat(5)}done.`;
    await choose(page, 'wav');
    await chooseVoice(page, 'slt-styled');
    await fill(page, { text, instructions: "slower, don't shout" });
    await page.evaluate('document.getElementById("form").requestSubmit()');
    await status(page, /of speech/);
    const expected = await saved(page);
    for (const id of ['curl', 'tts']) {
      const line = await page.evaluate<string>(`document.getElementById('${id}').textContent`);
      expect(line).not.toContain(KEY);
      expect(await box.shell(line, { env: { TTS_API_KEY: KEY } })).toMatchObject({ status: 0 });
      // curl gets the header of a stream.
      const from = id === 'curl' ? 44 : 0;
      expect(box.read('speech.wav').subarray(from).equals(expected.subarray(from))).toBe(true);
    }
  });

  it('copies a line, also at a name of the network, where it says that others can read the key', async () => {
    const page = await open((await serveTones()).replace('127.0.0.1', OTHER_NAME));
    const warning = 'This connection is not encrypted: others on the network can read the key.';
    expect(await textOf(page, 'insecure')).toBe(warning);
    await page.type(KEY);
    await page.press('Enter');
    await status(page, /voices are ready/);
    await page.evaluate(`document.querySelector('[data-copy=curl]').focus()`);
    await page.press('Enter');
    const button = `document.querySelector('[data-copy=curl]').textContent`;
    await expect.poll(() => page.evaluate(button)).toBe('Copied');
    const line = await textOf(page, 'curl');
    expect(line).toMatch(/^curl /);
    await page.evaluate(`document.getElementById('text').focus()`);
    await page.press('Control+v');
    expect(await page.evaluate(`document.getElementById('text').value`)).toBe(line);
  });

  it('is used by keyboard: every control in its order, and Escape stops', async () => {
    const page = await openWithKey(await serveTones());
    const order = [];
    for (let at = 0; at < 9; at += 1) {
      order.push(await page.evaluate('document.activeElement.id || document.activeElement.value'));
      await page.press('Tab');
    }
    expect(order).toEqual([
      'text',
      'language',
      'voice',
      'speed',
      'mp3',
      'speak',
      'forget',
      'curl',
      expect.anything(),
    ]);
    await fill(page, { text: 'A long text of many words. '.repeat(300) });
    await page.press('Control+Enter');
    await expect.poll(() => page.evaluate('document.getElementById("stop").disabled')).toBe(false);
    await page.press('Escape');
    await status(page, /^Stopped\.$/);
    expect(await textOf(page, 'result')).toBe('');
    expect(await page.evaluate('document.getElementById("speak").disabled')).toBe(false);
  });

  it('fits a phone in the dark', async () => {
    const page = await openWithKey(await serveTones(), { width: 360, isDark: true });
    await choose(page, 'wav');
    await fill(page, { text: 'Hello from this page.' });
    await page.press('Control+Enter');
    await status(page, /of speech/);
    const light = await page.evaluate<number>(
      `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); return (+r + +g + +b) / 765 })()`,
    );
    expect(light).toBeLessThan(0.2);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    const small = await page.evaluate(
      `[...document.querySelectorAll('button, select, textarea, input:not([type=radio]), #save')].filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 43).map(({ id }) => id)`,
    );
    expect(small).toEqual([]);
  });
});

describe.skipIf(!isThere(BROWSER))('a page of another origin, in a browser', () => {
  const speakIn = (page: Page, url: string, text: string) =>
    page.evaluate<object | string>(`(async () => {
      const answer = await fetch('${url}/tts', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': '${KEY}' },
        body: ${JSON.stringify(JSON.stringify({ text, speaker_no: 1, config: { use_streaming_response: true } }))},
      });
      const { byteLength } = await answer.arrayBuffer();
      return { status: answer.status, byteLength, retryAfter: answer.headers.get('Retry-After') };
    })().catch((error) => String(error))`);
  const openApp = async () => {
    const app = createServer((_, response) =>
      response.setHeader('Content-Type', 'text/html').end('<title>app</title>'),
    );
    const origin = `http://127.0.0.1:${await listen(app)}`;
    return { page: await openPage(`${origin}/`), origin };
  };

  it('reads a stream and a refusal where the service names its origin', async () => {
    const { page, origin } = await openApp();
    const url = await serveTones(origin);
    expect(await speakIn(page, url, 'hello')).toEqual({ status: 200, byteLength: 1044, retryAfter: null });
    expect(await speakIn(page, url, 'full')).toMatchObject({ status: 503, retryAfter: '3' });
  });

  it.each([undefined, 'https://app.example.com'])('gets nothing where the service names %s', async (cors) => {
    const { page } = await openApp();
    expect(await speakIn(page, await serveTones(cors), 'hello')).toBe('TypeError: Failed to fetch');
  });
});
