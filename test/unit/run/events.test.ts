import { expect, test } from 'vitest';
import { type EventLine, Events, openEventLog } from '../../../src/run/events.ts';
import { wordsIn } from '../../../src/run/words.ts';
import type { Speech } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';
import { segmentOf } from './segment-of.ts';

const format = { encoding: 'integer', sampleRate: 1000, channels: 1, bitsPerSample: 16 } as const;
const speech = { format } as Speech;
const SECOND = 2000;

function listening(heard?: () => number) {
  const lines: EventLine[] = [];
  const events = new Events({ write: (line) => lines.push(line), heard });
  const said = () => lines.splice(0).map(({ event, index, heard }) => [event, index, heard].join(' ').trim());
  return { events, said };
}

const one = { ...segmentOf('One, and so on.', 0), span: { start: 0, end: 15 } };
const two = { ...segmentOf('Two.', 1), span: { start: 16, end: 20 } };

/** A second of silence, and then some of the sound of a segment. */
function sound(events: Events, segment: typeof one, bytes: number): void {
  events.on({ type: 'started', part: { segment, speech }, pauseFrames: 1000, at: 0 });
  events.on({ type: 'sound', pcm: new Uint8Array(bytes), at: 0 });
}

test('A segment is queued, playing and spoken when a player has played so far.', () => {
  let played = 0;
  const { events, said } = listening(() => played);
  events.on({ type: 'queued', segment: one });
  events.on({ type: 'queued', segment: two });
  expect(said()).toEqual(['queued 0', 'queued 1']);
  sound(events, one, SECOND);
  events.on({ type: 'spoken', isBroken: false });
  expect(said()).toEqual([]);
  played = SECOND + 2;
  sound(events, two, SECOND);
  expect(said()).toEqual(['playing 0']);
  played = 2 * SECOND;
  events.on({ type: 'spoken', isBroken: false });
  expect(said()).toEqual(['spoken 0']);
  events.finish();
  expect(said()).toEqual(['playing 1', 'spoken 1']);
  events.stop('failed');
  expect(said()).toEqual([]);
});

test('Without a player, what was taken counts as heard.', () => {
  const { events, said } = listening();
  events.on({ type: 'queued', segment: one });
  sound(events, one, 100);
  events.on({ type: 'spoken', isBroken: false });
  expect(said()).toEqual(['queued 0', 'playing 0', 'spoken 0']);
});

test.each([
  [SECOND + 0.4 * SECOND, true, 'stopped 0 6'],
  [SECOND + 2 * SECOND, true, 'stopped 1 16'],
  [2.5 * SECOND, true, 'stopped 1 16'],
  [SECOND, true, 'stopped 0 0'],
  // The sound of the rest has not come, and would last longer than what came.
  [SECOND + 200, false, 'stopped 0 1'],
])(
  'Where %d bytes have been heard, a stop tells how much of the input that is.',
  (played, isWhole, expected) => {
    const { events, said } = listening(() => played);
    events.on({ type: 'queued', segment: one });
    events.on({ type: 'queued', segment: two });
    sound(events, one, isWhole ? SECOND : 400);
    if (isWhole) events.on({ type: 'spoken', isBroken: false });
    if (isWhole) events.on({ type: 'started', part: { segment: two, speech }, pauseFrames: 1000, at: 0 });
    events.stop('interrupted');
    expect(said().at(-1)).toBe(expected);
  },
);

test('Before any sound has been counted, how long a text lasts is guessed by its script.', () => {
  const { events, said } = listening(() => SECOND);
  const chinese = { ...segmentOf('今天天气很好我们去公园', 0), span: { start: 0, end: 11 } };
  events.on({ type: 'queued', segment: chinese });
  events.on({ type: 'started', part: { segment: chinese, speech }, pauseFrames: 0, at: 0 });
  events.on({ type: 'sound', pcm: new Uint8Array(SECOND), at: 0 });
  events.stop('interrupted');
  expect(said().at(-1)).toBe('stopped 0 4');
});

const DOG = { ...segmentOf('The “old” dog was tired.', 0), span: { start: 0, end: 24 } };
const TIMES = [0, 0.1, 0.2, 0.3, 0.9];

test.each([
  [0.05, false, ['The', 0, 'spread']],
  [0.3, false, ['“old”', 4, 'spread']],
  [0.55, false, ['was', 14, 'spread']],
  [0.99, false, ['tired.', 18, 'spread']],
  [0.05, true, ['The', 0, 'exact']],
  [0.25, true, ['dog', 10, 'exact']],
  [0.3, true, ['was', 14, 'exact']],
  [0.55, true, ['was', 14, 'exact']],
  [0.95, true, ['tired.', 18, 'exact']],
])('After %d s of a sentence, a stop names its word (exact: %s).', async (seconds, isExact, expected) => {
  const lines: EventLine[] = [];
  const words = wordsIn(DOG.text).map((word, at) => ({ ...word, start: TIMES[at] ?? 1, end: 1 }));
  const events = new Events({
    write: (line) => lines.push(line),
    heard: () => SECOND + 2 * Math.round(1000 * seconds),
    wordsOf: async () => (isExact ? words : undefined),
  });
  sound(events, DOG, SECOND);
  events.on({ type: 'spoken', isBroken: false });
  await Promise.resolve();
  events.stop('interrupted');
  const { word, wordAt, wordTimes } = lines.at(-1) ?? {};
  expect([word, wordAt, wordTimes]).toEqual(expected);
});

test.each([
  ['between two sentences', SECOND + 2 * SECOND],
  ['before the first sound', SECOND],
])('A stop %s names no word.', (_, played) => {
  const lines: EventLine[] = [];
  const events = new Events({ write: (line) => lines.push(line), heard: () => played });
  sound(events, one, SECOND);
  events.on({ type: 'spoken', isBroken: false });
  events.on({ type: 'started', part: { segment: two, speech }, pauseFrames: 1000, at: 0 });
  events.stop('interrupted');
  expect(lines.at(-1)).not.toHaveProperty('word');
});

test('Where the sound of a sentence breaks off, its last word is named, also beyond the plane of most characters.', () => {
  const lines: EventLine[] = [];
  const events = new Events({ write: (line) => lines.push(line), heard: undefined });
  const smile = { ...segmentOf('𝒜𝒷𝒸 𝒟𝑒𝒻', 0), span: { start: 0, end: 7 } };
  const half = { format, bytes: SECOND } as Speech;
  events.on({ type: 'started', part: { segment: smile, speech: half }, pauseFrames: 0, at: 0 });
  events.on({ type: 'sound', pcm: new Uint8Array(0.6 * SECOND), at: 0 });
  events.on({ type: 'spoken', isBroken: true });
  expect(lines.at(-1)).toMatchObject({ event: 'broken', word: '𝒟𝑒𝒻', wordAt: 4, wordTimes: 'spread' });
});

test('A second drop, with nothing to drop, tells what the first one told.', () => {
  const { events, said } = listening(() => SECOND + 0.4 * SECOND);
  events.on({ type: 'queued', segment: one });
  sound(events, one, SECOND);
  events.on({ type: 'spoken', isBroken: false });
  events.drop();
  events.drop();
  expect(said().slice(-2)).toEqual(['stopped 0 6', 'stopped  6']);
});

test('Events cannot go to a file whose folder does not exist.', async () => {
  const { signal } = new AbortController();
  const opening = openEventLog('no/such', emptyFolder(), signal, () => {});
  await expect(opening).rejects.toMatchObject({ exitCode: 8 });
});
