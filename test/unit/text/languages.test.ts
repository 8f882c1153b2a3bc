import { describe, expect, it } from 'vitest';
import { Languages } from '../../../src/text/languages.ts';
import type { Piece } from '../../../src/text/piece.ts';
import { baseLanguage, voiceForLanguage } from '../../../src/voices/language.ts';
import { PASSAGES } from './passages.ts';

const place = { source: '' };

function stage(named: string, usual: string | undefined = 'en'): Languages {
  const languages = named.split(',').map((key) => ({ key, code: baseLanguage(key) ?? key, language: key }));
  return new Languages({
    named: languages,
    usual,
    meantBy: (tag) => voiceForLanguage(tag, [languages])?.key ?? '',
  });
}

/** UTF-16 units in one piece, as readers give them. */
const WHOLE = 4096;

function* piecesOf(text: string, size = WHOLE): Generator<Piece> {
  for (let at = 0; at < text.length; at += size)
    yield { kind: 'text', text: text.slice(at, at + size), place };
}

/** Texts with the languages that speak them; "" is the voice of the run. */
function spoken(pieces: Iterable<Piece>, languages: Languages): [language: string, text: string][] {
  const found: [string, string][] = [];
  let language = '';
  const take = (out: Iterable<Piece>) => {
    for (const piece of out) {
      if (piece.kind === 'voice') language = piece.voice ?? piece.language ?? '';
      if (piece.kind !== 'text') continue;
      const last = found.at(-1);
      if (last?.[0] === language) last[1] += piece.text;
      else found.push([language, piece.text]);
    }
  };
  for (const piece of pieces) take(languages.push(piece));
  take(languages.end());
  return found;
}

const ALL = Object.entries(PASSAGES).flatMap(([language, texts]) =>
  texts.map((text) => ({ language, text })),
);
const EIGHT = ['en', 'de', 'fr', 'es', 'it', 'nl', 'ru', 'ja'];

/** The same order each time, in which few neighbours have one language. */
function shuffled<T>(items: readonly T[], step: number): T[] {
  const left = [...items];
  const order: T[] = [];
  for (let at = 0; left.length > 0; at += step) order.push(...left.splice(at % left.length, 1));
  return order;
}

/** @returns what is spoken in another language than it is written in */
function faults(passages: typeof ALL, named: string, size: number): string[] {
  const text = passages.map((passage) => passage.text).join('\n\n');
  const found = spoken(piecesOf(text, size), stage(named));
  expect(found.map(([, part]) => part).join('')).toBe(text);
  const byLanguage = found.flatMap(([language, part]) =>
    part.split('\n\n').flatMap((each) => (each.trim() === '' ? [] : [[language || 'en', each.trim()]])),
  );
  const right = new Set(passages.map((passage) => `${passage.language} ${passage.text}`));
  return byLanguage.map((pair) => pair.join(' ')).filter((each) => !right.has(each));
}

describe('Of the passages of a mixed text, at most one of a hundred has the voice of another language.', () => {
  const eight = ALL.filter(({ language }) => EIGHT.includes(language));
  it.each([37, 11, 53, 71, 97])('eight languages, in order %i', (step) => {
    expect(eight.length).toBeGreaterThanOrEqual(100);
    const wrong = faults(shuffled(eight, step), 'de,fr,es,it,nl,ru,ja', step === 11 ? 100 : WHOLE);
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(eight.length / 100);
  });

  it('all that are written here', () => {
    const wrong = faults(shuffled(ALL, 37), Object.keys(PASSAGES).slice(1).join(), WHOLE);
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(ALL.length / 100);
  });

  it('one voice among texts that it must not take', () => {
    const others = ALL.filter(({ language }) => language !== 'de');
    const text = shuffled(others, 37)
      .map((passage) => passage.text)
      .join('\n\n');
    const wrong = spoken(piecesOf(text), stage('de')).filter(([language]) => language !== '');
    expect(wrong.length, JSON.stringify(wrong)).toBeLessThanOrEqual(others.length / 100);
  });
});

const DE = 'Der Zug hatte Verspätung. Wir warteten lange.';
const EN = 'The train was late that day. We waited for a long time.';
const FR = 'Le train avait du retard ce jour-là. Nous avons attendu longtemps.';
const lines = (...paragraphs: string[]) => paragraphs.join('\n\n');

