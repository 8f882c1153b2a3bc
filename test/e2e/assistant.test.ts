import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { serveText } from '../support/book.ts';
import { eventsIn } from '../support/events-in.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { isAlive, isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import type { TextServer } from '../support/text-server.ts';
import { READY, Tmux } from '../support/tmux.ts';

const GUIDE = readFileSync('docs/assistant.md', 'utf8');

const FIELDS = Object.keys(JSON.parse(readFileSync('docs/events.schema.json', 'utf8')).properties);

test('An answer is shown as it comes and spoken without what nobody wants to hear.', async () => {
  expect(GUIDE).toContain('llm "Tell me a story" | tts --assistant');
  const server = await serveText();
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const run = box.start(['--assistant', '--player', player.command], {
    env: named(server.url),
    stdin: 'open',
  });
  const first =
    '<think>\nThe user greets me, so I greet them in a friendly way.\n</think>\n\n## Answer\nHello **there**. And';
  run.stdin.write(first);
  await vi.waitFor(() => expect(server.texts).toEqual(['Answer.', 'Hello there.']), 60_000);
  const rest = ' so on! 😊\n\n<tool_call>{"name":"ls"}</tool_call>\n';
  run.stdin.end(rest);
  const { status, stdout } = await run.ended;
  expect({ status, shown: stdout.toString(), last: server.texts.at(-1) }).toEqual({
    status: 0,
    shown: first + rest,
    last: 'And so on!',
  });
});

test('Where the voice fails, the text goes on, and the status says so.', async () => {
  const run = new Sandbox().start('--assistant --player /nowhere/player', { stdin: 'open' });
  run.stdin.write('Hello there. ');
  await new Promise((resolve) => setTimeout(resolve, 500));
  run.stdin.end('The end.\n');
  const { status, stdout, stderr } = await run.ended;
  expect({ status, shown: stdout.toString() }).toEqual({ status: 8, shown: 'Hello there. The end.\n' });
  expect(stderr.toString()).toContain('/nowhere/player');
});

test('Events tell which sentence is heard, and where a run was stopped, in characters of the input.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isSlow');
  const line = `exec tts --assistant --player "$PLAYER" --events 3 3>>events.jsonl`;
  const run = box.startShell(line, { env: { PLAYER: player.command }, stdin: 'open' });
  const events = () => eventsIn(box);
  const input = '<think>Hm.</think>**Hello there.** This is a sentence that takes a while to be heard. ';
  run.stdin.write(input);
  await vi.waitFor(() => expect(events().filter(({ event }) => event === 'playing')).toHaveLength(2), 60_000);
  await run.endBy('SIGTERM');
  const queued = events().filter(({ event }) => event === 'queued');
  const others = events().filter(({ event }) => event !== 'queued');
  expect(queued.map(({ start, end }) => input.slice(start, end))).toEqual([
    '**Hello there.**',
    'This is a sentence that takes a while to be heard.',
  ]);
  expect(others.map(({ event, index }) => [event, index])).toEqual([
    ['playing', 0],
    ['spoken', 0],
    ['playing', 1],
    ['stopped', 1],
  ]);
  const { heard, reason, estimated, text, word, wordAt } = others.at(-1);
  expect(text.split(' ')).toContain(word);
  expect(text.slice(wordAt)).toMatch(new RegExp(`^${word}( |$)`, 'u'));
  expect({ reason, estimated }).toEqual({ reason: 'interrupted', estimated: true });
  expect(heard).toBeGreaterThanOrEqual(queued[1].start);
  expect(heard).toBeLessThan(queued[1].end);
  for (const line of events()) expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(line)));
});

test('A reader of events that leaves is not missed, and a file is for its user alone.', async () => {
  const box = new Sandbox();
  const gone = await box.shell(`set -o pipefail; { tts One. -o a.wav --events 3 3>&1 | true; }`);
  const raw = await box.shell(`tts Two. --encode s16le --events e.jsonl | wc -c`);
  const [queued, playing] = eventsIn(box, 'e.jsonl');
  expect({ gone: gone.status, raw: raw.status, bytes: Number(raw.stdout) % 2 }).toEqual({
    gone: 0,
    raw: 0,
    bytes: 0,
  });
  expect(queued).toMatchObject({ event: 'queued', index: 0, text: 'Two.', start: 0, end: 4 });
  expect(playing).toMatchObject({ event: 'playing', at: 0, sampleRate: 22050, channels: 1 });
  expect(statSync(box.path('e.jsonl')).mode & 0o777).toBe(0o600);
});

