import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { startMcp } from '../support/mcp.ts';
import { isAlive } from '../support/programs.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';

const LONG = 'This is one sentence of a long text. ';
/** Minutes of sound. */
const FOREVER = LONG.repeat(200);

/** A player that notes when another one plays at the same time. */
function lonelyPlayer(box: Sandbox): string {
  const script = `mkdir alone 2>/dev/null || echo overlap >> overlaps; cat > /dev/null; echo played >> played; rmdir alone`;
  box.file('lonely.sh', script);
  return 'sh lonely.sh';
}

const linesIn = (box: Sandbox, name: string) =>
  box.list().includes(name) ? box.read(name).toString().split('\n').length - 1 : 0;

test('An agent finds four tools, speaks what a model writes without what nobody wants to hear, and lists voices.', async () => {
  const server = await serveText();
  const box = new Sandbox();
  const { command } = fakePlayer(box, 'plays');
  const session = await startMcp(box, ['--player', command], named(server.url));
  const { tools } = await session.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['speak', 'stop', 'voices', 'save']);
  const text = '<think>Hm.</think>Hello **there**. 😊 [pause:2s]\n\n```js\nrun();\n```\n';
  expect(await session.call('speak', { text, wait: true })).toMatchObject({
    isError: false,
    data: { id: 1, heard: true },
  });
  expect(server.texts.join(' ')).toMatch(/^Hello there\. \[pause:2s\] \S*code/i);
  expect(await session.call('speak', { text: '😊', wait: true })).toMatchObject({
    data: { id: 2, heard: false },
  });
  const here = await startMcp(box);
  const { said, data } = await here.call('voices', { language: 'English' });
  expect(said).toMatch(/^en-US: rms \(1\), slt \(2\)/m);
  expect(data.voices).toContainEqual(expect.objectContaining({ name: 'awb', no: 3, language: 'en-GB' }));
  expect(await here.call('voices', { language: 'Klingon' })).toMatchObject({ isError: true });
});

test('Texts are spoken one after the other; stop ends one or all of them, and tts stop does not end the session.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isInTime');
  const { call } = await startMcp(box, ['--player', player.command, '--channel', 'desk']);
  expect((await call('speak', { text: FOREVER })).said).toBe('Speech 1 begins.');
  expect((await call('speak', { text: 'Second.' })).said).toBe('Speech 2 waits behind 1 other.');
  const third = call('speak', { text: 'Third.', wait: true });
  const first = await player.running();
  expect((await call('stop', { id: 2 })).data).toEqual({ stopped: 1 });
  expect((await call('stop', { id: 2 })).said).toBe('Speech 2 is already over.');
  expect(isAlive(first)).toBe(true);
  expect((await box.run('stop --channel desk')).status).toBe(0);
  expect(await third).toMatchObject({ data: { id: 3, heard: true } });
  await call('speak', { text: FOREVER });
  const waiting = call('speak', { text: 'Fifth.', wait: true });
  expect((await call('stop', {})).data).toEqual({ stopped: 2 });
  expect(await waiting).toMatchObject({ isError: true, said: 'speech 5 was stopped.' });
  expect((await call('stop', {})).said).toBe('Nothing speaks.');
  expect(await call('stop', { id: 99 })).toMatchObject({
    isError: true,
    said: expect.stringContaining('Hint:'),
  });
});

test('Two sessions never speak at the same time.', async () => {
  const box = new Sandbox();
  const player = lonelyPlayer(box);
  const sessions = await Promise.all([
    startMcp(box, ['--player', player]),
    startMcp(box, ['--player', player]),
  ]);
  const texts = ['One.', 'Two.', 'Three.'];
  const answers = await Promise.all(
    sessions.flatMap(({ call }) => texts.map((text) => call('speak', { text, wait: true }))),
  );
  expect(answers.map(({ data }) => data.heard)).toEqual(Array(6).fill(true));
  expect({ played: linesIn(box, 'played'), overlaps: linesIn(box, 'overlaps') }).toEqual({
    played: 6,
    overlaps: 0,
  });
});

test('A file is made inside the folder of the user and nowhere else, and replaced only where that is asked for.', async () => {
  const box = new Sandbox();
  mkdirSync(box.path('sounds/sub'), { recursive: true });
  mkdirSync(box.path('outside'));
  symlinkSync(box.path('outside'), box.path('sounds/link'));
  symlinkSync(box.path('outside/new.wav'), box.path('sounds/new.wav'));
  const { call } = await startMcp(box, ['--folder', 'sounds']);
  const saved = await call('save', { text: '# Hello\n\nthere', file: 'sub/a.mp3', voice: 2 });
  expect(saved).toMatchObject({ isError: false, data: { path: box.path('sounds/sub/a.mp3') } });
  const before = box.read('sounds/sub/a.mp3');
  const again = { text: 'Something else.', file: 'sub/a.mp3' };
  expect(await call('save', again)).toMatchObject({
    isError: true,
    said: expect.stringMatching(/there already.*overwrite/),
  });
  expect(box.read('sounds/sub/a.mp3')).toEqual(before);
  expect(await call('save', { ...again, overwrite: true })).toMatchObject({ isError: false });
  expect(box.read('sounds/sub/a.mp3')).not.toEqual(before);
  const outside = [
    '../x.wav',
    'sub/../../x.wav',
    box.path('x.wav'),
    'link/x.wav',
    'new.wav',
    'sub',
    '.',
    '/dev/stdout',
    'a\u0007.wav',
    'a\0.wav',
    '-\n.wav',
  ];
  for (const file of [...outside, 'x.exe', 'none/x.wav', '', '.ttsrc', 'Makefile', 'sub/.bashrc']) {
    const { isError, said } = await call('save', { text: 'Hello.', file, overwrite: true });
    expect({ file, isError, said }).toEqual({ file, isError: true, said: expect.stringContaining('Hint: ') });
  }
  expect(box.list()).toEqual(['outside', 'sounds']);
  expect(readdirSync(box.path('sounds')).sort()).toEqual(['link', 'new.wav', 'sub']);
  const dash = await call('save', { text: 'Hello.', file: '--play.wav' });
  expect(dash.data.path ?? dash.said).toContain('--play.wav');
  const nowhere = await startMcp(box);
  expect((await nowhere.call('save', { text: 'Hello.', file: 'a.wav' })).said).toContain('tts mcp --folder');
});

