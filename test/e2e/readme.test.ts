import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { startProxy } from '../support/proxy.ts';
import { wholePcm } from '../support/read-wav.ts';
import { fenced, readme, updating } from '../support/readme.ts';
import { KEY, type Running, Sandbox } from '../support/run.ts';
import { dialogue, lastingLines } from '../support/terminal.ts';
import { drawPicture } from '../support/terminal-picture.ts';
import { wavOf } from '../support/text-audio.ts';

// What the examples name and nobody has: real ones on this machine stand in for them.
const SERVICE = 'https://tts.example.com/api';
const PROXY = 'http://proxy.example.com:3128';

// `npm ci` and what follows it is what .ci/run does.
const examples = fenced('sh').filter((block) => !block.includes('npm '));
const daemons = examples.filter((block) => /^tts serve/m.test(block));
const OWN_SERVICE = 'http://127.0.0.1:8787';
const clients = examples.filter((block) => block.includes(OWN_SERVICE));
const ending = examples.filter((block) => !daemons.includes(block) && !clients.includes(block));

describe('an example of the README', () => {
  it.for(ending)('runs as it stands: %s', async (block, { skip }) => {
    if (block.includes('ffmpeg')) skip(!isThere('ffmpeg'), 'ffmpeg is not there');
    const box = machine();
    const service = await serveBytes(complete(wavOf('spoken by the service')));
    const proxy = await startProxy();
    const script = block.replaceAll(SERVICE, `${service.url}/api`).replaceAll(PROXY, proxy.url);
    const { status, stderr } = await box.shell(`set -euo pipefail\n${script}`);
    expect({ status, stderr: lessNotes(stderr) }).toEqual({ status: 0, stderr: '' });
    expectFiles(box, block);
    if (/aplay|--play/.test(block)) wholeOrPiped(box.read('heard'));
    expect(proxy.asked.length > 0).toBe(block.includes(PROXY));
    if (!block.includes(SERVICE)) return expect(service.requests).toEqual([]);
    for (const { path } of service.requests) expect(path).toMatch(/\/api\/tts$/);
    expect(service.requests.map((request) => request.header('x-api-key'))).toContain(KEY);
    return expect(service.requests.at(-1)?.json).toMatchObject({ speaker_no: 181 });
  });

  it.for(ending.filter((block) => /\btts\b/.test(block)))(
    'fails if the service fails in the middle, and leaves nothing that looks complete: %s',
    async (block) => {
      const box = machine();
      const whole = wavOf('spoken by the service, which breaks off in the middle of each sentence');
      const service = await serveBytes(complete(whole.subarray(0, whole.length / 2)));
      const proxy = await startProxy();
      const env = {
        TTS_BASE_URL: `${service.url}/api`,
        TTS_SPEAKER: '181',
        TTS_API_KEY: KEY,
        TTS_RETRIES: '0',
      };
      const script = block
        .replaceAll(SERVICE, `${service.url}/api`)
        .replaceAll(PROXY, proxy.url)
        .replace(/^tts login.*\n|^.*\| tts login.*\n/gm, '');
      if (script.includes('--dry-run')) return expect(service.requests).toEqual([]);
      const run = await box.shell(`set -euo pipefail\n${script}`, { env });
      expect(run.status).not.toBe(0);
      expect(box.list().filter((name) => /\.(?:wav|mp3|srt)$/.test(name))).toEqual([]);
      return expect(service.requests).not.toEqual([]);
    },
  );

  it('is the body that the command beside it sends', async () => {
    const [body = ''] = fenced('json');
    const [above = ''] = readme().split('```json');
    const command = Array.from(above.matchAll(/`(tts [^`\n]*)`/g), ([, line]) => line).at(-1);
    const service = await serveBytes(complete(wavOf('spoken by the service')));
    const run = await machine().shell(`${command} --base-url ${service.url} -o out.wav`, {
      env: { TTS_API_KEY: KEY },
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(service.requests.map(({ json }) => json)).toEqual([JSON.parse(body)]);
  });

  it('is a config file that does what it says', async () => {
    const [config = ''] = fenced('yaml');
    const service = await serveBytes(complete(wavOf('spoken by the service')));
    const box = machine();
    mkdirSync(join(box.home, '.config', 'tts'), { recursive: true });
    writeFileSync(join(box.home, '.config', 'tts', 'config.yaml'), config.replace(SERVICE, service.url));
    for (const args of ['hi', 'hi -s grandpa'])
      expect(await box.shell(`tts ${args} -o out.wav`, { env: { TTS_API_KEY: KEY } })).toMatchObject({
        status: 0,
      });
    expect(service.requests.map(({ json }) => json)).toEqual([
      { text: 'hi', speaker_no: 181 },
      { text: 'hi', speaker_no: 7, config: { instructions: 'slow and warm' } },
    ]);
  });

  it('is a config with engines that is accepted', async () => {
    const [config = ''] = fenced('yml');
    const box = machine();
    mkdirSync(join(box.home, '.config', 'tts'), { recursive: true });
    writeFileSync(join(box.home, '.config', 'tts', 'config.yaml'), config);
    const run = await box.tts(['config', '--json']);
    expect(run).toMatchObject({ status: 0 });
    expect(run.stdout.toString()).toContain('en_US-lessac-medium.onnx');
  });

  it.each(daemons)('serves as it stands, until it is ended: %s', async (block) => {
    const { run } = await startDaemon(block);
    expect((await run.endBy('SIGTERM')).ended.status).toBe(0);
  });

  it.each(clients)('speaks with the service of the example above it: %s', async (block) => {
    const { url } = await startDaemon(daemons[0] ?? '');
    const box = machine();
    const { status, stderr } = await box.shell(`set -euo pipefail\n${block.replaceAll(OWN_SERVICE, url)}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expectFiles(box, block);
  });

  it.runIf(process.platform === 'linux' && isThere('script')).each(fenced('console'))(
    'says on a terminal what is shown below it: %s',
    async (block) => {
      const box = machine();
      for (const { command, shown } of dialogue(block)) {
        box.file('command', `stty cols 100 rows 30; ${command}`);
        const { status, stdout } = await box.shell("script -qec 'bash -e -o pipefail command' /dev/null", {
          env: { TERM: 'xterm' },
        });
        expect(timeless(lastingLines(stdout.toString()))).toEqual(timeless(shown));
        expect(status).toBe(0);
        expectFiles(box, command);
      }
    },
  );
});

