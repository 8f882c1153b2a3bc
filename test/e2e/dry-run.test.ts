import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, statSync, utimesSync } from 'node:fs';
import { userInfo } from 'node:os';
import { expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { serveBytes } from '../support/byte-server.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { answer } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';

const TEXT = 'The first sentence. The second one.\n\nA paragraph of its own.\n';
const SOUND = { sampleRate: 8000, framesPerByte: 100 };

test('With --json a run that wrote a file tells on stdout what it came to.', async () => {
  const server = await serveText(SOUND);
  const sandbox = new Sandbox();
  const run = await sandbox.run(['--json', '--max-chars', '40', '-o', 'out.wav', TEXT], {
    env: named(server.url),
  });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  const { seconds, secondsToFirstAudio, ...told } = JSON.parse(run.stdout.toString());
  const bytes = sandbox.read('out.wav').length;
  expect(told).toEqual({
    output: 'out.wav',
    format: { sampleRate: 8000, channels: 1, bitsPerSample: 16, encoding: 'integer' },
    duration: (bytes - 44) / 16_000,
    bytes,
    ...{ characters: 58, segments: 2, fromCache: 0, requests: 2, retries: 0 },
  });
  expect(seconds).toBeGreaterThan(0);
  expect(secondsToFirstAudio).toBeLessThanOrEqual(seconds);
});

const DIALOGUE = [
  '"Yes," said Tom.',
  '"No! I won\'t go."',
  '"Why not?"',
  '"Because it is late."',
  'Ann laughed.',
];
const ITEMS = [
  'Two cups of flour',
  'One egg',
  'A pinch of salt',
  'Lamp oil, 3 litres',
  'Call the harbour at 9:30',
];
const VERSE = 'April is the cruellest month, breeding Lilacs out of the dead land, mixing Memory and desire.';

test.each([
  ['a dialogue', 'x.txt', DIALOGUE.join('\n\n'), []],
  ['chapters', 'x.md', ITEMS.map((item) => `# ${item}\n\n${VERSE}\n\n`).join(''), ['--chapters', '1-5']],
])('A dry run tells the length of %s within 10 %.', async (_, name, text, more) => {
  const box = new Sandbox();
  box.file(name, text);
  const lengthOf = async (args: readonly string[]) => {
    const { stdout } = await box.run(['-f', name, '--json', ...more, ...args]);
    return JSON.parse(stdout.toString()).duration as number;
  };
  const told = await lengthOf(['--dry-run']);
  const made = await lengthOf(['-o', 'out.wav']);
  expect(told / made).toBeGreaterThan(0.9);
  expect(told / made).toBeLessThan(1.1);
});

test('With --json what a dry run warns of is part of what it tells.', async () => {
  const env = named('http://127.0.0.1:9', { TTS_CACHE: '1', TTS_CACHE_DIR: '/dev/null' });
  const { stdout, stderr } = await new Sandbox().run(['hi', '--dry-run', '--json'], { env });
  expect(stderr).toBe('');
  const warnings = [expect.stringContaining('segments are not kept in /dev/null')];
  expect(JSON.parse(stdout.toString())).toMatchObject({ dryRun: true, warnings });
});

test('That segments are not kept is told also where the run fails, unless for its output.', async () => {
  const env = named('http://127.0.0.1:9', { TTS_CACHE: '1', TTS_CACHE_DIR: '/dev/null', TTS_RETRIES: '0' });
  const { status, stderr } = await new Sandbox().run(['hi', '-o', 'out.wav'], { env });
  expect(status).toBe(6);
  expect(stderr).toMatch(/^tts: warning: segments are not kept .*\ntts: nothing listens .*\nhint: .*\n$/);
});

test('With --json a run that wrote to stdout tells it on stderr.', async () => {
  const server = await serveText({ ...SOUND, fault: (number) => (number === 1 ? '500' : undefined) });
  const run = await new Sandbox().run(['--json', '-v', TEXT], {
    env: named(server.url, { TTS_RETRIES: '1' }),
  });
  expect(run.status).toBe(0);
  const told = JSON.parse(run.stderr.trimEnd().split('\n').at(-1) ?? '');
  expect(told).toMatchObject({ output: '-', bytes: run.stdout.length, requests: 4, retries: 1 });
});

test.each([
  ['alone is told on stdout, which is free', [], null],
  ['and a file got is told there', ['-o', 'out.wav'], 'out.wav'],
])('With --json a run that a player heard %s.', async (_, where, output) => {
  const server = await serveText(SOUND);
  const sandbox = new Sandbox();
  const player = fakePlayer(sandbox, 'plays');
  const args = ['--json', '--play', '--player', player.command, ...where, TEXT];
  const run = await sandbox.run(args, { env: named(server.url) });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(run.stdout.toString())).toMatchObject({
    output,
    played: true,
    bytes: player.heard().length,
  });
});