test('Events go to no descriptor that the caller has not opened, such as those of Node or of a file of this run.', async () => {
  const box = new Sandbox();
  const { stdout } = await box.shell(
    'for fd in 1 3 9 $(seq 16 24) 999; do tts -q Hello. -o a.wav --events $fd 2>/dev/null; echo $?; done',
  );
  expect(stdout.toString().split('\n')).toEqual([...Array(13).fill('2'), '']);
});

test.each(['--assistant', '--play'])(
  'In a conversation with %s, a stop drops what is queued, and what comes afterwards is spoken; an end ends an answer.',
  async (option) => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isSlow');
    const args = [option, '--input', 'jsonl', '--player', player.command, '--events', 'events.jsonl'];
    const run = box.start(args, { stdin: 'open' });
    const say = (message: object) => run.stdin.write(`${JSON.stringify(message)}\n`);
    const events = () => eventsIn(box);
    const came = (event: string, count: number) =>
      vi.waitFor(
        () => expect(events().filter((each) => each.event === event).length).toBeGreaterThanOrEqual(count),
        60_000,
      );
    const first = 'Hello there. This one is dropped. And this one is not even compl';
    for (const text of first.match(/.{1,7}/gs) ?? []) say({ text });
    await came('playing', 1);
    const dying = await player.running();
    say({ stop: true });
    say({ text: 'New answer without an end', end: true });
    await came('stopped', 1);
    await vi.waitFor(() => expect(() => process.kill(dying, 0)).toThrow(), 60_000);
    say({ text: 'The last one.' });
    run.stdin.end();
    const { status, stderr, stdout } = await run.ended;
    expect({ status, stderr, stdout: stdout.length }).toEqual({
      status: 0,
      stderr: expect.not.stringContaining('error'),
      stdout: 0,
    });
    const told = events().map(({ event, text }) => `${event} ${text}`);
    const stop = told.findIndex((line) => line.startsWith('stopped'));
    expect(told.slice(stop + 1).sort()).toEqual(
      ['playing', 'queued', 'spoken'].flatMap((event) => [
        `${event} New answer without an end`,
        `${event} The last one.`,
      ]),
    );
    expect(events()[stop]).toMatchObject({ reason: 'dropped' });
    expect(events().at(-1).start).toBe([...first].length + 'New answer without an end'.length);
  },
);

test('A conversation of which all is stopped before it is heard ends well, and one without words does not.', async () => {
  const args = ['--play', '--input', 'jsonl', '--player', 'cat'];
  const statuses = ['{"text":"Never mind."}\n{"stop":true}\n', '{"end":true}\n'].map(
    async (stdin) => (await new Sandbox().run(args, { stdin })).status,
  );
  expect(await Promise.all(statuses)).toEqual([0, 2]);
});

test('In a conversation that goes into a file, an end ends an answer with its thought, and is no character.', async () => {
  const box = new Sandbox();
  const stdin = '{"text":"One. <think>Hm.","end":true}\n{"stop":true}\n{"text":"Two."}\n';
  await box.run('--assistant --input jsonl -o x.wav --events events.jsonl', { stdin });
  const spoken = eventsIn(box).filter(({ event }) => event === 'spoken');
  expect(spoken).toMatchObject([
    { text: 'One.', start: 0, end: 4 },
    { text: 'Two.', start: 15, end: 19 },
  ]);
});

test('A message that is not UTF-8 is refused with the place of its byte, and none of it is spoken.', async () => {
  const bytes = Buffer.concat([Buffer.from('{"text": "caf'), Buffer.from([0xe9]), Buffer.from('"}\n')]);
  const { status, stderr } = await new Sandbox().run('--input jsonl -o x.wav', { stdin: bytes });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringContaining('stdin is not text: byte 0xe9 at offset 13'),
  });
});