describe('the picture of the README', () => {
  it.runIf(updating)('is drawn from a real run', { timeout: 120_000 }, async () => {
    writeFileSync('docs/picture.svg', await drawPicture(machine()));
  });
});

/** Runs an example that serves, on a free port. */
async function startDaemon(block: string): Promise<{ run: Running; url: string }> {
  const line = block.replace(/^tts serve/m, 'exec tts serve').replace(/--port \d+/, '--port 0');
  const run = machine().startShell(line, { patience: 60_000 });
  const url = await new Promise<string>((resolve, reject) => {
    run.child.stderr?.on('data', (bytes) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(`${bytes}`) ?? [];
      if (address) resolve(address);
    });
    run.ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  return { run, url };
}

/** A machine with the files and programs that the examples name, and silent loudspeakers. */
function machine(): Sandbox {
  const box = new Sandbox();
  const sentence = (number: number) =>
    `Nobody saw ship ${number} leave. The lamps were lit, and the sea was calm.`;
  box.file('book.txt', Array.from({ length: 4 }, (_, index) => `${sentence(index + 1)}\n\n`).join(''));
  box.file('readme.md', '# A title\n\nThe *gif* is [here](https://example.com).\n\n- one\n- two\n');
  box.file('novel.epub', novel());
  box.file('names.txt', 'gif = jif\n');
  program(box, 'llm', 'echo "Once upon a time a machine learned to speak. It never stopped."');
  program(box, 'pass', `echo ${KEY}`);
  for (const player of ['pw-play', 'aplay']) program(box, player, `exec cat >'${box.path('heard')}'`);
  return box;
}

function novel(): Buffer {
  const documents = { 'a.xhtml': '<h1>One</h1><p>A sentence.</p>', 'b.xhtml': '<h1>Two</h1><p>The end.</p>' };
  return epubOf({ documents, nav: '<li><a href="a.xhtml">One</a></li><li><a href="b.xhtml">Two</a></li>' });
}

function program(box: Sandbox, name: string, line: string): void {
  const path = join(box.commands, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

/** Every file that an example names is there afterwards, and every WAV is whole. */
function expectFiles(box: Sandbox, block: string): void {
  // A dry run makes none of its files.
  if (block.includes('--dry-run')) {
    expect(box.list()).not.toContain('book.wav');
    return;
  }
  const named = Array.from(block.matchAll(/(?<![$\w/])[\w-]+\.(?:wav|mp3|srt|txt)/g), ([name]) => name);
  expect(named.filter((name) => !existsSync(box.path(name)))).toEqual([]);
  const sounds = box.list().filter((name) => name.endsWith('.wav'));
  if (block.includes('.wav')) expect(sounds).not.toEqual([]);
  for (const sound of sounds) expect(wholePcm(box.read(sound)).length).toBeGreaterThan(0);
}

function wholeOrPiped(heard: Buffer): void {
  expect(heard.toString('latin1', 0, 4)).toBe('RIFF');
  expect(heard.length).toBeGreaterThan(10_000);
}

// What is said of runs that went well; anything else would surprise the reader of an example.
const NOTES = [
  'the chapters are those of the table of contents',
  'no base URL is set, so the built-in English voice speaks',
  'the key for \\S+ is stored in ',
  'to speak with it: --base-url ',
];

function lessNotes(stderr: string): string {
  return stderr.replace(new RegExp(`^tts: (${NOTES.join('|')}).*\\n`, 'gm'), '');
}

/** Lines with the time that a run took left out. */
function timeless(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/ in [\d.]+ s$/, ' in … s'));
}
