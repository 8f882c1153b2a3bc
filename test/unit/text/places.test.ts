import { expect, test } from 'vitest';
import { Unspoken } from '../../../src/read/assistant.ts';
import { openMarkdown } from '../../../src/read/markdown.ts';
import { plain } from '../../../src/read/plain.ts';
import type { Reader } from '../../../src/read/reading.ts';
import type { TextPlan } from '../../../src/run/text.ts';
import { RunText } from '../../../src/run/text.ts';
import { alignedIn, Places } from '../../../src/text/places.ts';
import type { Segment } from '../../../src/text/segment.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { randomFrom, SEED } from '../../support/random.ts';
import { silent } from '../../support/speaker.ts';
import { answer, tokens } from '../run/answer-of.ts';

const { signal } = new AbortController();

const markdown: Reader = (source, until) =>
  openMarkdown(source, { code: 'announce', footnotes: 'read' }, until);

/** What is spoken of a pipe, each with what stands at its place in the input. */
async function placed(pieces: readonly string[], reader: Reader, filter?: TextPlan['filter']) {
  async function* bytes() {
    for (const piece of pieces) yield Buffer.from(piece);
  }
  const source = { name: '-', bytes };
  const plan = {
    sources: () => [{ source, reader }],
    stages: [],
    filter,
    role: asRole(silent),
    pace: 'sentence',
    cutsParagraphs: false,
  } as const;
  const text = await RunText.open(plan, signal);
  const input = [...pieces.map((piece) => Buffer.from(piece).toString()).join('')];
  const found: { text: string; start: number; end: number; written: string }[] = [];
  for await (const each of text.segments(true, signal, { places: new Places() })) {
    if (each.kind === 'silence' || !each.span) continue;
    const { start, end } = each.span;
    found.push({ text: each.text, start, end, written: input.slice(start, end).join('') });
  }
  return found;
}

const written = async (...args: Parameters<typeof placed>) =>
  (await placed(...args)).map((each) => each.written);

test('A sentence of a text stands where it was written.', async () => {
  const text = ['One 😊 is', ' here. Two\nis e.g. here.  ', '\n\nThree.'];
  expect(await written(text, plain)).toEqual(['One 😊 is here.', 'Two\nis e.g. here.', 'Three.']);
});

test('Each word of a very long segment has its place, without a look at all of it for each.', async () => {
  const places = new Places();
  const words = Array.from({ length: 60_000 }, (_, number) => `${number % 7 === 0 ? '😊 ' : ''}n${number}`);
  const [text, written] = [words.join(' '), words.join(' \n')];
  places.of('-').push(written);
  const about = { index: 0, place: { source: '-', line: 1 }, role: {}, pause: undefined, chapter: undefined };
  const segment = { kind: 'segment', text, written, ...about } as unknown as Segment;
  const source = (async function* () {
    yield segment;
  })();
  const { value: placed } = await places.placing(source).next();
  const characters = [...written];
  let at = 0;
  for (const word of words) {
    const span = (placed as Segment).wordSpan?.(at, word.length);
    if (characters.slice(span?.start, span?.end).join('') !== word) expect(span).toBe(word);
    at += word.length + 1;
  }
  expect(at).toBe(text.length + 1);
});

test.each([
  ['**Done.** And *so* on.', ['**Done.**', 'And *so* on.']],
  [
    '## Title\nA [link](https://a.example/on "on") goes on.',
    ['Title', 'A [link](https://a.example/on "on") goes on.'],
  ],
  ['One.\n\n```sh\nls # One.\n```\n\nOne.', ['One.', '```sh', 'One.']],
  ['- a\n- b\n\n> Quote.', ['a\n- b', 'Quote.']],
  ['| a | b |\n|-|-|\n| 1 | 2 |\n| 3 | 4 |\n', ['1 | 2 |\n| 3 | 4']],
])('A sentence of Markdown stands where its words were written: %j', async (text, expected) => {
  expect(await written([text], markdown)).toEqual(expected);
});

test('What nobody wants to hear has its place too.', async () => {
  const text =
    '<think>\nHello there.\n</think>\n\nHello there. 😊👍🏽 Hello there.\n<tool_call>{}</tool_call>\nBye.';
  const found = await placed([...text], markdown, (how) => new Unspoken(how));
  expect(found.map(({ start, written }) => ({ start, written }))).toEqual([
    { start: 31, written: 'Hello there.' },
    { start: 48, written: 'Hello there.' },
    { start: 87, written: 'Bye.' },
  ]);
});

test('Of what a lexicon has replaced, the words next to it stay.', () => {
  expect(alignedIn('The nginx server and the engine.', 'The engine x server', 0)).toMatchObject({
    start: 0,
    end: 16,
  });
  expect(alignedIn('Nothing here.', 'Formula', 0)).toMatchObject({ start: 0, end: 0 });
});

test('Sentences of answers as models write them have places in their order, with their first and last words.', async () => {
  for (let number = 0; number < 20; number += 1) {
    const random = randomFrom(SEED * 3000 + number);
    const text = answer(random);
    const found = await placed(
      tokens(text, random).map(({ text }) => text),
      markdown,
    );
    let last = 0;
    for (const each of found) {
      expect(each.start, text).toBeGreaterThanOrEqual(last);
      expect(each.end).toBeGreaterThanOrEqual(each.start);
      last = each.end;
      // Numbers of lists and announcements are not there as they are spoken.
      const words = each.text.match(/\p{L}+/gu) ?? [];
      if (/^(?:Code in|Setting)|formula/u.test(each.text)) continue;
      expect(each.written, text).toContain(words[0]);
      expect(each.written, text).toContain(words.at(-1));
    }
  }
});