test('An answer that comes after a silence begins at once.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isInTime');
  const args = ['--assistant', '--input', 'jsonl', '--player', player.command, '--events', 'events.jsonl'];
  const run = box.start(args, { stdin: 'open' });
  run.stdin.write('{"text":"One.","end":true}\n');
  const spoken = () => eventsIn(box).some(({ event }) => event === 'spoken');
  await vi.waitFor(() => expect(spoken()).toBe(true), 10_000);
  // Longer than the silence between two paragraphs.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  run.stdin.end('{"text":"Two."}');
  await run.ended;
  let expected = 44;
  for (const text of ['One.', 'Two.']) expected += (await box.run([text, '--encode', 's16le'])).stdout.length;
  expect(player.heard()).toHaveLength(expected);
});

test('Where only the end of a thought comes, what is queued of it is not heard, and the answer begins at once.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isInTime');
  const run = box.start(['--assistant', '--no-echo', '--player', player.command], { stdin: 'open' });
  const thought =
    'The user asks for twice two, and so I have to think about this for a long while before I answer.';
  run.stdin.write(`${thought} ${'And I think once more about it all. '.repeat(200)}`);
  await player.running();
  run.stdin.end('So it is clear.\n</think>\n\nThe answer is **four**.\n');
  expect((await run.ended).status).toBe(0);
  const sound = async (text: string) => (await box.run([text, '--encode', 's16le'])).stdout;
  const [first = Buffer.alloc(0), second = Buffer.alloc(0), ...others] = player.heardEach();
  expect(others).toEqual([]);
  expect(first.length).toBeLessThan((await sound(thought)).length);
  expect(second.subarray(44).equals(await sound('The answer is four.'))).toBe(true);
});

test('A thought that comes with its answer is never heard, and no player is stopped for it.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const run = box.start(['--assistant', '--no-echo', '--player', player.command], { stdin: 'open' });
  run.stdin.end('Twice two, then.\n</think>\n\nThe answer is four.\n');
  expect((await run.ended).status).toBe(0);
  const { stdout } = await box.run(['The answer is four.', '--encode', 's16le']);
  expect(player.heardEach().map((bytes) => bytes.subarray(44).equals(stdout))).toEqual([true]);
});

/** The block of the guide that holds these words. */
function recipe(language: string, words: string): string {
  const blocks = [...GUIDE.matchAll(new RegExp(`\\n\`\`\`${language}\\n(.*?)\`\`\`\\n`, 'gsu'))];
  return blocks.map(([, block = '']) => block).find((block) => block.includes(words)) ?? '';
}

test.skipIf(!isThere('python3'))(
  'A program in Python streams tokens, reads events, barges in and cuts its history where it was heard.',
  async () => {
    const box = new Sandbox();
    const answer =
      'Hello **thäre**. This is the sentence that is cut off by its listener. This is never heard.';
    const script = `${recipe('python', 'class Voice')}
import re, sys

answer = sys.argv[1]
voice = Voice()
for token in re.findall(r"\\S+\\s*", answer):
    voice.say(token)
for line in voice.events:
    event = json.loads(line)
    if event["event"] == "playing" and event["index"] == 1:
        break
history = answer[: voice.barge_in()]
voice.say("Sorry")
voice.end_answer()
voice.tts.stdin.close()
after = [json.loads(line) for line in voice.events]
print(json.dumps([history, [[e["event"], e["text"]] for e in after], voice.tts.wait()]))
`;
    const env = { TTS_PLAYER: fakePlayer(box, 'isSlow').command };
    const { stdout, stderr } = await box.shell(`python3 '${box.file('talk.py', script)}' '${answer}'`, {
      env,
    });
    const [history, after, status] = JSON.parse(stdout.toString() || stderr);
    const [first = '', second = ''] = answer.split(/(?<=\.\*?\*?) /u);
    expect(history.startsWith(`${first} `)).toBe(true);
    expect(`${first} ${second}`.startsWith(history)).toBe(true);
    const said = ['queued', 'playing', 'spoken'].map((event) => [event, 'Sorry']);
    expect({ after, status }).toEqual({ after: said, status: 0 });
  },
);

