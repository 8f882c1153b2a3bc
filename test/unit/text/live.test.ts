import { expect, test, vi } from 'vitest';
import { useMovedClock } from '../../support/clock.ts';
import { type CutOptions, liveSegments } from './pieces.ts';

/** Longer than anything here is waited for. */
const SILENCE = 60_000;

const options: CutOptions = { maxChars: 1000, pace: 'ramp' };

async function texts(all: AsyncIterable<{ text: string }>): Promise<string[]> {
  const list: string[] = [];
  for await (const { text } of all) list.push(text);
  return list;
}

/** A writer: what it holds back, it writes only when asked. */
function writer() {
  const waiting: ((result: IteratorResult<string>) => void)[] = [];
  const written: IteratorResult<string>[] = [];
  const put = (result: IteratorResult<string>) => {
    const reader = waiting.shift();
    if (reader) reader(result);
    else written.push(result);
  };
  let isStopped = false;
  const text: AsyncIterable<string> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const result = written.shift();
        return result ? Promise.resolve(result) : new Promise((resolve) => waiting.push(resolve));
      },
      return: async () => {
        isStopped = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return {
    text,
    write: (value: string) => put({ done: false, value }),
    end: () => put({ done: true, value: undefined }),
    isStopped: () => isStopped,
  };
}

function live(signal = new AbortController().signal, pace: CutOptions['pace'] = 'ramp') {
  const { text, ...pen } = writer();
  const spoken = liveSegments(text, { ...options, pace }, signal);
  return { ...pen, spoken, say: async () => (await spoken.next()).value?.text };
}

/** Nothing is said for so long, on a clock that this test moves on. */
async function expectSilence(said: Promise<unknown>): Promise<void> {
  let isSaid = false;
  void said.then(() => {
    isSaid = true;
  });
  await vi.advanceTimersByTimeAsync(SILENCE);
  expect(isSaid).toBe(false);
}

test('A short text that ends at once begins with one sentence where it is heard live, and is one segment in a file.', async () => {
  const said = async (pace: CutOptions['pace']) => {
    const { write, end, spoken } = live(undefined, pace);
    write('One. ');
    write('Two. Three');
    end();
    return texts(spoken);
  };
  expect(await said('ramp')).toEqual(['One.', 'Two. Three']);
  expect(await said('full')).toEqual(['One. Two. Three']);
});

test('A sentence is given out as soon as the next one begins, and the unfinished one waits.', async () => {
  useMovedClock({ runs: true });
  const { write, end, say } = live();
  for (const letter of 'I met Dr. Smith. He') write(letter);
  expect(await say()).toBe('I met Dr. Smith.');
  const next = say();
  await expectSilence(next);
  write(' left. It');
  expect(await next).toBe('He left.');
  end();
  expect(await say()).toBe('It');
  expect(await say()).toBeUndefined();
});

test.each([
  ['a line break after a full stop', 'One two.\n', 'One two.'],
  ['an empty line', 'A heading\n\n', 'A heading'],
  ['quiet after a full stop', 'One two.', 'One two.'],
])('It takes no more than %s.', async (_, text, expected) => {
  const { write, say } = live();
  write(text);
  expect(await say()).toBe(expected);
});

test.each([
  ['hello there.\nmore text', 'hello there.'],
  ['Hello there.\n2 more', 'Hello there.'],
  ['One two.\nthree four!\nand five', 'One two.\nthree four!'],
  ['Intro here.\n1.\nFirst item of', 'Intro here.'],
])(
  'A line that ends with a full stop is spoken, whatever the next one begins with: %j',
  async (text, expected) => {
    const { write, say } = live();
    write(text);
    expect(await say()).toBe(expected);
  },
);

test.each(['I met Dr.\nSmith', 'At 5 a.m.\nthey left', 'See No.\n5 of them', '...\nand', '(2)\nmilk'])(
  'A line that ends within a sentence waits: %j',
  async (text) => {
    useMovedClock({ runs: true });
    const { write, end, say } = live();
    write(text);
    const next = say();
    await expectSilence(next);
    end();
    expect(await next).toBe(text);
  },
);

test('Text that keeps coming without full stops is given out when it fills a segment.', async () => {
  useMovedClock();
  const { write, end, say } = live();
  const first = say();
  let written = '';
  for (let number = 1000; written.length <= options.maxChars; number += 1) {
    const line = `door ${number} opened\n`;
    write(line);
    written += line;
    await vi.advanceTimersByTimeAsync(50);
  }
  await vi.advanceTimersByTimeAsync(100);
  const start = (await first)?.replaceAll('\n', ' ');
  expect(start?.length).toBeGreaterThan(options.maxChars - 40);
  end();
  expect(`${start} ${await say()} `).toBe(written.replaceAll('\n', ' '));
  expect(await say()).toBeUndefined();
});

test('Lines and paragraphs are counted across what was given out early.', async () => {
  const { write, end, spoken } = live();
  write('One.\n');
  expect((await spoken.next()).value).toEqual({ text: 'One.', line: 1, startsParagraph: true, index: 0 });
  write('\nTwo.\n');
  expect((await spoken.next()).value).toEqual({ text: 'Two.', line: 3, startsParagraph: true, index: 1 });
  write('Three.');
  end();
  expect((await spoken.next()).value).toEqual({ text: 'Three.', line: 4, startsParagraph: false, index: 2 });
});

test('An abort ends the wait for a hanging source with its reason, and stops the source.', async () => {
  const controller = new AbortController();
  const { say, isStopped } = live(controller.signal);
  const first = say();
  controller.abort(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  expect(isStopped()).toBe(true);
});

test('A reader that leaves stops the source, and its error comes through.', async () => {
  const { write, spoken, isStopped } = live(undefined, 'sentence');
  write('One. Two');
  for await (const { text } of spoken) {
    expect(text).toBe('One.');
    break;
  }
  expect(isStopped()).toBe(true);
  async function* failing() {
    yield 'One. ';
    throw new Error('unreadable');
  }
  await expect(texts(liveSegments(failing(), options, new AbortController().signal))).rejects.toThrow(
    'unreadable',
  );
});

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
  ['Er sagte „Hallo“ und ging.', 700],
  ['Powiedział „Cześć” i wyszedł.', 700],
  ['Hun sagde »Hej« og gik.', 700],
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
  'Er sagte: „Nein.',
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
