import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openMarkdown } from '../../../src/read/markdown.ts';
import { readerFor } from '../../../src/read/readers.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { Marks } from '../../../src/text/marks.ts';
import type { Piece } from '../../../src/text/piece.ts';
import { anyText } from './any-text.ts';

const PLACE = { source: 'play.txt', line: 1 };

/** The text as it is spoken, with what the marks say in braces. */
function inWords(pieces: Iterable<Piece>): string {
  const said: string[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'text') said.push(piece.text);
    else if (piece.kind === 'pause') said.push(`{${piece.seconds}}`);
    else if (piece.kind === 'voice') said.push(`{${piece.voice ?? '-'}}`);
    else if (piece.kind === 'chapter') said.push(`{# ${piece.title}}`);
    else if (piece.kind === 'paragraph') said.push('\n\n');
  }
  return said.join('');
}

/** Lifts the marks of a text that comes in pieces, and places them at once. */
function* pieces(texts: readonly string[]): Generator<Piece> {
  const marks = new Marks({ source: PLACE.source });
  const lift = marks.lift();
  const place = marks.place();
  let line = 1;
  const placed = function* (lifted: Iterable<string>) {
    for (const text of lifted) {
      yield* place.push({ kind: 'text', text, place: { ...PLACE, line } });
      line += text.split('\n').length - 1;
    }
  };
  for (const text of texts) yield* placed(lift.push(text));
  yield* placed(lift.end());
}

function marked(...texts: string[]): string {
  return inWords(pieces(texts));
}

/** @returns what is said in front of the fault, and the message */
function faultOf(text: string): readonly [said: string, message: string] {
  const said: Piece[] = [];
  try {
    for (const piece of pieces([text])) said.push(piece);
  } catch (error) {
    return [inWords(said), (error as Error).message];
  }
  throw new Error(`no fault in ${text}`);
}

const MARKS: readonly (readonly [text: string, expected: string])[] = [
  ['a [pause:1.5s] b', 'a {1.5} b'],
  ['[pause:300ms][pause:2][pause]', '{0.3}{2}{1}'],
  ['[PAUSE: .5 S ]', '{0.5}'],
  ['[pause:60] [pause:0s]', '{60} {0}'],
  ['[voice:anna]Hi.[voice] So [Voice:engine:de] x [/voice] y', '{anna}Hi.{-} So {engine:de} x {-} y'],
  ['[voice:Ann Lee]', '{Ann Lee}'],
  ['[chapter:The [End]', '{# The [End}'],
  ['\\[pause] is written \\\\[pause].', '[pause] is written \\{1}.'],
  ['\\\\\\[pause:1] \\[1] \\\\[sic] \\n \\', '\\[pause:1] [1] \\[sic] \\n \\'],
  ['x [1] [sic] [pauses] [voices: two] [voice-over] [breaking] [speedy] [voice’s]', ''],
  ['[', ''],
  ['[pau', ''],
  ['[Voice of reason\nand so on]', ''],
  ['an [ open', ''],
  ['\u{f0000}a\u{10ffff}[pause]', '\u{f0000}a\u{10ffff}{1}'],
].map(([text = '', expected = '']) => [text, expected || text]);

