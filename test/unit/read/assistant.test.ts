import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Unspoken } from '../../../src/read/assistant.ts';

function spoken(pieces: readonly string[]): string {
  const stage = new Unspoken();
  return [...pieces.flatMap((piece) => [...stage.push(piece)]), ...stage.end()].join('');
}

const CALL = '```json\n{"name": "ls", "arguments": {"path": "."}}\n```\n';

test.each([
  ['<think>\nHm. Let me see.\n</think>\nHello.', '\nHello.'],
  ['One. <thinking>no</thinking>Two.', 'One. Two.'],
  ['Let me look.\n<tool_call>{"name":"ls"}</tool_call>\nDone.', 'Let me look.\n\nDone.'],
  ['A thought without an end: <think>and so on', 'A thought without an end: '],
  ['Hm.</think>Hello.', 'Hm.Hello.'],
  ['<think>a <think>b</think> c</think>Hello.', 'Hello.'],
  ['<think>Is <think> a tag?</think>\n\nIt is.', '\n\nIt is.'],
  ['Look:\n```json\n{"arguments": {}, "name": "ls"}\n```\nDone.', 'Look:\nDone.'],
  ['1\ufe0f\u20e3 First.', '1 First.'],
  ['Models write `<think>` in code.', 'Models write `<think>` in code.'],
  ['5 < 6 and a <b>tag</b>.', '5 < 6 and a <b>tag</b>.'],
  [`Look:\n${CALL}Done.`, 'Look:\nDone.'],
  ['Data:\n```json\n{"a": 1}\n```\nDone.', 'Data:\n```json\n{"a": 1}\n```\nDone.'],
  ['Great! 😊👍🏽 Go on. 👨‍👩‍👧', 'Great!  Go on. '],
  ['© 2024 #1', '© 2024 #1'],
  ['Start.\n 10% [#   ]\r 50% [## ]\r100% [###]\nDone.', 'Start.\n100% [###]\nDone.'],
  ['One.\r\nTwo.', 'One.\r\nTwo.'],
])('What is not for the ear is left out: %j', (text, expected) => {
  expect(spoken([text])).toBe(expected);
  for (const size of [1, 2, 3, 7])
    expect(spoken(text.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [])).toBe(expected);
});

const bits = fc.constantFrom(
  '<think>',
  '</think>',
  '<',
  'tool_call>',
  '\n',
  '{"name": 1, "args": 2}',
  'word ',
  '😊',
);

test('The result does not depend on the pieces.', () =>
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 20 }), (all) => {
      expect(spoken(all)).toBe(spoken([all.join('')]));
    }),
  ));

test('Text leaves before its writer ends.', () => {
  const stage = new Unspoken();
  expect([...stage.push('Hello there. And')].join('')).toBe('Hello there. And');
});

test('Only a line that may be written over is held back, and not for ever.', () => {
  const stage = new Unspoken();
  const all = (text: string) => [...text].flatMap((character) => [...stage.push(character)]).join('');
  expect(all('Hello there. ')).toBe('Hello there. ');
  expect(all('It is 50% done. And so on. ')).toMatch(/And so on\. $/);
  expect(all('\n10%')).toBe('\n');
  expect([stage.isHolding, ...stage.flush(1000), ...stage.flush(2000)]).toEqual([true, '10%']);
  expect(stage.isHolding).toBe(false);
  expect([all('\n```json\n{\n'), stage.isHolding, ...stage.flush(2000)]).toEqual(['\n', false]);
});