test.each([
  ['a file', ['-o', 'out.wav']],
  ['stdout', []],
])(
  'With --json and a callback URL, what was sent is told, and that no audio came to %s.',
  async (_, where) => {
    const server = await serveBytes(answer(202));
    const args = ['--json', ...where, '--callback-url', 'https://example.com/done', TEXT];
    const run = await new Sandbox().run(args, { env: named(server.url) });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(run.stdout.toString())).toMatchObject({
      ...{ output: null, callbackUrl: 'https://example.com/done', format: null, bytes: 0 },
      ...{ characters: Array.from(TEXT.trim()).length, segments: 1, requests: 1 },
    });
  },
);

test('With --json and a callback URL, a stdout that is named stays for audio.', async () => {
  const server = await serveBytes(answer(202));
  const args = ['--json', '-o', '-', '--callback-url', 'https://example.com/done', TEXT];
  const run = await new Sandbox().run(args, { env: named(server.url) });
  expect({ status: run.status, stdout: run.stdout.toString() }).toEqual({ status: 0, stdout: '' });
  expect(JSON.parse(run.stderr)).toMatchObject({ output: null, requests: 1 });
});

test('A dry run sends nothing, and tells the same segments and requests as the run itself.', async () => {
  const server = await serveText(SOUND);
  const sandbox = new Sandbox();
  sandbox.file('.ttsrc.json', '{"pricePer1000Chars":0.5,"currency":"EUR"}');
  const args = ['--json', '--max-chars', '40', '-o', 'out.wav', TEXT];
  const env = named(server.url, { TTS_CACHE: '1' });
  const asked = await sandbox.run(['--dry-run', '-v', ...args], { env });
  expect({ status: asked.status, requests: server.requests }).toEqual({ status: 0, requests: 0 });
  expect(sandbox.list()).toEqual(['.ttsrc.json']);
  const dry = JSON.parse(asked.stdout.toString());
  expect(dry).toMatchObject({
    characters: 58,
    charactersToSend: 58,
    segments: 2,
    requests: 2,
    inCache: 0,
    price: 0.029,
    currency: 'EUR',
  });
  expect(dry.bodies[0]).toEqual({ text: 'The first sentence. The second one.', speaker_no: 7 });

  const spoken = JSON.parse((await sandbox.run(args, { env })).stdout.toString());
  const { characters, segments, requests } = dry;
  expect(spoken).toMatchObject({ characters, segments, requests });
  const again = await sandbox.run(['--dry-run', ...args.slice(1)], { env });
  expect(again.stdout.toString()).toBe(
    'characters  58\nto send     0\nsegments    2\nin cache    2\nrequests    0\nlength      1.0 s\nprice       0.00 EUR\n',
  );
  const { duration } = spoken;
  const told = await sandbox.run(['--dry-run', ...args], { env });
  expect(JSON.parse(told.stdout.toString()).duration).toBeCloseTo(duration, 1);
});

test('A dry run needs no key, and tells a price in one form, which is nothing for voices of this machine.', async () => {
  const box = new Sandbox();
  box.file('.ttsrc.json', '{"baseUrl":"http://127.0.0.1:9","pricePer1000Chars":20.5,"speaker":7}');
  const args = ['-o', 'out.wav', '--dry-run', TEXT];
  const paid = await box.run(args);
  expect({ status: paid.status, stderr: paid.stderr }).toEqual({ status: 0, stderr: '' });
  expect(paid.stdout.toString()).toMatch(/\nlength {6}about 5\.\d s\nprice {7}1\.23\n$/);
  box.file('.ttsrc.json', '{"pricePer1000Chars":20.5,"currency":"EUR"}');
  expect((await box.run(args)).stdout.toString()).toMatch(/\nprice {7}0\.00 EUR\n$/);
  const server = await serveSpeech(answer(500, 'no'));
  const own = await box.run([...args, '--json', '--engine', server.url]);
  expect(JSON.parse(own.stdout.toString())).toMatchObject({ charactersToSend: 60, price: 0 });
});

test('A dry run counts a text that comes twice as one request where segments are kept, as the run itself does.', async () => {
  const server = await serveText(SOUND);
  const box = new Sandbox();
  const args = ['--json', '-o', 'out.wav', '--max-chars', '12', 'Once more.\n\nAnd now.\n\nOnce more.'];
  for (const [TTS_CACHE, requests] of [
    ['0', 3],
    ['1', 2],
  ] as const) {
    const env = named(server.url, { TTS_CACHE });
    const [dry, run] = [await box.run(['--dry-run', ...args], { env }), await box.run(args, { env })];
    expect(JSON.parse(dry.stdout.toString())).toMatchObject({ segments: 3, requests, inCache: 3 - requests });
    expect(JSON.parse(run.stdout.toString())).toMatchObject({ segments: 3, requests });
  }
});

