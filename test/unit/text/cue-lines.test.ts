import { expect, it } from 'vitest';
import { cueTexts, linesOf } from '../../../src/text/cue-lines.ts';

const SENTENCE =
  'The quick brown fox jumps over the lazy dog, and nobody knows why it does so every day of the year. ';

const columnsOf = (line: string) =>
  Array.from(line).reduce(
    (sum, each) => sum + (/[\u3000-\u9fff\uac00-\ud7a3\uff00-\uffef]/.test(each) ? 2 : 1),
    0,
  );

it.each([
  ['one long sentence', SENTENCE.trim(), 6],
  ['many sentences', `${SENTENCE}It does. ${SENTENCE}`.trim(), 15],
  ['a text without spaces', '天地玄黄宇宙洪荒。'.repeat(20), 40],
  ['Chinese in clauses', '他推开门，外面下着大雨，街上一个人也没有，只有一盏灯还亮着，像是在等谁回来。', 9],
  ['Japanese', '彼は窓を開けて、静かに外を見た。雨はまだ降り続いていて、通りには誰もいなかった。', 8],
  [
    'Korean',
    '그는 문을 열고 밖으로 나갔다. 비가 내리고 있었고, 거리에는 아무도 없었다. '.repeat(3).trim(),
    20,
  ],
  ['Thai', 'เขาเปิดประตูแล้วเดินออกไปข้างนอกฝนกำลังตกและไม่มีใครอยู่บนถนนเลยแม้แต่คนเดียว', 9],
  [
    'words among wide characters',
    '我们用 TypeScript 写程序，然后在 Node.js 上运行它，最后把结果写进文件。'.repeat(2),
    12,
  ],
  ['a slow text', 'One two three four five six seven.', 30],
  ['a word without an end', 'x'.repeat(500), 20],
])('Cues have at most two lines of 42 characters and 7 s: %s', (_, text, seconds) => {
  const cues = cueTexts(text, seconds);
  expect(cues.length).toBeGreaterThan(1);
  expect(cues.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
  const all = Array.from(text).length;
  for (const cue of cues) {
    expect(linesOf(cue).length).toBeLessThanOrEqual(2);
    for (const line of linesOf(cue)) expect(columnsOf(line)).toBeLessThanOrEqual(42);
    expect((seconds * Array.from(cue).length) / all).toBeLessThanOrEqual(7);
  }
});

it('A text that fits stays one cue, and parts of a long sentence have about the same length.', () => {
  expect(cueTexts('Short. And one more.', 3)).toEqual(['Short. And one more.']);
  const [first = '', second = ''] = cueTexts(SENTENCE.trim(), 6);
  expect(Math.abs(first.length - second.length)).toBeLessThan(20);
  expect(cueTexts(`Short one. ${SENTENCE}`.trim(), 6.5)[0]).toMatch(/^Short one\./);
});

it('No space is lost where parts of a sentence become one cue again.', () => {
  const text = `${SENTENCE}It does.`;
  for (let seconds = 6; seconds < 9; seconds += 0.01) expect(cueTexts(text, seconds).join(' ')).toBe(text);
});

it.each([
  [
    '第一句话说完了。第二句话比第一句话要长得多，它说了很多事情，可是没有人听。',
    ['第一句话说完了。', '第二句话比第一句话要长得多，它说了很多事情，可是没有人听。'],
  ],
  ['One. 二。 Three.', ['One. 二。', 'Three.']],
])('Sentences stay whole where they fit: %s', (text, expected) => {
  expect(cueTexts(text, 8)).toEqual(expected);
});

it.each([
  ['He had never seen anything like it before', ['He had never seen anything like it before']],
  ['He had never seen anything like it before now', ['He had never seen anything', 'like it before now']],
  [
    'When the rain stopped, they all went out to look for the dog',
    ['When the rain stopped,', 'they all went out to look for the dog'],
  ],
  ['I would have told you at once, had I known', ['I would have told you at once, had I known']],
  [
    '他推开门，外面下着大雨，街上一个人也没有，只有灯',
    ['他推开门，外面下着大雨，', '街上一个人也没有，只有灯'],
  ],
  [
    '「こんにちは」と彼女は静かな声で言って、部屋を出た。',
    ['「こんにちは」と彼女は静か', 'な声で言って、部屋を出た。'],
  ],
])('Lines end where a clause ends, and no last word is alone: %s', (text, expected) => {
  expect(linesOf(text)).toEqual(expected);
});
