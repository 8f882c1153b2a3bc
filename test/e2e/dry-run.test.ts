import { expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { answer } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
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

test.each([[''], ['-o out.wav']])(
  'With --json a run that a player heard is told on stdout: %s',
  async (where) => {
    const server = await serveText(SOUND);
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays');
    const args = ['--json', '--player', player.command, ...where.split(' ').filter(Boolean), TEXT];
    const run = await box.run(args, { env: named(server.url) });
    expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
    const output = where === '' ? null : 'out.wav';
    expect(JSON.parse(run.stdout.toString())).toMatchObject({
      output,
      played: true,
      bytes: player.heard().length,
    });
  },
);

test('With --json and a callback URL, what was sent is told, and that no audio came.', async () => {
  const { run } = await machineWith(answer(202));
  const { status, stdout } = await run(['--json', '--callback-url', 'https://example.com/done', TEXT]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout.toString())).toMatchObject({
    ...{ output: null, callbackUrl: 'https://example.com/done', format: null, bytes: 0 },
    ...{ characters: Array.from(TEXT.trim()).length, segments: 1, requests: 1 },
  });
  const piped = await run(['--json', '-o', '-', '--callback-url', 'https://example.com/done', TEXT]);
  expect([piped.stdout.toString(), JSON.parse(piped.stderr)]).toMatchObject([
    '',
    { output: null, requests: 1 },
  ]);
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
  ['in a folder that is missing', '-o missing/out.wav', /missing\/out\.wav: the folder does not/],
  ['of subtitles in a folder that is missing', '--subtitles missing/out.srt', /folder does not/],
])('A dry run finds the output wrong as the run itself would: a file %s.', async (_, args, message) => {
  const server = await serveText(SOUND);
  const box = new Sandbox();
  box.file('here.wav', 'old');
  const runOf = (more: string) => box.run(`hi ${args} ${more}`, { env: named(server.url) });
  const [dry, run] = [await runOf('--dry-run'), await runOf('')];
  expectFailure(dry, 8, message);
  expect(dry).toEqual(run);
  expect({ requests: server.requests, files: box.list() }).toEqual({ requests: 0, files: ['here.wav'] });
});

test('A dry run starts no service of its own, and has nothing to tell of a blank text.', async () => {
  const run = await new Sandbox().run('--dry-run hello');
  expect(run.stderr).toBe('');
  expect(run.stdout.toString()).toBe(
    'characters  5\nto send     5\nsegments    1\nin cache    0\nrequests    1\nlength      about 0.9 s\n',
  );
  expectFailure(await new Sandbox().run(['--dry-run', ' ']), 2, /nothing to say/);
});