test.each([
  ['reads stdin', 'cat'],
  ['takes a file', 'true {}'],
])('A dry run tells the segments that are played by a player that %s.', async (_, player) => {
  const server = await serveText(SOUND);
  const box = new Sandbox();
  box.file('text.txt', 'A sentence of some length, which is one of many. '.repeat(40));
  const env = named(server.url);
  const args = ['--json', '--play', '--player', player, '-f', 'text.txt'];
  const runs = [await box.run(['--dry-run', ...args], { env }), await box.run(args, { env })];
  const [dry, played] = runs.map(({ stdout }) => JSON.parse(stdout.toString()).segments);
  expect(dry).toBe(played);
  const toFile = await box.run(['--dry-run', '--json', '-f', 'text.txt', '-o', 'out.wav'], { env });
  expect(dry > JSON.parse(toFile.stdout.toString()).segments).toBe(player === 'cat');
});

test('A dry run into a pipe with a name tells the segments that a run into it sends, and opens nothing.', async () => {
  const server = await serveText(SOUND);
  const sandbox = new Sandbox();
  sandbox.file('text.txt', 'A sentence of some length, which is one of many. '.repeat(40));
  execFileSync('mkfifo', [sandbox.path('fifo')]);
  const env = named(server.url);
  const args = ['--json', '-f', 'text.txt', '-o'];
  const dry = await sandbox.run(['--dry-run', ...args, 'fifo'], { env });
  const toFile = await sandbox.run(['--dry-run', ...args, 'out.wav'], { env });
  const spoken = await sandbox.shell(`cat fifo > heard.wav & tts ${args.join(' ')} fifo; wait`, { env });
  const [inDry, inFile, inRun] = [dry, toFile, spoken].map(({ stdout }) => JSON.parse(`${stdout}`).segments);
  expect(inDry).toBe(inRun);
  expect(inDry).toBeGreaterThan(inFile);
});

test.runIf(isThere('setsid')).each([
  [
    'of the sound in a folder that is missing',
    ['-o', 'missing/out.wav'],
    /missing\/out\.wav: the folder does not/,
  ],
  ['of the sound below a file', ['-o', 'here.wav/out.wav'], /not a folder/],
  ['of the sound that is to be kept', ['-o', 'here.wav', '--no-clobber'], /here\.wav exists/],
  ['that is a device', ['-o', '/dev/tty'], /\/dev\/tty/],
  ['of the subtitles in a folder that is missing', ['--subtitles', 'missing/out.srt'], /folder does not/],
])('A dry run finds the output wrong as the run itself would: a file %s.', async (_, args, message) => {
  const server = await serveText(SOUND);
  const sandbox = new Sandbox();
  sandbox.file('here.wav', 'old');
  const env = named(server.url);
  // No terminal may be in reach.
  const runOf = (...more: string[]) =>
    args.includes('/dev/tty')
      ? sandbox.shell(['setsid', '-w', 'tts', 'hi', ...args, ...more].join(' '), { env })
      : sandbox.run(['hi', ...args, ...more], { env });
  const [dry, run] = [await runOf('--dry-run'), await runOf()];
  expectFailure(dry, 8, message);
  expect(dry).toEqual(run);
  expect({ requests: server.requests, files: sandbox.list() }).toEqual({ requests: 0, files: ['here.wav'] });
});

test.runIf(userInfo().uid === 0)(
  'A dry run of who may not write finds that out, and leaves everything as it was.',
  async () => {
    const sandbox = new Sandbox();
    const run = (...args: string[]) => sandbox.run(['hi', '--dry-run', ...args], { uid: 65_534 });
    expectFailure(await run('-o', 'out.wav'), 8, /out\.wav: it is not allowed/);
    expectFailure(await run('--subtitles', 'out.srt'), 8, /out\.srt: it is not allowed/);
    const mine = sandbox.path('mine');
    mkdirSync(mine);
    chownSync(mine, 65_534, 65_534);
    utimesSync(mine, 1, 1);
    expect(await run('-o', 'mine/out.wav', '--subtitles', 'mine/out.srt')).toMatchObject({ status: 0 });
    expect(statSync(mine).mtimeMs).toBe(1000);
  },
);

test('A dry run starts no service of its own, and has nothing to tell of a blank text.', async () => {
  const run = await new Sandbox().run(['--dry-run', 'hello']);
  expect(run.stderr).toBe('');
  expect(run.stdout.toString()).toBe(
    'characters  5\nto send     5\nsegments    1\nin cache    0\nrequests    1\nlength      about 0.9 s\n',
  );
  expectFailure(await new Sandbox().run(['--dry-run', ' ']), 2, /nothing to say/);
});
