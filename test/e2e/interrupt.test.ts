import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { type FakePlayer, fakePlayer } from '../support/fake-player.ts';
import { type Running, Sandbox } from '../support/run.ts';

/** The built-in voice takes 10 s for it, and gives it in one piece. */
const LONG =
  'Once upon a time there was a little programmer who wrote a very long sentence without any full stop because he liked to write on and on and never came to its end.';
const NEW = 'Second answer.';

/** The bytes of a WAV header, which is all of a sound but its samples. */
const HEADER = 44;

interface Talk {
  readonly box: Sandbox;
  readonly run: Running;
  readonly player: FakePlayer;
}

interface Way {
  readonly name: string;
  /** Resolves when the run has heard of it. */
  readonly interrupt: (talk: Talk) => Promise<unknown>;
  /** The status of a run that ends by it. A conversation that goes on ends with 0, after its next answer. */
  readonly status: number;
  readonly isHeardNext: boolean;
  /** The text comes as messages of `--input jsonl`. */
  readonly messages?: boolean;
}

const WAYS: readonly Way[] = [
  {
    name: '{"stop":true}',
    messages: true,
    async interrupt({ run, box }) {
      run.stdin.write('{"stop":true}\n');
      await vi.waitFor(
        () => expect(eventsIn(box).some(({ event }) => event === 'stopped')).toBe(true),
        10_000,
      );
    },
    status: 0,
    isHeardNext: true,
  },
  { name: 'SIGINT', interrupt: async ({ run }) => run.child.kill('SIGINT'), status: 130, isHeardNext: false },
  {
    name: 'tts stop',
    interrupt: ({ box }) => box.run('stop --channel desk'),
    status: 0,
    isHeardNext: false,
  },
];

/** Interrupts a run in the middle of its sentence. */
async function interrupted(
  options: string,
  { interrupt, messages = false }: Pick<Way, 'interrupt' | 'messages'>,
): Promise<Talk> {
  const box = new Sandbox();
  const player = fakePlayer(box, 'isInTime');
  const args = ['-q', '--assistant', '--no-echo', '--channel', 'desk', '--player', player.command];
  const run = box.start(
    [...args, '--events', 'events.jsonl', ...(messages ? ['--input', 'jsonl'] : []), ...words(options)],
    {
      stdin: 'open',
      patience: 40_000,
    },
  );
  run.stdin.write(messages ? `${JSON.stringify({ text: `${LONG} ` })}\n` : `${LONG} `);
  await vi.waitFor(() => expect(player.heard().length).toBeGreaterThan(44_100), 20_000);
  const talk = { box, run, player };
  await interrupt(talk);
  return talk;
}

/** What a player hears of a text that nothing interrupts, as its samples and a short form of them for messages. */
async function soundOf(box: Sandbox, text: string, options: string) {
  await box.run(['-q', text, '-o', 'reference.wav', ...words(options)]);
  return heardIn(box.read('reference.wav'));
}

function heardIn(wav: Buffer) {
  const samples = wav.subarray(HEADER);
  return { bytes: samples.length, hash: createHash('sha256').update(samples).digest('hex') };
}

function words(options: string): string[] {
  return options.split(' ').filter((word) => word !== '');
}

test.each(
  WAYS.flatMap((way) => [
    { ...way, options: '' },
    // These steps hold back some sound.
    ...(way.isHeardNext ? [{ ...way, options: '--loudness -18 --speed 1.2' }] : []),
  ]),
)(
  'After $name, no player gets old sound, and events tell what was heard: $options',
  async ({ options, status, isHeardNext, ...way }) => {
    const { box, run, player } = await interrupted(options, way);
    run.stdin.end(way.messages ? JSON.stringify({ text: NEW, end: true }) : NEW);
    const ended = await run.ended;
    const [first = Buffer.alloc(0), ...others] = player.heardEach();
    const expected = isHeardNext ? [await soundOf(box, NEW, options)] : [];
    expect({
      status: ended.status,
      stderr: ended.stderr.replace(/^tts: (?:interrupted|terminated)\n$/, ''),
    }).toEqual({
      status,
      stderr: '',
    });
    // The player dies with what is on its way to it: less than half of the sentence.
    expect(first.length).toBeLessThan(5 * 44_100);
    const what = (all: ReturnType<typeof heardIn>[]) =>
      // The loudness of a live voice is measured at its beginning, which is that of the first text.
      options.includes('loudness') ? all.map(({ bytes }) => bytes) : all;
    expect(what(others.map(heardIn))).toEqual(what(expected));
    const events = eventsIn(box);
    const stop = events.findIndex(({ event }) => event === 'stopped');
    expect(events[stop].heard).toBeGreaterThan(5);
    expect(events[stop].heard).toBeLessThan(LONG.length / 2);
    const next = events.slice(stop + 1).map(({ event, at }) => [event, at]);
    const [{ bytes } = { bytes: 0 }] = expected;
    expect(next).toEqual(
      expected.length === 0
        ? []
        : [
            ['queued', undefined],
            ['playing', events[stop].at],
            ['spoken', expect.closeTo(events[stop].at + bytes / 44_100, 2)],
          ],
    );
  },
  60_000,
);

