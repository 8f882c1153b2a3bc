import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, type Reply } from '../support/ask.ts';
import { BROWSER, OTHER_NAME, openPage, type Page } from '../support/browser.ts';
import { listen } from '../support/listen.ts';
import { isThere } from '../support/programs.ts';
import { KEY, Sandbox } from '../support/run.ts';
import { serveSeed } from '../support/seed-service.ts';
import { startToneService } from '../support/tone-service.ts';
import { writeUserConfig } from '../support/user-config.ts';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';

/** Starts `tts serve`, and returns its address. */
async function serve(args: readonly string[] = ['--api-key', KEY], box = new Sandbox()): Promise<string> {
  const running = box.start(['serve', '--port', '0', '--json', ...args], { patience: 120_000 });
  for await (const line of running.stdout) return JSON.parse(String(line)).url;
  throw new Error((await running.ended).stderr);
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

/** A picture to look at, if somebody wants one. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const { TTS_PICTURES: folder } = process.env;
  if (folder) writeFileSync(join(folder, `${name}.png`), await page.picture());
}

describe('GET / of tts serve', () => {
  it('is a page where HTML is asked for, and nothing for all others', async () => {
    const url = await serve(['--api-key', KEY, '--base-path', '/api']);
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
    const post = await ask(`${url}/`, { method: 'POST', headers: { accept: HTML }, body: {} });
    expect(post).toMatchObject({ status: 404 });
  });

  it('leads from the base URL without a slash to the page', async () => {
    const url = await serve(['--api-key', KEY, '--base-path', '/deep/api']);
    const { status, headers } = await ask(url, { headers: { accept: HTML } });
    expect(status).toBe(308);
    expect(new URL(String(headers.location), url).href).toBe(`${url}/`);
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

  it('sends no key that cannot be one, and takes one that was pasted with spaces', async () => {
    const url = await serve();
    const page = await open(url);
    await page.type('ключ');
    await page.press('Enter');
    expect(await page.evaluate('document.querySelector("#key:invalid").validationMessage')).not.toBe('');
    await page.evaluate(`document.getElementById('key').select()`);
    await page.type(` ${KEY} `);
    await page.press('Enter');
    await status(page, /voices are ready/);
    expect(page.requests.filter((address) => address === `${url}/speakers`)).toHaveLength(2);
  });

  it('asks for no key where the service wants none', async () => {
    const page = await open(await serve(['--no-auth']));
    await status(page, /voices are ready/);
    expect(await textOf(page, 'key-form')).toBe('');
    expect(await textOf(page, 'curl')).not.toContain('X-API-KEY');
    expect(await textOf(page, 'tts')).toContain('TTS_API_KEY=none tts ');
  });

  it('takes the key out of the address that tts serve prints', async () => {
    const run = new Sandbox().start(['serve', '--port', '0'], { patience: 120_000 });
    let said = '';
    run.child.stderr?.on('data', (piece) => {
      said += piece;
    });
    await expect.poll(() => said).toMatch(/in a browser: .*\n/);
    const [, url = '', fragment = ''] = /in a browser: (\S+)\/(#\S+)\n/.exec(said) ?? [];
    const page = await open(url, {}, fragment);
    await status(page, /voices are ready/);
    expect(await textOf(page, 'key-form')).toBe('');
    expect(await page.evaluate('location.href')).toBe(`${url}/`);
    expect(page.requests.join()).not.toContain(fragment.slice('#key='.length));
  });

  it('asks for the number of a voice where a relayed service lists none', async () => {
    const seed = await serveSeed();
    const box = new Sandbox();
    writeUserConfig(box, { keys: { [seed.url]: seed.key } });
    const page = await open(await serve(['--no-auth', '--base-url', seed.url], box));
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

  it('plays and saves a WAV with exact sizes', async () => {
    const url = await serve();
    const page = await openWithKey(url);
    await choose(page, 'wav');
    const text = 'One sentence. Another sentence. And the last one.';
    await fill(page, { text });
    await page.press('Control+Enter');
    await status(page, /of speech, complete after/);
    const { bytes } = await speech(url, { input: text, voice: 'rms', response_format: 'wav' });
    const wav = await saved(page);
    expect(wav.subarray(44)).toEqual(bytes.subarray(44));
    expect([wav.readUInt32LE(4), wav.readUInt32LE(40)]).toEqual([wav.length - 8, wav.length - 44]);
    const seconds = (wav.length - 44) / 2 / wav.readUInt32LE(24);
    expect(await textOf(page, 'status')).toContain(`${seconds.toFixed(2)} s of speech`);
  });

  it('tells of an answer that breaks off, and saves nothing of it', async () => {
    const page = await openWithKey(await serveTones());
    await fill(page, { text: `${'sound '.repeat(1000)}slow broken` });
    await page.press('Control+Enter');
    await expect.poll(() => textOf(page, 'problem')).toMatch(/broke off/);
    expect(await page.evaluate('saved.length')).toBe(0);
    expect(await textOf(page, 'result')).toBe('');
    expect(await page.evaluate('document.getElementById("speak").disabled')).toBe(false);
  });

  it('shows what a service says instead of sound', async () => {
    const page = await openWithKey(await serveTones());
    await fill(page, { text: 'It is full.' });
    await page.press('Control+Enter');
    await expect
      .poll(() => textOf(page, 'problem'))
      .toBe('too many requests wait already. Try again in 3 s.');
  });

  it('offers instructions as the kind of the voice allows, and names words not understood', async () => {
    const page = await openWithKey(await serve());
    const isShown = () => page.evaluate(`document.getElementById('instructions').checkVisibility()`);
    expect(await isShown()).toBe(false);
    await chooseVoice(page, 'rms-styled');
    expect(await isShown()).toBe(true);
    await fill(page, { text: 'Hello.', instructions: 'slowly, like a pirate' });
    await page.press('Control+Enter');
    await status(page, /Not understood: .*pirate/);
  });

  it('lists voices by their language, with what is known of them', async () => {
    const page = await openWithKey(await serve());
    const options = (id: string) =>
      page.evaluate<string[]>(`[...document.getElementById('${id}').options].map(({ text }) => text)`);
    expect(await options('language')).toContain('English');
    expect((await options('voice')).slice(0, 3)).toEqual([
      'rms · American English · man · 1',
      'slt · American English · woman · 2',
      'awb · British English · man · 3',
    ]);
    if (!isThere('espeak-ng')) return;
    await fill(page, { language: 'de' });
    expect(await options('voice')).toEqual([expect.stringMatching(/^German · \d+$/)]);
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

  it.each([
    ['127.0.0.1', ''],
    [OTHER_NAME, 'This connection is not encrypted: others on the network can read the key.'],
  ])('copies a line at http://%s, and says if the key can be read on its way', async (name, warning) => {
    const page = await open((await serve()).replace('127.0.0.1', name));
    expect(await textOf(page, 'insecure')).toBe(warning);
    await keepPicture(page, `key-at-${name}`);
    await page.type(KEY);
    await page.press('Enter');
    await status(page, /voices are ready/);
    await page.evaluate(`document.querySelector('[data-copy=curl]').focus()`);
    await page.press('Enter');
    await expect
      .poll(() => page.evaluate(`document.querySelector('[data-copy=curl]').textContent`))
      .toBe('Copied');
    const line = await textOf(page, 'curl');
    expect(line).toMatch(/^curl /);
    await page.evaluate(`document.getElementById('text').focus()`);
    await page.press('Control+v');
    expect(await page.evaluate(`document.getElementById('text').value`)).toBe(line);
  });

  it('is used by keyboard: every control in its order, and Escape stops', async () => {
    const page = await openWithKey(await serve());
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

  it.each([
    ['a desktop', {}, (light: number) => light > 0.9],
    ['a phone in the dark', { width: 360, isDark: true }, (light: number) => light < 0.2],
  ])('fits %s', async (name, options, fits) => {
    const page = await openWithKey(await serve(), options);
    await fill(page, { text: 'Hello from this page.' });
    await page.press('Control+Enter');
    await status(page, /of speech/);
    const light = await page.evaluate<number>(
      `(() => { const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); return (+r + +g + +b) / 765 })()`,
    );
    expect(light).toSatisfy(fits);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    const small = await page.evaluate(
      `[...document.querySelectorAll('button, select, textarea, input:not([type=radio]), #save')].filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 43).map(({ id }) => id)`,
    );
    expect(small).toEqual([]);
    await keepPicture(page, name.replaceAll(' ', '-'));
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