const STORY = `Once upon a time a **machine** learned to speak.\nIt told of the sea, of lamps, and of a way home. ${'It went on and on, and never came to an end, for nobody stopped it. '.repeat(15)}`;

/** A model that writes word by word. */
const MODEL = `#!/bin/sh
printf '%s' "$1" | while IFS= read -r line || [ -n "$line" ]; do
  for word in $line; do printf '%s ' "$word"; sleep 0.05; done; echo
done
`;

test.skipIf(!isThere('tmux'))(
  'On a terminal the text stays readable, an interruption tells how far it was heard, and the next run speaks.',
  async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'isSlow');
    writeFileSync(join(box.commands, 'llm'), MODEL);
    chmodSync(join(box.commands, 'llm'), 0o755);
    const terminal = new Tmux(box, { TTS_PLAYER: player.command, STORY });
    const told = (name: string) => eventsIn(box, name);
    const hears = (name: string, index: number) =>
      vi.waitFor(
        () => expect(told(name).some((line) => line.event === 'playing' && line.index === index)).toBe(true),
        60_000,
      );
    await terminal.shows(READY);
    terminal.type('llm "$STORY" | tts --assistant --events first.jsonl', 'Enter');
    await hears('first.jsonl', 1);
    const pid = await player.running();
    terminal.type('', 'C-c');
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), 60_000);
    await terminal.shows(READY);
    const shown = stripVTControlCharacters(terminal.screen()).split('\n');
    // A message stands in a line of its own, and the rest is the text.
    expect(shown).toContainEqual(expect.stringMatching(/^tts: the built-in English voice speaks/u));
    expect(shown).toContain('tts: interrupted');
    const [text = ''] = shown
      .slice(1)
      .join('')
      .replace(/tts: the built-in.*?install cori/u, '')
      .split('^C');
    expect(text.length).toBeGreaterThan(100);
    expect(STORY.replace(/\s/gu, '').startsWith(text.replace(/\s/gu, ''))).toBe(true);
    const stop = told('first.jsonl').at(-1);
    expect(stop).toMatchObject({ event: 'stopped', reason: 'interrupted', index: 1, estimated: true });
    expect(stop.heard).toBeGreaterThanOrEqual(stop.start);
    expect(stop.heard).toBeLessThan(stop.end);
    terminal.type('tts --events second.jsonl Next.', 'Enter');
    await hears('second.jsonl', 0);
  },
);

test.skipIf(!isThere('script'))(
  'A terminal gets nothing of the text that it would obey, however the text is cut; a pipe gets each byte.',
  async () => {
    const box = new Sandbox();
    const pieces = [
      'Hi \\033',
      ']52;c;ZXZpbA==\\007 there\\r',
      '\\n\\033[2JOne\\ttwo \\342\\200',
      '\\256three.\\n',
    ];
    const writer = `(${pieces.map((piece) => `printf '${piece}'`).join('; sleep 0.2; ')})`;
    const line = `${writer} | tts -q --assistant`;
    const env = { TTS_PLAYER: fakePlayer(box, 'plays').command };
    const piped = await box.shell(line, { env });
    const shown = await box.shell(`script -qec "$LINE" /dev/null`, { env: { ...env, LINE: line } });
    expect(piped.stdout.toString()).toBe('Hi \x1b]52;c;ZXZpbA==\x07 there\r\n\x1b[2JOne\ttwo \u202ethree.\n');
    expect(shown.stdout.toString()).toBe('Hi  there\r\nOne\ttwo three.\r\n');
  },
);