describe('marks', () => {
  it.each(MARKS)('of %j', (text, expected) => {
    expect(marked(text)).toBe(expected);
    expect(marked(...text)).toBe(expected);
    for (let at = 1; at < text.length; at += 1)
      if (!/[\ud800-\udbff]/.test(text.charAt(at - 1)))
        expect(marked(text.slice(0, at), text.slice(at)), `cut at ${at}`).toBe(expected);
  });

  it.each([
    ['[pause=1.5]', '[pause=1.5] is not a mark'],
    ['[pause 1]', '[pause 1] is not a mark'],
    ['[Pause:abc]', '[Pause:abc] is not a mark'],
    ['[pause:]', '[pause:] is not a mark'],
    ['[pause:-1]', '[pause:-1] is not a mark'],
    ['[pause:1,5]', '[pause:1,5] is not a mark'],
    ['[pause:1m]', '[pause:1m] is not a mark'],
    ['[ pause:1]', '[ pause:1] is not a mark'],
    ['[/pause]', '[/pause] is not a mark'],
    ['[pause:61]', '[pause:61] is longer than 60 s'],
    ['[voice anna]', '[voice anna] is not a mark'],
    ['[voice:]', '[voice:] is not a mark'],
    ['[/voice:anna]', '[/voice:anna] is not a mark'],
    ['[chapter]', '[chapter] is not a mark'],
    ['[chapter: ]', '[chapter: ] is not a mark'],
    ['[rate:1.2]', 'there is no mark [rate]'],
    ['[speed:2]', 'there is no mark [speed]'],
    ['[break]', 'there is no mark [break]'],
    ['[break time="1s"]', '[break time="1s"] is not a mark'],
    ['[voice:anna', 'the mark [voice has no end'],
    ['[voice:an\nna]', 'the mark [voice has no end'],
    [`[voice:${'a'.repeat(300)}]`, 'the mark [voice has no end'],
  ])('that are none end the text where they stand: %s', (mark, message) => {
    const expected = ['One.\nTwo. {0}', `play.txt, line 2, column 6: ${message}`];
    expect(faultOf(`One.\nTwo. ${mark} Three.`)).toEqual(expected);
  });

  it('are found when they come, and a checker hears of them at once', () => {
    const found: string[] = [];
    const marks = new Marks({
      source: '',
      onMark: ({ kind }, { line, column }) => found.push(`${kind} ${line}:${column}`),
    });
    const stage = marks.lift();
    for (const text of ['a\n[pau', 'se][voice:x] [1]\n\n', ' [break]']) for (const _ of stage.push(text));
    for (const _ of stage.end());
    expect(found).toEqual(['pause 2:1', 'voice 2:8', 'fault 4:2']);
  });

  it('leave any text without a mark as it is', () =>
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 5 }), (texts) => {
        const text = texts.join('');
        expect(marked(...texts)).toBe(text.replaceAll('\\[', '['));
      }),
    ));
});

describe('the titles that readers make', () => {
  it.each([
    ['# [voice:x]A *title* [pause:2]\n\nText.', '{# A title}'],
    ['# What? [pause]\n\nText.', '{# What?}'],
  ])('have no marks: %j', async (words, expected) => {
    const marks = new Marks({ source: '' });
    const { signal } = new AbortController();
    const options = { code: 'read', footnotes: 'read', hasChapters: true } as const;
    const reading = await readerFor('', 'markdown', options as never)(wordsSource(words), signal);
    const place = marks.place();
    const all: Piece[] = [];
    for await (const piece of reading.pieces(signal, { filter: marks.lift() }))
      all.push(...place.push(piece));
    expect(inWords(all.filter(({ kind }) => kind === 'chapter').slice(0, 1))).toBe(expected);
  });
});

async function read(markdown: string): Promise<string> {
  const marks = new Marks({ source: '' });
  const { signal } = new AbortController();
  const options = { code: 'read', footnotes: 'read' } as const;
  const reading = await openMarkdown(wordsSource(markdown), options as never, signal);
  const place = marks.place();
  const all: Piece[] = [];
  for await (const piece of reading.pieces(signal, { filter: marks.lift() })) all.push(...place.push(piece));
  return inWords(all);
}

describe('marks in Markdown', () => {
  it.each([
    ['**[pause]One** and *two[pause:2]*.', '{1}One and two{2}.'],
    ['A [link[pause]](https://example.com) here', 'A link{1} here'],
    ['See https://example.com[pause:1s] now', 'See example.com{1} now'],
    ['<https://example.com/a[pause:1s]>', 'example.com{1}'],
    ['`code[pause]`', 'code{1}'],
    ['```\ncode [voice:anna]\n```', 'code {anna}'],
    ['# Title [pause:2]\n\nText.', 'Title. {2}\n\nText.'],
    ['# [voice:anna]\n\nText.', '{anna}\n\nText.'],
    ['- one [pause]\n- [voice:anna] two', 'one. {1}\n{anna} two.'],
    ['| A | B |\n|---|---|\n| [pause] | b[voice:x] |\n| c | d |', 'A: {1}, B: b.{x}\nA: c, B: d.'],
    ['\\[text](url) and \\\\[pause]', '[text](url) and \\{1}'],
    ['[voice:anna]\n\nHi.\n\n[voice]\n\nBye.', '{anna}\n\nHi.\n\n{-}\n\nBye.'],
    ['Note[^1] here.\n\n[^1]: It [pause] says.', 'Note (It {1} says) here.'],
    ['[pause] [voice:x] and [Voice:y][1]', '{1} {x} and {y}[1]'],
  ])('%j', async (markdown, expected) => {
    expect(await read(markdown)).toBe(expected);
  });
});
