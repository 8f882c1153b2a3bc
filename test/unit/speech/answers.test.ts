import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/reading/markdown/growing.ts';
import { WAITS } from '../../../src/text/complete.ts';
import { inTurn, type LiveStage } from '../../../src/text/live.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Rest, Segment } from '../../../src/text/segment.ts';
import { Segmenter } from '../../../src/text/segmenter.ts';
import { randomFrom, SEED } from '../../support/random.ts';
import { answer, SENTENCES, tokens } from './answer-of.ts';

const ANSWERS = 400;

/** What is spoken of tokens, with the looks that a driver takes while it waits. */
function spoken<In>(
  stage: LiveStage<In, Segment | Rest>,
  items: readonly { item: In; wait: number }[],
): string[] {
  const said: string[] = [];
  const take = (all: Iterable<Segment | Rest>) => {
    for (const each of all) if (each.kind === 'segment') said.push(each.text);
  };
  for (const { item, wait } of items) {
    take(stage.push(item));
    for (const look of [50, ...Object.values(WAITS)]) if (look <= wait) take(stage.flush(look, look));
  }
  take(stage.end());
  return said;
}

const markdown = () => new GrowingMarkdown({ code: 'announce', footnotes: 'read' }, '');
const segmenter = () =>
  new Segmenter({ voice: { maxChars: 1000 }, pace: 'sentence' }) as LiveStage<Piece, Segment | Rest>;
const bare = (texts: readonly string[]) => texts.join(' ').replace(/[^\p{L}\p{N}]+/gu, '');

test.each(Array.from({ length: 8 }, (_, at) => at))(
  'Answers as models write them are spoken once, in order, and never cut in a word (%i of 8).',
  (part) => {
    for (let number = 0; number < ANSWERS / 8; number += 1) {
      const random = randomFrom(SEED * 1000 + part * 100 + number);
      const text = answer(random);
      const live = spoken(
        inTurn<string, Piece, Segment | Rest>(markdown(), segmenter()),
        tokens(text, random).map(({ text, wait }) => ({ item: text, wait })),
      );
      const whole = spoken(inTurn<string, Piece, Segment | Rest>(markdown(), segmenter()), [
        { item: text, wait: 0 },
      ]);
      expect(bare(live)).toBe(bare(whole));
      for (const each of live) expect(each, text).not.toMatch(/\b(?:Dr|St|Fig|Sr|e\.g|p|Jan|z|z\. B)\.$/u);
    }
  },
  20_000,
);

test('Sentences of a paragraph are the same requests in Markdown as in text.', () => {
  for (let number = 0; number < ANSWERS / 4; number += 1) {
    const random = randomFrom(SEED * 2000 + number);
    const plain = SENTENCES.filter((sentence) => !/[*`[$]/u.test(sentence));
    const text = Array.from({ length: 4 }, () => plain[Math.floor(random() * plain.length)]).join(' ');
    const written = tokens(text, random);
    const asMarkdown = spoken(
      inTurn<string, Piece, Segment | Rest>(markdown(), segmenter()),
      written.map(({ text, wait }) => ({ item: text, wait })),
    );
    const asText = spoken(
      segmenter(),
      written.map(({ text, wait }) => ({
        item: { kind: 'text', text, place: { source: '' } } as const,
        wait,
      })),
    );
    expect(asMarkdown).toEqual(asText);
  }
});

test.each([
  ['**Done.**', WAITS.doubtful, 'Done.'],
  ['It is **done.**', WAITS.sentence, 'It is done.'],
  ['She said **"yes."**', WAITS.sentence, 'She said "yes."'],
  ['All is done! 😊', WAITS.sentence, 'All is done! 😊'],
  ['- One item.', WAITS.sentence, 'One item.'],
  ['1. One step.', WAITS.sentence, '1. One step.'],
  ['> A quote.', WAITS.sentence, 'A quote.'],
  ['- one\n- two\n', WAITS.line, 'one. two.'],
  ['## Answer\nFirst sentence here. ', WAITS.sentence, 'Answer. First sentence here.'],
  ['> Quote here.\n\nFirst sentence here. ', WAITS.sentence, 'Quote here. First sentence here.'],
  ['```sh\nls\n```\n', 0, 'Code in sh omitted.'],
  ['| a | b |\n|-|-|\n| 1 | 2 |\n', 0, 'a: 1, b: 2.'],
  ['你好，世界。这是', 0, '你好，世界。'],
  ['Read main.', WAITS.line, ''],
  ['Read main.py.', WAITS.line, ''],
  ['At 5 p.m.', WAITS.line, ''],
  ['At 5 p.m. ', WAITS.line, ''],
  ['Das kostet z. B. ', WAITS.doubtful, ''],
  ['The end..', WAITS.line, ''],
  ['Read main.', WAITS.doubtful, 'Read main.'],
])('What is complete leaves, and what may go on waits: %j, %d ms', (text, idle, expected) => {
  const stage = inTurn<string, Piece, Segment | Rest>(markdown(), segmenter());
  const said = [...stage.push(text), ...stage.flush(0), ...stage.flush(idle)];
  expect(said.map((each) => (each.kind === 'segment' ? each.text : '')).join(' ')).toBe(expected);
});

test('Behind 1.5 s a long first sentence leaves at its comma, and a later one does not.', () => {
  const stage = new Segmenter({ voice: { maxChars: 1000 }, pace: 'ramp' });
  const add = (text: string) => [...stage.push({ kind: 'text', text, place: { source: '' } })];
  const texts = (all: Iterable<Segment | Rest>) =>
    [...all].map((each) => (each.kind === 'segment' ? each.text : ''));
  add('When the first part of a sentence is as long as this, people wait for it, and');
  expect(texts(stage.flush(50, 1400))).toEqual([]);
  expect(texts(stage.flush(50, 1500))).toEqual([
    'When the first part of a sentence is as long as this, people wait for it,',
  ]);
  add(' that goes on and on for a long time without an end, as some do, so');
  expect(texts(stage.flush(50, 5000))).toEqual([]);
});
