import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { serveText } from '../support/book.ts';
import { fakePlayer } from '../support/fake-player.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';

function linesOf(events: Buffer) {
  const lines = events.toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

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
  const run = new Sandbox().start(['--assistant', '--player', '/nowhere/player'], { stdin: 'open' });
  run.stdin.write('Hello there. ');
  await new Promise((resolve) => setTimeout(resolve, 500));
  run.stdin.end('The end.\n');
  const { status, stdout, stderr } = await run.ended;
  expect({ status, shown: stdout.toString() }).toEqual({ status: 8, shown: 'Hello there. The end.\n' });
  expect(stderr.toString()).toContain('/nowhere/player');
});

test('A signal ends a run whose voice has failed and whose text goes on.', async () => {
  const run = new Sandbox().start(['--assistant', '--player', '/nowhere/player'], { stdin: 'open' });
  run.stdin.write('Hello there. ');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  run.stdin.write('More');
  await once(run.stdout, 'data');
  const { ended } = await run.endBy('SIGTERM');
  expect(ended.status).toBe(143);
  expect(ended.stderr).toMatch(/nowhere.*\n(?:.*\n)*tts: terminated\n$/);
});

test('Events tell which sentence is heard, and where a run was stopped, in characters of the input.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isSlow');
  const line = `exec tts --assistant --player "$PLAYER" --events 3 3>>events.jsonl`;
  const run = box.startShell(line, { env: { PLAYER: player.command }, stdin: 'open' });
  const events = () => (existsSync(box.path('events.jsonl')) ? linesOf(box.read('events.jsonl')) : []);
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
  const { heard, reason, estimated } = others.at(-1);
  expect({ reason, estimated }).toEqual({ reason: 'interrupted', estimated: true });
  expect(heard).toBeGreaterThanOrEqual(queued[1].start);
  expect(heard).toBeLessThan(queued[1].end);
  for (const line of events()) expect(FIELDS).toEqual(expect.arrayContaining(Object.keys(line)));
});

test('A reader of events that leaves is not missed, and a file is for its user alone.', async () => {
  const box = new Sandbox();
  const gone = await box.shell(`set -o pipefail; { tts One. -o a.wav --events 3 3>&1 | true; }`);
  const raw = await box.shell(`tts Two. --encode s16le --events e.jsonl | wc -c`);
  const [queued, playing] = linesOf(box.read('e.jsonl'));
  expect({ gone: gone.status, raw: raw.status, bytes: Number(raw.stdout) % 2 }).toEqual({
    gone: 0,
    raw: 0,
    bytes: 0,
  });
  expect(queued).toMatchObject({ event: 'queued', index: 0, text: 'Two.', start: 0, end: 4 });
  expect(playing).toMatchObject({ event: 'playing', at: 0, sampleRate: 22050, channels: 1 });
  expect(statSync(box.path('e.jsonl')).mode & 0o777).toBe(0o600);
});

test('In a conversation, a stop drops what is queued, and what comes afterwards is spoken; an end ends an answer.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isSlow');
  const args = ['--assistant', '--input', 'jsonl', '--player', player.command, '--events', 'events.jsonl'];
  const run = box.start(args, { stdin: 'open' });
  const say = (message: object) => run.stdin.write(`${JSON.stringify(message)}\n`);
  const events = () => (existsSync(box.path('events.jsonl')) ? linesOf(box.read('events.jsonl')) : []);
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
});

test('An answer that comes after a silence begins at once.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isInTime');
  const args = ['--assistant', '--input', 'jsonl', '--player', player.command, '--events', 'events.jsonl'];
  const run = box.start(args, { stdin: 'open' });
  run.stdin.write('{"text":"One.","end":true}\n');
  const spoken = () => linesOf(box.read('events.jsonl')).some(({ event }) => event === 'spoken');
  await vi.waitFor(() => expect(existsSync(box.path('events.jsonl')) && spoken()).toBe(true), 10_000);
  // Longer than the silence between two paragraphs.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  run.stdin.end('{"text":"Two."}');
  await run.ended;
  let expected = 44;
  for (const text of ['One.', 'Two.']) expected += (await box.tts([text, '--encode', 's16le'])).stdout.length;
  expect(player.heard()).toHaveLength(expected);
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

test('The recipes for a shell and for Node work as they stand.', async () => {
  const box = new Sandbox();
  const env = { TTS_PLAYER: fakePlayer(box, 'plays').command };
  const shell = `llm() { echo "$1 **yes**."; }\n${recipe('sh', 'ask()')}ask Well,`;
  const [asked, run] = [
    await box.shell(shell, { env }),
    await box.shell(`node '${box.file('talk.mjs', recipe('js', 'spawn'))}'`, { env }),
  ];
  expect([asked.status, asked.stdout.toString()]).toEqual([0, 'Well, **yes**.\n']);
  expect([run.status, run.stdout.toString()]).toEqual([0, '']);
  expect(run.stderr).toContain('heard: Hello there.\nheard: How are you?');
});