test('The service dies in the middle of an answer: the text is whole, another voice goes on, and the status says so.', async () => {
  const server: TextServer = await serveText({
    fault: () => (/Answer|first/.test(server.texts.at(-1) ?? '') ? undefined : '500'),
  });
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const answer = '# Answer\n\nThe first one. The **second** one. The third one. The last one.\n';
  const args = ['--assistant', '--json', '--fallback', 'slt', '--player', player.command];
  const run = await box.run(args, { env: named(server.url), stdin: answer });
  const { fallback, played } = JSON.parse(run.stderr);
  expect({ status: run.status, shown: run.stdout.toString(), played }).toEqual({
    status: 9,
    shown: answer,
    played: true,
  });
  const { voice, from, line, broken, error } = fallback;
  expect({ voice, from, line, broken, exitCode: error.exitCode }).toEqual({
    voice: 'slt',
    from: 'The second one.',
    line: 3,
    broken: null,
    exitCode: 7,
  });
  // Each of the last three sentences takes half a second at least, at 22,050 Hz and 2 bytes.
  expect(player.heard().length).toBeGreaterThan(3 * 22_050);
});

test('A stream that stops is given up after the patience, and its sentence is not said twice.', async () => {
  const server: TextServer = await serveText({
    fault: () => (server.texts.at(-1)?.includes('second') ? 'stop' : undefined),
  });
  const box = new Sandbox();
  const args = ['--stream', '--fallback', '1', '--patience', '2', '--events', 'events.jsonl'];
  const stdin = 'The first one. The second sentence breaks. The last one.';
  const run = await box.run(args, { env: named(server.url), stdin });
  expect(run.stderr).toMatch(
    /^tts: (?:warning: )?no sound came within 2 s; the rest of "The second sentence breaks." is missing, and 1 speaks from "The last one." on\n$/,
  );
  expect(run.status).toBe(9);
  expect(run.stdout.length).toBeGreaterThan(22_050);
  const events = eventsIn(box).filter(({ event }) => event !== 'queued' && event !== 'playing');
  expect(events.map(({ event, index }) => [event, index])).toEqual([
    ['spoken', 0],
    ['broken', 1],
    ['fallback', 2],
    ['spoken', 2],
  ]);
  const [, broken, fallback] = events;
  expect(broken).toMatchObject({ estimated: true });
  expect(broken.heard).toBeGreaterThanOrEqual(broken.start);
  expect(broken.heard).toBeLessThan(broken.end);
  expect(fallback).toMatchObject({ voice: '1', error: 'no sound came within 2 s', exitCode: 5 });
  for (const line of events) expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(line)));
});

test('Tries that bring no sound are given up after the patience.', async () => {
  const server = await serveText({ fault: () => '500' });
  const args = ['Hi.', '--stream', '--retries', '9', '--fallback', '1', '--patience', '1'];
  const run = await new Sandbox().run(args, { env: named(server.url) });
  expect(run.stderr).toContain('no sound came within 1 s');
  expect(run.stdout.length).toBeGreaterThan(10_000);
});

test('A file has one voice, unless it may have gaps.', async () => {
  const server = await serveText({ fault: () => '429' });
  const box = new Sandbox();
  box.file('.ttsrc.json', '{"fallback": "slt"}');
  const file = await box.run('hello -o a.wav', { env: named(server.url) });
  expect({ status: file.status, list: box.list() }).toEqual({ status: 4, list: ['.ttsrc.json'] });
  const kept = await box.run('hello -o a.wav --keep-going', { env: named(server.url) });
  expect({ status: kept.status, list: box.list() }).toEqual({ status: 9, list: ['.ttsrc.json', 'a.wav'] });
  expect(kept.stderr).toMatch(/slt speaks from "hello" on/);
});

test('The recipes for a shell and for Node work as they stand.', async () => {
  const box = new Sandbox();
  const env = { TTS_PLAYER: fakePlayer(box, 'plays').command };
  const shell = `llm() { echo "$1 **yes**."; }\n${recipe('sh', 'ask()')}ask Well,`;
  const asked = await box.shell(shell, { env });
  expect([asked.status, asked.stdout.toString()]).toEqual([0, 'Well, **yes**.\n']);
  const run = await box.shell(`node '${box.file('talk.mjs', recipe('js', 'spawn'))}'`, { env });
  expect([run.status, run.stdout.toString()]).toEqual([0, '']);
  expect(run.stderr).toContain('heard: Hello there.\nheard: How are you?');
});