test('A long file tells its progress, and a cancelled call leaves neither a file nor a speech.', async () => {
  const box = new Sandbox();
  mkdirSync(box.path('sounds'));
  const player = fakePlayer(box, 'isInTime');
  const { call } = await startMcp(box, ['--folder', 'sounds', '--player', player.command]);
  const progress: number[] = [];
  const text = LONG.repeat(12);
  const options = { onprogress: ({ progress: done = 0 }) => void progress.push(done) };
  await call('save', { text, file: 'short.wav' }, options);
  expect(progress.length).toBeGreaterThan(5);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  expect(progress.at(-1)).toBeLessThanOrEqual(text.length);
  expect(player.heard()).toHaveLength(0);
  const cancelling = new AbortController();
  const cancelled = call(
    'save',
    { text: FOREVER, file: 'long.wav' },
    {
      signal: cancelling.signal,
      onprogress: () => cancelling.abort('enough'),
    },
  );
  await expect(cancelled).rejects.toThrow(/enough/);
  const silencing = new AbortController();
  const heard = call('speak', { text: FOREVER, wait: true }, { signal: silencing.signal });
  const playing = await player.running();
  silencing.abort('silence');
  await expect(heard).rejects.toThrow(/silence/);
  await expect.poll(() => isAlive(playing)).toBe(false);
  await expect.poll(async () => (await box.shell('ls -A sounds')).stdout.toString()).toBe('short.wav\n');
  expect((await call('speak', { text: 'Next.', wait: true })).data.heard).toBe(true);
});

test('A dead player is told by the call that waits, and else by the next answer.', async () => {
  const box = new Sandbox();
  const { call, run } = await startMcp(box, ['--player', '/nowhere/player']);
  const failed = await call('speak', { text: 'Hello.', wait: true });
  expect(failed).toMatchObject({ isError: true, said: expect.stringMatching(/player.*Hint: /) });
  await call('speak', { text: 'Hello.' });
  await expect
    .poll(async () => (await call('stop', { id: 1 })).said)
    .toMatch(/^Speech 2 failed: .*player.*Hint: /m);
  run.stdin.end();
  expect(await run.ended).toMatchObject({ status: 0, stderr: expect.stringContaining('speech 2: ') });
});

test('Hostile texts and messages get sentences, and the session goes on.', async () => {
  const server = await serveText();
  const box = new Sandbox();
  mkdirSync(box.path('sounds'));
  const { command } = fakePlayer(box, 'plays');
  const args = ['--folder', 'sounds', '--player', command];
  const { call, run } = await startMcp(box, args, named(server.url));
  const huge = await call('speak', { text: 'A million. '.repeat(100_000) });
  expect(huge).toMatchObject({
    isError: true,
    said: expect.stringMatching(/1,100,000 characters.*100,000/),
  });
  const control =
    'A \u001b]0;title\u0007\u001b[31mred\u0000\u009b1m \ud800word\u202e ../../etc/passwd {"jsonrpc":"2.0"}\n$(id) `id`';
  expect(await call('speak', { text: control, wait: true })).toMatchObject({ isError: false });
  const sent = server.texts.join(' ');
  expect(sent.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(sent).toContain('../../etc/passwd {"jsonrpc":"2.0"}');
  const wrong = [
    {},
    { text: '' },
    { text: 7 },
    { text: ['x'] },
    { text: 'x', host: 'http://x' },
    { text: 'x', voice: {} },
  ];
  for (const args of [...wrong, { text: 'x', wait: 'yes' }])
    expect(await call('speak', args)).toMatchObject({
      isError: true,
      said: expect.stringContaining('Hint: '),
    });
  for (const voice of ['--player=x', '../x', 'http://127.0.0.1:1/', '$(id)'])
    expect(await call('speak', { text: 'x', voice, wait: true })).toMatchObject({ isError: true });
  expect(await call('rm', {})).toMatchObject({ isError: true });
  run.stdin.write('no JSON\n{"jsonrpc":"1.0"}\n[]\n\n{"jsonrpc":"2.0","id":77,"method":"nothing"}\n');
  expect((await call('speak', { text: 'Still here.', wait: true })).data.heard).toBe(true);
  run.stdin.write('x'.repeat(17 * 2 ** 20));
  const { status, stderr } = await run.ended;
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(/client sent.*\nhint: a message takes one line, and at most/),
  });
});

test('A session ends with its client, its speech too, and wrong options are told at the start.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isInTime');
  const ends = [(run: { stdin: { end(): void } }) => run.stdin.end(), undefined];
  for (const end of ends) {
    const { call, run } = await startMcp(box, ['--player', player.command]);
    await call('speak', { text: FOREVER });
    const playing = await player.running();
    if (end) end(run);
    else run.child.kill('SIGTERM');
    expect((await run.ended).status).toBe(0);
    await expect.poll(() => isAlive(playing)).toBe(false);
  }
  expectFailure(await box.run('mcp --folder nowhere'), 2, /--folder: nowhere is not a folder/);
  expectFailure(await box.run('mcp --speed 9'), 2, /--speed/);
  expectFailure(await box.run('mcp words'), 2, /does not know "words"/);
});