test('A run that the next one interrupts falls silent before that speaks, has nothing to say, and ends with 0.', async () => {
  const { box, run, player } = await interrupted('', { interrupt: async () => {} });
  const next = await box.tts(
    ['-q', '--assistant', '--no-echo', '--channel', 'desk', '--interrupt', '--player', player.command],
    { stdin: NEW },
  );
  expect(await run.ended).toMatchObject({ status: 0, stderr: '' });
  const [first, ...others] = player.heardEach();
  expect(next.status).toBe(0);
  expect(first?.length).toBeLessThan(5 * 44_100);
  expect(others.map(heardIn)).toEqual([await soundOf(box, NEW, '')]);
}, 60_000);

/** The letter of Linux for what a process does: `T` is stopped. */
const stateOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.[0];

test.runIf(process.platform === 'linux')(
  'What speaks is paused, goes on, and is stopped while it is paused.',
  async () => {
    const box = new Sandbox();
    const player = fakePlayer(box, 'plays');
    const act = async (name: string) => {
      const { status, stdout } = await box.run([name, '--channel', 'desk', '--json']);
      return { status, ...JSON.parse(stdout.toString()) };
    };
    const run = box.start(['--channel', 'desk', '--player', player.command], { stdin: 'open' });
    run.stdin.write('The first sentence. And ');
    const pid = await player.running();
    expect(await act('pause')).toEqual({ status: 0, paused: 1 });
    await vi.waitFor(() => expect(stateOf(pid)).toBe('T'), 60_000);
    const before = player.heard().length;
    run.stdin.write('the second one. And so on.');
    expect(await act('resume')).toEqual({ status: 0, resumed: 1 });
    await vi.waitFor(() => expect(player.heard().length).toBeGreaterThan(before + 22_050), 60_000);
    expect(await act('pause')).toEqual({ status: 0, paused: 1 });
    expect(await act('stop')).toEqual({ status: 0, stopped: 1 });
    expect((await run.ended).status).toBe(0);
    expect(await act('resume')).toEqual({ status: 0, resumed: 0 });
  },
);

test('A run that was to make a file is terminated, and one that waits ends without a word.', async () => {
  const box = new Sandbox();
  const player = fakePlayer(box, 'plays');
  const env = { XDG_RUNTIME_DIR: box.path('runtime') };
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  const runs = () => readdirSync(box.path('runtime/tts/run/desk')).length;
  const args = ['-q', '--channel', 'desk'];
  const file = box.start([...args, '-o', 'out.wav'], { env, stdin: 'open' });
  file.stdin.write('The first sentence. And ');
  await vi.waitFor(() => expect(runs()).toBe(1), 10_000);
  const waits = box.start([...args, '--queue', '--player', player.command, 'Never.'], { env });
  await vi.waitFor(() => expect(runs()).toBe(2), 10_000);
  expect((await box.run(['stop', ...args, '--json'], { env })).stdout.toString()).toBe('{"stopped":2}\n');
  const ended = await file.ended;
  // What does not end in time dies of the signal, which a shell tells as 143, too.
  expect({ ...ended, status: ended.status ?? 143 }).toMatchObject({
    status: 143,
    stderr: 'tts: terminated\n',
  });
  expect(await waits.ended).toMatchObject({ status: 0, stderr: '' });
  expect(box.list()).not.toContain('out.wav');
  expect(player.heard()).toHaveLength(0);
});