/** Each part with the language that speaks it, where that is not the voice of the run. */
function shown(parts: readonly (readonly [string, string])[]): string {
  return parts.map(([language, text]) => (language === '' ? text : `<${language}:${text}>`)).join('');
}

describe('A passage', () => {
  it.each([
    // Short ones go with those around them.
    ['de', lines(DE, 'Ja.', DE), `<de:${lines(DE, 'Ja.', DE)}>`],
    ['de', lines(EN, 'Yes.', EN), lines(EN, 'Yes.', EN)],
    ['de', lines(EN, 'So it was.', DE), `${lines(EN, 'So it was.', '')}<de:${DE}>`],
    ['de', lines('Kapitel 1', DE), `<de:${lines('Kapitel 1', DE)}>`],
    ['de', lines(DE, 'Ende'), `<de:${lines(DE, 'Ende')}>`],
    ['de', 'Guten Tag', 'Guten Tag'],
    ['de', 'Ja. Nein.', 'Ja. Nein.'],
    ['de', '1999', '1999'],
    ['de', '', ''],
    ['de', '  \n\n ', '  \n\n '],
    ['de', lines(DE, '* * *', '1. 2. 3.', DE), `<de:${lines(DE, '* * *', '1. 2. 3.', DE)}>`],
    // Sentences of sixty letters within a paragraph.
    [
      'de',
      'He read it out loud to everybody who was in the room that evening. Die Würde des Menschen ist unantastbar, und sie zu achten ist Pflicht aller. Then he sat down again without looking at any of us, and it was quiet.',
      'He read it out loud to everybody who was in the room that evening. <de:Die Würde des Menschen ist unantastbar, und sie zu achten ist Pflicht aller. >Then he sat down again without looking at any of us, and it was quiet.',
    ],
    // A third language stays with the voice of the run.
    ['de', lines(DE, FR, DE), `<de:${lines(DE, '')}>${lines(FR, '')}<de:${DE}>`],
    ['fr', lines(DE, FR), `${lines(DE, '')}<fr:${FR}>`],
    ['fr-CA', lines(EN, FR), `${lines(EN, '')}<fr-CA:${FR}>`],
    // Names, commands and numbers are no language.
    ['de', 'Alice Bob Carol. John Smith.', 'Alice Bob Carol. John Smith.'],
    [
      'de',
      lines(EN, 'npm install --save-dev foo. git push origin main.', EN),
      lines(EN, 'npm install --save-dev foo. git push origin main.', EN),
    ],
    // Scripts are certain.
    ['ru', 'The word привет means hello.', 'The word <ru:привет> means hello.'],
    ['ru', 'She wrote “Привет, мир!” on the wall.', 'She wrote <ru:“Привет, мир!”> on the wall.'],
    ['ja', 'He said 「こんにちは」 and left.', 'He said <ja:「こんにちは」> and left.'],
    ['ja', 'iPhoneを買いました。', '<ja:iPhoneを買いました。>'],
    ['ru', 'Компания Apple выпустила новый телефон.', '<ru:Компания Apple выпустила новый телефон.>'],
    ['ja', '東京', '<ja:東京>'],
    ['zh', '东京', '<zh:东京>'],
    [
      'ja,zh',
      lines('第一章', 'これは日本語の文章です。'),
      `<ja:${lines('第一章', 'これは日本語の文章です。')}>`,
    ],
    [
      'ja,zh',
      lines('这是一个中文句子，没有假名。', 'これは日本語です。'),
      `<zh:${lines('这是一个中文句子，没有假名。', '')}><ja:これは日本語です。>`,
    ],
    ['zh', 'これは日本語の文章です。', 'これは日本語の文章です。'],
    ['ko', '안녕하세요', '<ko:안녕하세요>'],
    ['el', 'The angle α and the word λόγος.', 'The angle α and the word <el:λόγος.>'],
    ['ar', 'مرحبا', '<ar:مرحبا>'],
    ['he', 'Shalom (שלום) to all.', 'Shalom <he:(שלום)> to all.'],
    ['th', 'สวัสดี', '<th:สวัสดี>'],
    ['hi', 'नमस्ते', '<hi:नमस्ते>'],
    ['uk', 'Привет', '<uk:Привет>'],
    [
      'ru,uk',
      'Ми поїхали до міста, щоб купити хліб і молоко.',
      '<uk:Ми поїхали до міста, щоб купити хліб і молоко.>',
    ],
    [
      'ru,uk',
      'Мы поехали в город, чтобы купить хлеб и молоко.',
      '<ru:Мы поехали в город, чтобы купить хлеб и молоко.>',
    ],
    ['de', 'The word привет means hello.', 'The word привет means hello.'],
    ['ru', 'Привет\n\nHello', '<ru:Привет\n\n>Hello'],
  ])('with voices for %s: %j', (named, text, expected) => {
    expect(shown(spoken(piecesOf(text), stage(named)))).toBe(expected);
    const inParts = spoken(piecesOf(text, 7), stage(named));
    expect(inParts.map(([, part]) => part).join('')).toBe(text);
  });

  it('of a voice whose language is not known: what has no voice of its own stays there', () => {
    const text = lines(EN, DE, FR);
    expect(shown(spoken(piecesOf(text), stage('de', undefined)))).toBe(
      `${lines(EN, '')}<de:${lines(DE, '')}>${FR}`,
    );
  });

  it('of a Russian voice: Latin ones get theirs', () => {
    const text = lines('Поезд опоздал.', EN, 'Мы ждали.');
    expect(shown(spoken(piecesOf(text), stage('en,ja', 'ru')))).toBe(
      `${lines('Поезд опоздал.', '')}<en:${lines(EN, '')}>Мы ждали.`,
    );
  });
});

