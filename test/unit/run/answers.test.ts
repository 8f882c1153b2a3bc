import { expect, test } from 'vitest';
import { GrowingMarkdown } from '../../../src/read/markdown.ts';
import { Cutter } from '../../../src/text/cut.ts';
import type { Piece } from '../../../src/text/piece.ts';
import type { Segment, Silence } from '../../../src/text/segment.ts';
import { inTurn, type Stage, WAITS } from '../../../src/text/stage.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { randomFrom, SEED } from '../../support/random.ts';
import { silent } from '../../support/speaker.ts';
import { answer, SENTENCES, tokens } from './answer-of.ts';

const ANSWERS = 160;

/** What is spoken of tokens, with the looks that a driver takes while it waits. */
function spoken<In>(
  stage: Stage<In, Segment | Silence>,
  items: readonly { item: In; wait: number }[],
): string[] {
  const said: string[] = [];
  const take = (all: Iterable<Segment | Silence>) => {
    for (const each of all) if (each.kind === 'segment') said.push(each.text);
  };
  for (const { item, wait } of items) {
    take(stage.push(item));
    for (const look of [50, ...Object.values(WAITS)]) if (look <= wait) take(stage.flush?.(look, look) ?? []);
  }
  take(stage.end());
  return said;
}

const markdown = () => new GrowingMarkdown({ code: 'announce', footnotes: 'read' }, '');
const segmenter = () =>
  new Cutter({ voice: asRole(silent), pace: 'sentence' }) as Stage<Piece, Segment | Silence>;
/** What is spoken of each line, where each item and each row is one. */
function byLine(text: string): string[][] {
  const stage = markdown();
  const lines: Piece[][] = [[]];
  for (const piece of [...stage.push(text), ...stage.end()])
    if (piece.kind === 'paragraph') lines.push([]);
    else if (piece.kind !== 'text') lines.at(-1)?.push(piece);
    else
      for (const [at, line] of piece.text.split('\n').entries()) {
        if (at > 0) lines.push([]);
        lines.at(-1)?.push({ ...piece, text: line });
      }
  return lines.map((pieces) =>
    spoken(
      segmenter(),
      pieces.map((item) => ({ item, wait: 0 })),
    ),
  );
}

const LETTERS = /[^\p{L}\p{N}]+/gu;

/** A text, and the places in it where one request ends and the next one begins, counted in letters. */
function cutOf(texts: readonly string[]) {
  let at = 0;
  const cuts = texts.map((text) => {
    at += text.replace(LETTERS, '').length;
    return at;
  });
  // A pause between a link and its address shows the brackets.
  return { text: texts.join(' ').replace(/[[\]]/gu, '').replaceAll('\n', ' '), cuts };
}

test.each(Array.from({ length: 8 }, (_, at) => at))(
  'Answers as models write them are spoken once, in order, and cut between sentences alone (%i of 8).',
  (part) => {
    for (let number = 0; number < ANSWERS / 8; number += 1) {
      const random = randomFrom(SEED * 1000 + part * 100 + number);
      const text = answer(random);
      const live = spoken(
        inTurn<string, Piece, Segment | Silence>(markdown(), segmenter()),
        tokens(text, random).map(({ text, wait }) => ({ item: text, wait })),
      );
      const whole = spoken(inTurn<string, Piece, Segment | Silence>(markdown(), segmenter()), [
        { item: text, wait: 0 },
      ]);
      const lines = byLine(text);
      const every = cutOf(lines.flat());
      const borders = new Set(cutOf(lines.map((each) => each.join(' '))).cuts);
      for (const requests of [live, whole]) {
        const mine = cutOf(requests);
        expect(mine.text).toBe(every.text);
        // Words may follow what is said, and a writer may pause in front of them.
        const cuts = mine.cuts.filter((_, at) => !requests[at]?.endsWith('"'));
        expect(every.cuts).toEqual(expect.arrayContaining(cuts));
        expect(mine.cuts).toEqual(expect.arrayContaining(every.cuts.filter((cut) => !borders.has(cut))));
      }
    }
  },
);

test('Sentences of a paragraph are the same requests in Markdown as in text.', () => {
  for (let number = 0; number < ANSWERS / 4; number += 1) {
    const random = randomFrom(SEED * 2000 + number);
    const plain = SENTENCES.filter((sentence) => !/[*`[$]/u.test(sentence));
    const text = Array.from({ length: 4 }, () => plain[Math.floor(random() * plain.length)]).join(' ');
    const written = tokens(text, random);
    const asMarkdown = spoken(
      inTurn<string, Piece, Segment | Silence>(markdown(), segmenter()),
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
  ['- All is done! 😊\n- Next', 0, 'All is done! 😊'],
  ['She said **', WAITS.line, ''],
  ['- One item.', WAITS.sentence, 'One item.'],
  ['1. One step.', WAITS.sentence, '1. One step.'],
  ['> A quote.', WAITS.sentence, 'A quote.'],
  ['- one\n- two\n', WAITS.line, 'one. two.'],
  ['## Answer\nFirst sentence here. ', WAITS.sentence, 'Answer. First sentence here.'],
  ['> Quote here.\n\nFirst sentence here. ', WAITS.sentence, 'Quote here. First sentence here.'],
  ['```sh\nls\n```\n', 0, 'Code in sh omitted.'],
  ['| a | b |\n|-|-|\n| 1 | 2 |\n', 0, 'a: 1, b: 2.'],
  ['| a | b |\n|-|-|\n| one | two |', WAITS.line, 'a: one, b: two.'],
  ['| a | b |\n|-|-|\n| one |', WAITS.doubtful, ''],
  ['你好，世界。这是', 0, '你好，世界。'],
  ['Read main.', WAITS.line, ''],
  ['Read main.py.', WAITS.line, ''],
  ['At 5 p.m.', WAITS.line, ''],
  ['At 5 p.m. ', WAITS.line, ''],
  ['Das kostet z. B. ', WAITS.doubtful, ''],
  ['The end..', WAITS.line, ''],
  ['Read main.', WAITS.doubtful, 'Read main.'],
])('What is complete leaves, and what may go on waits: %j, %d ms', (text, idle, expected) => {
  const stage = inTurn<string, Piece, Segment | Silence>(markdown(), segmenter());
  const said = [...stage.push(text), ...(stage.flush?.(0) ?? []), ...(stage.flush?.(idle) ?? [])];
  expect(said.map((each) => (each.kind === 'segment' ? each.text : '')).join(' ')).toBe(expected);
});

test('After 1.5 s a long first sentence leaves at its comma, and a later one does not.', () => {
  const stage = new Cutter({ voice: asRole(silent), pace: 'ramp' });
  const add = (text: string) => [...stage.push({ kind: 'text', text, place: { source: '' } })];
  const texts = (all: Iterable<Segment | Silence>) =>
    [...all].map((each) => (each.kind === 'segment' ? each.text : ''));
  add('When the first part of a sentence is as long as this, people wait for it, and');
  expect(texts(stage.flush(50, 1400))).toEqual([]);
  expect(texts(stage.flush(50, 1500))).toEqual([
    'When the first part of a sentence is as long as this, people wait for it,',
  ]);
  add(' that goes on and on for a long time without an end, as some do, so');
  expect(texts(stage.flush(50, 5000))).toEqual([]);
});
