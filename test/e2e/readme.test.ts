import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import catalogue from '../../src/voices/install/catalogue.json' with { type: 'json' };
import { serveBytes } from '../support/byte-server.ts';
import { epubOf } from '../support/epub.ts';
import { emptyFolder } from '../support/folder.ts';
import { complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { startProxy } from '../support/proxy.ts';
import { wholePcm } from '../support/read-wav.ts';
import { fenced, page, pages, updating } from '../support/readme.ts';
import { KEY, type Running, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { dialogue, lastingLines } from '../support/terminal.ts';
import { drawPicture } from '../support/terminal-picture.ts';
import { wavOf } from '../support/text-audio.ts';
import { hasSherpa, writeTinyVoice } from '../support/tiny-voice.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { ESPEAK_DATA, largeFiles, standIn } from '../support/voices.ts';

// What the examples name and nobody has: real ones on this machine stand in for them.
const SERVICE = 'https://tts.example.com/api';
const PROXY = 'http://proxy.example.com:3128';
const ENGINE = 'http://127.0.0.1:8880/v1';
const OWN_SERVICE = 'http://127.0.0.1:8787';

/** How blocks of a language are run. */
const PROGRAMS = { python: 'python3', js: 'node', make: 'make -f' };

/** What the reader of an example brings along. */
const BROUGHT = {
  python: `
def model(prompt):
    yield from ["Well. ", "Once ", "there ", "was ", "a ", "fox. "]


def user_speaks(answers=iter([False, False, True])):
    speaks = next(answers, False)
    if speaks:
        next(voice.events)  # It listens for signals when it has queued something.
    return speaks

`,
};

interface Example {
  readonly path: string;
  readonly block: string;
}

const seen = new Set<string>();

/** Each example once, however many pages have it. `npm ci` and what follows it is what .ci/run does. */
const examples: readonly Example[] = pages.flatMap((path) =>
  fenced('sh', page(path))
    .map((block) => block.replace(/^npm ci && npx /, ''))
    .map((block) => ({ path, block: block.split('\n').filter(isNew).join('\n') }))
    .filter(({ block }) => block.trim() !== ''),
);

/** Lines that need no other line are left out where they come again. */
function isNew(line: string): boolean {
  const command = line.replace(/ +#.*/, '');
  const isAgain = /^(?:tts (?:-f|-s cori|voices)|curl|llm)\b/.test(command) && seen.has(command);
  seen.add(command);
  return !isAgain && !command.startsWith('npm ');
}

const daemons = examples.filter(({ block }) => /^tts serve/m.test(block));
const clients = examples.filter(({ block }) => block.includes(OWN_SERVICE));
const ending = examples.filter((example) => !daemons.includes(example) && !clients.includes(example));

describe('the examples', () => {
  // A page has one machine and one service for all of its examples.
  it.for(pages.filter((path) => ending.some((example) => example.path === path)))(
    'of %s run as they stand',
    { timeout: 120_000 },
    async (path) => {
      const blocks = ending.filter((example) => example.path === path).map(({ block }) => block);
      const equipment = await equip(blocks.join(''));
      for (const block of blocks) if (canRun(block)) await expectRuns(block, equipment);
    },
  );

  it.for(ending.filter(({ path, block }) => path === 'README.md' && /-o hello|tts batch/.test(block)))(
    'of the README fail if the service fails in the middle, and leave nothing that looks complete: $block',
    async ({ block }) => {
      const { box } = await equip('');
      const whole = wavOf('spoken by the service, which breaks off in the middle of each sentence');
      const service = await serveBytes(complete(whole.subarray(0, whole.length / 2)));
      const env = {
        TTS_BASE_URL: `${service.url}/api`,
        TTS_SPEAKER: '181',
        TTS_API_KEY: KEY,
        TTS_RETRIES: '0',
      };
      const script = block.replaceAll(SERVICE, `${service.url}/api`);
      const run = await box.shell(`set -euo pipefail\n${script}`, { env });
      expect(run.status).not.toBe(0);
      expect(box.list().filter((name) => /\.(?:wav|mp3|srt)$/.test(name))).toEqual([]);
      expect(service.requests).not.toEqual([]);
    },
  );

  it('of a request is the body that the command next to it sends', async () => {
    const text = page('docs/service.md');
    const [body = ''] = fenced('json', text);
    const [above = ''] = text.split('```json');
    const command = Array.from(above.matchAll(/`(tts [^`\n]*)`/g), ([, line]) => line).findLast((line) =>
      line?.includes('-s 181'),
    );
    const service = await serveBytes(complete(wavOf('spoken by the service')));
    const run = await new Sandbox().shell(`${command} --base-url ${service.url} -o out.wav`, {
      env: { TTS_API_KEY: KEY },
    });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(service.requests.map(({ json }) => json)).toEqual([JSON.parse(body)]);
  });

  it('of config files do what they say', async () => {
    const [config = ''] = fenced('yaml', page('docs/configuration.md'));
    const service = await serveBytes(complete(wavOf('spoken by the service')));
    const box = new Sandbox();
    writeUserConfig(box, config.replace(SERVICE, service.url), { name: 'config.yaml' });
    for (const args of ['hi', 'hi -s grandpa'])
      expect(await box.run(`${args} -o out.wav`, { env: { TTS_API_KEY: KEY } })).toMatchObject({
        status: 0,
      });
    expect(service.requests.map(({ json }) => json)).toEqual([
      { text: 'hi', speaker_no: 181 },
      { text: 'hi', speaker_no: 7, config: { instructions: 'slow and warm' } },
    ]);
  });

  it.for(daemons)(
    'that serve do so for those that need a service, until they are ended: $path',
    async (daemon) => {
      const { run, url } = await startDaemon(daemon.block);
      const box = new Sandbox();
      const mayAsk = isThere('curl') && isThere('python3');
      for (const { block } of clients.filter(({ path }) => path === daemon.path))
        if (mayAsk || !/^curl/m.test(block)) {
          const script = `set -euo pipefail\n${block.replaceAll(OWN_SERVICE, url)}`;
          expect(await box.shell(script)).toMatchObject({ status: 0, stderr: '' });
          expectFiles(box, block);
        }
      expect((await run.endBy('SIGTERM')).ended.status).toBe(0);
    },
  );

  it
    .runIf(process.platform === 'linux' && isThere('script'))
    .each(pages.flatMap((path) => fenced('console', page(path))))(
    'on a terminal say what is shown below them: %s',
    async (block) => {
      const { box } = await equip(block);
      box.file('novel.epub', novel({ chapters: 3, sentences: 400 }));
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

  it.for(
    pages.flatMap((path) =>
      Object.entries(PROGRAMS)
        .map(([language, command]) => ({ path, language, command, blocks: fenced(language, page(path)) }))
        .filter(({ blocks }) => blocks.length > 0),
    ),
  )(
    'in $language of $path run as they stand, one after the other',
    async ({ language, command, blocks }, { skip }) => {
      skip(!isThere(command.split(' ')[0] ?? ''), `${command} is not there`);
      const program = blocks.join('\n');
      const { box } = await equip(program);
      box.file('example.mjs', language === 'python' ? `${BROUGHT.python}${program}` : program);
      const run = await box.shell(`${command} example.mjs`, { patience: 110_000 });
      expect(run, run.stderr).toMatchObject({ status: 0 });
      expectFiles(box, program.replace(/^.*%.*$/gm, ''));
    },
  );

  it('for cron, and the steps of workflows, run as they stand', async () => {
    const text = page('docs/recipes.md');
    const [table = ''] = fenced('cron', text);
    const jobs = Array.from(table.matchAll(/^[\d*]\S*(?: +\S+){4} +(.*)$/gm), ([, line = '']) => line);
    const steps = Array.from(text.matchAll(/^ +- run: (tts .*)$/gm), ([, line = '']) => line);
    expect([jobs.length, steps.length]).toEqual([2, 2]);
    const { box } = await equip('');
    // cron takes \% for a percent sign.
    for (const line of [...jobs.map((job) => job.replaceAll('\\%', '%')), ...steps])
      expect(await box.shell(line), line).toMatchObject({ status: 0 });
    expect(box.list()).toContain('prompts.html');
    expect(box.list()).toContainEqual(expect.stringMatching(/^morning-[\d-]+\.mp3$/));
  });
});

describe('the picture of the README', () => {
  it.runIf(updating)('is drawn from a real run', { timeout: 120_000 }, async () => {
    const { box } = await equip('');
    box.file('novel.epub', novel({ chapters: 14, sentences: 40 }));
    const cori = catalogue.voices.find(({ name }) => name === 'cori');
    if (!cori) throw new Error('the catalogue has no cori');
    const { language, speakers, sampleRate, licence } = cori;
    const said = { name: 'cori', language, speakers, sampleRate, licence };
    const bytes = cori.files.reduce((sum, { size }) => sum + size, 0);
    const files = largeFiles(bytes, sampleRate);
    const { env } = await standIn(box, said, { repo: catalogue.repositories.piper.repo, files });
    const picture = await drawPicture(box, { ...env, ...withoutRuntime(box) });
    for (const words of ['speech runtime', '22.05 kHz', '22050 Hz', 'novel.m4b'])
      expect(picture).toContain(words);
    expect(picture).not.toContain(box.home);
    writeFileSync('docs/picture.svg', picture);
  });
});

/** Replaces the program by a copy that finds no runtime beside it, and npm by one that needs no network. */
function withoutRuntime(box: Sandbox): Record<string, string> {
  const copy = emptyFolder();
  const bundled = manifest.bundleDependencies.map((name) => join('node_modules', name));
  for (const part of ['bin', 'dist', 'package.json', ...bundled])
    cpSync(part, join(copy, part), { recursive: true });
  const tts = `#!/bin/sh\nexec '${process.execPath}' '${join(copy, 'bin', 'tts.cjs')}' "$@"\n`;
  writeFileSync(join(box.commands, 'tts'), tts);
  const from = JSON.stringify(resolve('node_modules'));
  const npm = `const { cpSync, readdirSync } = require('node:fs');
for (const name of readdirSync(${from}).filter((name) => name.startsWith('sherpa-onnx-')))
  cpSync(${from} + '/' + name, 'node_modules/' + name, { recursive: true });
`;
  return { npm_execpath: box.file('npm-cli.cjs', npm) };
}

function canRun(block: string): boolean {
  const commands = block.replace(/#.*/g, '');
  const lacksFfmpeg = /\.m4b|ffmpeg/.test(commands) && !isThere('ffmpeg');
  const lacksEspeak = /\bGerman\b/.test(commands) && !isThere('espeak-ng');
  const lacksPhonemes = /install inflect/.test(commands) && !ESPEAK_DATA;
  const lacksGrep = /\bgrep /.test(commands) && !isThere('grep');
  return (
    !lacksFfmpeg && !lacksEspeak && !lacksPhonemes && !lacksGrep && !(needsSherpa(block) && !hasSherpa())
  );
}

function needsSherpa(block: string): boolean {
  return /voices install|~\/voices/.test(block);
}

interface Equipment {
  readonly box: Sandbox;
  readonly service: Awaited<ReturnType<typeof serveBytes>>;
  readonly proxy: Awaited<ReturnType<typeof startProxy>>;
  readonly engine: string;
  readonly env: Readonly<Record<string, string>>;
}

async function expectRuns(block: string, { box, service, proxy, engine, env }: Equipment): Promise<void> {
  const [before, proxied] = [service.requests.length, proxy.asked.length];
  const script = block
    .replaceAll(SERVICE, `${service.url}/api`)
    .replaceAll(PROXY, proxy.url)
    .replaceAll(ENGINE, engine);
  const { status, stderr } = await box.shell(`set -euo pipefail\n${script}`, { env, patience: 110_000 });
  const said = /voices install/.test(block) ? '' : lessNotes(stderr);
  expect({ block, status, said }, stderr).toEqual({ block, status: 0, said: '' });
  expectFiles(box, block);
  if (/aplay|--play/.test(block)) wholeOrPiped(box.read('heard'));
  expect(proxy.asked.length > proxied).toBe(block.includes(PROXY));
  const requests = service.requests.slice(before);
  if (!block.includes(SERVICE)) return expect(requests).toEqual([]);
  for (const { path } of requests) expect(path).toMatch(/\/api\/tts$/);
  expect(requests.map((request) => request.header('x-api-key'))).toContain(KEY);
  return expect(requests.at(-1)?.json).toMatchObject({ speaker_no: 181 });
}

/** Runs an example that serves, on a free port. */
async function startDaemon(block: string): Promise<{ run: Running; url: string }> {
  const line = block.replace(/ --port \d+/, '').replace(/^tts serve/m, 'exec tts serve --port 0');
  const run = new Sandbox().startShell(line, { patience: 110_000 });
  const url = await new Promise<string>((resolve, reject) => {
    run.child.stderr?.on('data', (bytes) => {
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(`${bytes}`) ?? [];
      if (address) resolve(address);
    });
    run.ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  return { run, url };
}

/** A machine with the files and programs that the examples name, silent loudspeakers, and services that stand in. */
async function equip(blocks: string): Promise<Equipment> {
  const box = new Sandbox();
  const sentence = (number: number) => `Nobody saw ship ${number} leave.`;
  box.file('book.txt', Array.from({ length: 2 }, (_, index) => `${sentence(index + 1)}\n\n`).join(''));
  box.file('readme.md', '# A title\n\nThe *gif* is [here](https://example.com).\n\n- one\n- two\n');
  box.file('novel.epub', novel());
  box.file('prompts.csv', 'id,text\nwelcome,Welcome to our office.\n');
  box.file('names.txt', 'gif = jif\n');
  if (blocks.includes('film.')) makeFilm(box);
  program(box, 'llm', 'echo "Once upon a time a machine learned to speak. It never stopped."');
  program(box, 'pass', `echo ${KEY}`);
  program(box, 'curl', 'echo "<html><body><main><p>An article.</p></main></body></html>"');
  for (const player of ['pw-play', 'aplay']) program(box, player, `exec cat >'${box.path('heard')}'`);
  const service = await serveBytes(complete(wavOf('spoken by the service')));
  const proxy = await startProxy();
  const speech = blocks.includes(ENGINE)
    ? await serveSpeech(complete(wavOf('spoken by the engine')), { voices: ['af_heart'] })
    : undefined;
  const env = blocks.includes('voices install')
    ? (await standIn(box, { name: 'cori', language: 'en-GB', speakers: 1 })).env
    : {};
  if (existsSync(box.path('catalogue.json')))
    box.file(
      'catalogue.json',
      box.read('catalogue.json').toString().replace('"name":"ina"', '"name":"inflect"'),
    );
  if (blocks.includes('--engine')) equipEngines(box, speech?.url ?? ENGINE);
  return { box, service, proxy, engine: speech?.url ?? ENGINE, env };
}

function equipEngines(box: Sandbox, server: string): void {
  const config = fenced('yaml', page('docs/voices.md')).find((block) => block.startsWith('engines:')) ?? '';
  writeUserConfig(box, config.replace(ENGINE, server), { name: 'config.yaml' });
  program(box, 'piper', 'cat >/dev/null; head -c 44100 /dev/zero');
  if (hasSherpa()) writeTinyVoice(join(box.home, 'voices', 'vits-piper-en_GB-cori-medium'));
}

/** A film of four seconds, where there is ffmpeg, and its subtitles. */
function makeFilm(box: Sandbox): void {
  box.file('film.srt', '1\n00:00:01,000 --> 00:00:03,000\nHello there.\n');
  box.file('film.vtt', 'WEBVTT\n\n00:01.000 --> 00:03.000\n<v Anna>Hello there.\n');
  const picture = ['-f', 'lavfi', '-i', 'color=black:size=64x36:rate=5:duration=4'];
  const music = ['-f', 'lavfi', '-i', 'sine=220:duration=4', '-shortest', box.path('film.mp4')];
  spawnSync('ffmpeg', ['-v', 'error', ...picture, ...music]);
}

function novel({ chapters = 4, sentences = 1 } = {}): Buffer {
  const nights = Array.from({ length: chapters }, (_, index) => index + 1);
  const text = (night: number) =>
    Array.from({ length: sentences }, (_, index) => `<p>In night ${night}, ship ${index + 1} left.</p>`);
  const documents = Object.fromEntries(
    nights.map((night) => [`${night}.xhtml`, `<h1>Night ${night}</h1>${text(night).join('')}`]),
  );
  const nav = nights.map((night) => `<li><a href="${night}.xhtml">Night ${night}</a></li>`).join('');
  return epubOf({ documents, nav });
}

function program(box: Sandbox, name: string, line: string): void {
  const path = join(box.commands, name);
  writeFileSync(path, `#!/bin/sh\n${line}\n`);
  chmodSync(path, 0o755);
}

/** Every file that an example names is there afterwards, and every WAV is whole. */
function expectFiles(box: Sandbox, block: string): void {
  const made = block.replace(/#.*/g, '').replace(/^.*--dry-run.*$/gm, '');
  const named = Array.from(
    made.matchAll(/(?<![$\w/}*])[\w-]+\.(?:wav|mp[34]|m4b|srt|txt)/g),
    ([name]) => name,
  );
  expect(named.filter((name) => !existsSync(box.path(name)))).toEqual([]);
  for (const sound of box.list().filter((name) => name.endsWith('.wav')))
    expect(wholePcm(box.read(sound)).length).toBeGreaterThan(0);
}

function wholeOrPiped(heard: Buffer): void {
  expect(heard.toString('latin1', 0, 4)).toBe('RIFF');
  expect(heard.length).toBeGreaterThan(10_000);
}

// What is said of runs that went well; anything else would surprise the reader of an example.
const NOTES = [
  'the chapters are those of the table of contents',
  'the built-in English voice speaks',
  'the key for \\S+ is stored in ',
  'to speak with it: --base-url ',
  '4 chapters: ',
  'nothing is speaking here',
  'nothing is paused here',
];

function lessNotes(stderr: string): string {
  return stderr.replace(new RegExp(`^tts: (${NOTES.join('|')}).*\\n`, 'gm'), '');
}

/** Lines with the time that a run took left out. */
function timeless(lines: readonly string[]): string[] {
  return lines.map((line) => line.replace(/ in [\d.]+ s$/, ' in … s'));
}
