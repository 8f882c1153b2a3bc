import { expect, test, vi } from 'vitest';
import { useMovedClock } from '../../support/clock.ts';
import { liveSegments } from './pieces.ts';

/** What is given out of a text after this many milliseconds of silence. */
async function spokenAfter(text: string, milliseconds: number): Promise<string[]> {
  async function* written(): AsyncGenerator<string> {
    yield text;
    await new Promise(() => {});
  }
  const control = new AbortController();
  const spoken: string[] = [];
  const reading = (async () => {
    const all = liveSegments(written(), { maxChars: 1000, pace: 'ramp' }, control.signal);
    for await (const segment of all) spoken.push(segment.text);
  })();
  reading.catch(() => {});
  await vi.advanceTimersByTimeAsync(milliseconds);
  control.abort(new Error('the test is over'));
  await reading.catch(() => {});
  return spoken;
}

test.each([
  ['It is over there.', 700],
  ['Is it over there?', 700],
  ['Three sentences. Two of them whole. The last', 700],
])('A sentence with its mark is complete after half a second: %j', async (text, milliseconds) => {
  useMovedClock();
  expect((await spokenAfter(text, milliseconds)).length).toBeGreaterThan(0);
});

test.each([
  'It is about 3.',
  'This is v1.',
  'We use Node.',
  'She said: “It is over.',
  'See (it is there.',
  'He said "no.',
])('A full stop in a number, a name or open marks waits two seconds: %j', async (text) => {
  useMovedClock();
  expect((await spokenAfter(text, 1800)).join(' ')).not.toContain(text.slice(-4));
  expect((await spokenAfter(text, 2500)).join(' ')).toBe(text);
});

test.each([
  ['- Milk\n- Bread\n', '- Milk - Bread'],
  ['Two roads diverged in a wood\nAnd I took', 'Two roads diverged in a wood'],
  ['Roses are red\nViolets are blue\n', 'Roses are red Violets are blue'],
  ['Here is the list:', 'Here is the list:'],
  ['สวัสดีครับ ผมชื่อ', 'สวัสดีครับ'],
])('A finished line or phrase is given out after one second: %j', async (text, expected) => {
  useMovedClock();
  expect(await spokenAfter(text, 800)).toEqual([]);
  expect((await spokenAfter(text, 1300)).join(' ')).toBe(expected);
});

test.each(['At 12:', 'a word', 'He went to the\nmarket', 'He went to the\n', '2.\n', 'I met Dr.\n'])(
  'What may go on waits: %j',
  async (text) => {
    useMovedClock();
    expect(await spokenAfter(text, 10_000)).toEqual([]);
  },
);

test('The items of an enumeration in one line keep their numbers.', async () => {
  useMovedClock();
  const text = 'Do this: 1. Take the bread. 2. Cut it well. 3. Eat it. And then';
  const spoken = await spokenAfter(text, 300);
  expect(spoken.join(' ')).toBe('Do this: 1. Take the bread. 2. Cut it well. 3. Eat it.');
  for (const piece of spoken) expect(piece).not.toMatch(/^\D+\d\.$|\s\d\.$/);
});
