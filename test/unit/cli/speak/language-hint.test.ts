import { expect, it } from 'vitest';
import { languageHint } from '../../../../src/cli/speak/language-hint.ts';

it.each([
  ['de', 'en-US', 'the book is in German, and the voice speaks English: -s de takes a voice that fits'],
  ['deu', 'en', 'the book is in German, and the voice speaks English: -s de takes a voice that fits'],
  ['en_GB', 'en-us', undefined],
  ['cmn', 'zh', undefined],
  ['nb-NO', 'no', undefined],
  ['mul', 'en', undefined],
  ['in English, mostly', 'de', undefined],
  ['', 'de', undefined],
  [undefined, 'de', undefined],
  ['de', undefined, undefined],
  ['de', 'und', undefined],
])('A book in %j and a voice of %j: %j', (book, voice, hint) => {
  expect(languageHint({ language: book }, { language: voice })).toBe(hint);
});
