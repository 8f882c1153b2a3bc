import { describe, expect, it } from 'vitest';
import { Dialogue } from '../../../src/text/dialogue.ts';
import type { Piece } from '../../../src/text/piece.ts';
import { passed, textPiece as text } from './pieces.ts';

const NAMES = ['Alice', 'Alice Lee', 'Боб', '爱丽丝', 'José', 'Zoe\u0301'];

/** The text as it is spoken, with the voices in braces. */
function said(pieces: readonly Piece[], names: readonly string[]): readonly [string, readonly string[]] {
  const found = new Set<string>();
  const dialogue = new Dialogue(names, (name) => found.add(name));
  const words = passed(dialogue, pieces).map((piece) => {
    if (piece.kind === 'text') return piece.text;
    if (piece.kind === 'voice') return `{${piece.voice ?? '-'}}`;
    return piece.kind === 'paragraph' ? '\n\n' : '';
  });
  return [words.join(''), [...found]];
}

const PLACE = { source: '', line: 1 };

describe('a dialogue', () => {
  it.each([
    ['Alice: Hi.\nBye.\n\nThe end.', '{Alice}Hi.\nBye.\n\n{-}The end.'],
    ['Alice: Hi.\nБоб: Привет.\n', '{Alice}Hi.\n{Боб}Привет.\n'],
    ['  Alice Lee: Hi.', '{Alice Lee}Hi.'],
    ['爱丽丝：你好。', '{爱丽丝}你好。'],
    ['Jos\u00e9: Hola.\nJose\u0301: Adiós.\nZo\u00e9: Oui.', '{José}Hola.\n{José}Adiós.\n{Zoe\u0301}Oui.'],
    ['Alice : Bonjour.', '{Alice}Bonjour.'],
    ['Alice:\nHi.', '{Alice}\nHi.'],
    [
      'A line. Alice: no.\nAlice:no.\nalice: no.\nAlicea: no.\nAlice',
      'A line. Alice: no.\nAlice:no.\nalice: no.\nAlicea: no.\nAlice',
    ],
    ['Note: this.\nBob: that.', 'Note: this.\nBob: that.'],
    ['Alice (laughing): Hi.\nAlice (laughing) hi.', '{Alice}Hi.\nAlice (laughing) hi.'],
    ['**Alice:** Hi.\n**Alice**: Hi.\n*Alice Lee:* Hi.', '{Alice}Hi.\n{Alice}Hi.\n{Alice Lee}Hi.'],
    ['**Alice** (low): A.\n**Alice (low):** B.\n__Alice (low)__: C.', '{Alice}A.\n{Alice}B.\n{Alice}C.'],
    ['**Alice: no.\n*Alice* no: no.\n** Alice:** no.', '**Alice: no.\n*Alice* no: no.\n** Alice:** no.'],
  ])('of %j, cut at any place', (play, expected) => {
    expect(said([text(play)], NAMES)[0]).toBe(expected);
    expect(
      said(
        [...play].map((letter) => text(letter)),
        NAMES,
      )[0],
    ).toBe(expected);
  });

  it.each([
    ['Carl: Hi.', '{*Carl}Hi.'],
    ['Mr. Carl de Smith: no.\nMr. Carl Smith: Hi.', 'Mr. Carl de Smith: no.\n{*Mr. Carl Smith}Hi.'],
    ['At ten: no. Hello there.', 'At ten: no. Hello there.'],
    ['Alice: Hi.\nBob: Ho.', '{Alice}Hi.\n{*Bob}Ho.'],
    ['BOB (off): Hi.\n**Bob:** Ho.', '{*BOB}Hi.\n{*Bob}Ho.'],
    ['**Bob** (off): Hi.\n**爱丽丝：**你好。', '{*Bob}Hi.\n{*爱丽丝}你好。'],
  ])('with others, of %j, cut at any place', (play, expected) => {
    expect(said([text(play)], ['Alice', '*'])[0]).toBe(expected);
    expect(
      said(
        [...play].map((letter) => text(letter)),
        ['Alice', '*'],
      )[0],
    ).toBe(expected);
  });

  it('tells the lines of names that are not listed', () => {
    const unlisted: string[] = [];
    const dialogue = new Dialogue(
      ['Alice'],
      () => {},
      (name) => void unlisted.push(name),
    );
    const play = 'Alice: Hi.\nBOB (off): Ho.\n**Mr. Carl:** Hm.\nBOB: Ho.\nAt ten: no.\n(one): no.';
    for (const _ of dialogue.push(text(play)));
    expect(unlisted).toEqual(['BOB', 'Mr. Carl', 'BOB']);
  });

  it('knows paragraphs of other formats, and goes back to the voice of a mark', () => {
    const pieces: Piece[] = [
      { kind: 'voice', voice: 'anna', place: PLACE },
      text('Alice: Hi.'),
      { kind: 'paragraph' },
      text('So.'),
      { kind: 'heading', level: 1 },
      text('Alice: Ho.'),
    ];
    expect(said(pieces, NAMES)).toEqual(['{anna}{Alice}Hi.{anna}\n\nSo.{Alice}Ho.', ['Alice']]);
  });

  it('holds back no more than what may become a name', () => {
    const dialogue = new Dialogue(['Alice', '*'], () => {});
    const push = (words: string) => [...dialogue.push(text(words))].map((piece) => piece.kind);
    expect(push('Ali')).toEqual([]);
    expect(push('ve again')).toEqual(['text']);
    expect(push('.\nHello there')).toEqual(['text', 'text']);
  });
});