describe('What a document marks', () => {
  const says = (language: string | undefined, isWhole = false): Piece => ({
    kind: 'language',
    language,
    isWhole,
  });
  const text = (words: string): Piece => ({ kind: 'text', text: words, place });
  const voice = (name: string | undefined): Piece => ({ kind: 'voice', voice: name, place });
  const end: Piece = { kind: 'paragraph' };
  const heading: Piece = { kind: 'heading', level: 1 };
  const cases: [what: string, named: string, pieces: Piece[], expected: string][] = [
    [
      'a word',
      'fr',
      [text('He said '), says('fr'), text('oui'), says(undefined), text(' and left.')],
      'He said <fr:oui> and left.',
    ],
    ['before statistics', 'de,fr', [says('fr'), text(DE)], `<fr:${DE}>`],
    ['a region', 'de', [says('de-AT'), text('Servus')], '<de:Servus>'],
    ['the nearer region', 'de,de-AT', [says('de-AT'), text('Servus')], '<de-AT:Servus>'],
    ['a language without a voice', 'fr', [says('it'), text(FR)], FR],
    ['the language of the run', 'de', [says('en'), text(DE)], DE],
    [
      'a script that it is not written in',
      'ru',
      [says('en'), text('The word привет')],
      'The word <ru:привет>',
    ],
    [
      'all of the document, as far as nothing else is known',
      'de',
      [says('de', true), text('Kurz.')],
      '<de:Kurz.>',
    ],
    [
      'all of it, against statistics',
      'de',
      [says('de', true), text(EN), end, text('Kurz.'), end, text(DE)],
      `${EN}<de:Kurz.${DE}>`,
    ],
    [
      'a heading goes with what follows',
      'de',
      [text(EN), heading, text('Anfang.'), heading, text(DE)],
      `${EN}<de:Anfang.${DE}>`,
    ],
    [
      'a voice that the text names',
      'de',
      [voice('bob'), text(DE), says('de'), text('Ja.'), voice(undefined), says(undefined), text(DE)],
      `<bob:${DE}Ja.><de:${DE}>`,
    ],
  ];
  it.each(cases)('%s', (_, named, pieces, expected) => {
    expect(shown(spoken(pieces, stage(named)))).toBe(expected);
  });

  it('A pause keeps its place, and a writer who waits is not waited for.', () => {
    const languages = stage('de');
    const kinds = (out: Iterable<Piece>) =>
      [...out].map((piece) => (piece.kind === 'text' ? piece.text : piece.kind));
    expect(kinds(languages.push(text('Der Zug kam. ')))).toEqual([]);
    expect(kinds(languages.push({ kind: 'pause', seconds: 1 }))).toEqual([]);
    expect(kinds(languages.push(text('Wir stiegen ein, und er fuhr los.')))).toEqual([]);
    expect(languages.isHolding).toBe(true);
    expect(kinds(languages.flush(100))).toEqual([]);
    expect(kinds(languages.flush(5000))).toEqual([
      'voice',
      'Der Zug kam. ',
      'pause',
      'Wir stiegen ein, und er fuhr los.',
    ]);
    expect(languages.isHolding).toBe(false);
    expect(kinds(languages.end())).toEqual([]);
  });
});
