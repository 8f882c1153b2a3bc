import { describe, expect, it } from 'vitest';
import { decodeMarkup, MarkupDecoder } from '../../../src/read/html-charset.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const meta = (charset: string) => `<head><meta charset="${charset}"></head>`;
/** `これは本です。` in Shift_JIS. */
const SHIFT_JIS = Buffer.from('82b182ea82cd967b82c582b78142', 'hex');
/** `这是一个测试。` in GBK. */
const GBK = Buffer.from('d5e2cac7d2bbb8f6b2e2cad4a1a3', 'hex');
/** `联通`: a byte pair of it is a character in UTF-8 as well. */
const SHORT_GBK = Buffer.from('c1aacda8', 'hex');
const BAD = Buffer.from([0xe9]);

function joined(...parts: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

function decoded(bytes: Uint8Array, size = bytes.length): { text: string; damaged: number } {
  const decoder = new MarkupDecoder('a.html');
  let text = '';
  for (let at = 0; at < bytes.length; at += size)
    for (const part of decoder.push(bytes.subarray(at, at + size))) text += part;
  for (const part of decoder.end()) text += part;
  return { text: text.replace(/<[^>]*>/gu, ''), damaged: decoder.damaged };
}

describe('a document is decoded', () => {
  it.each<[string, Uint8Array, string, number?]>([
    ['UTF-8 without a name', joined('Café – “yes”.'), 'Café – “yes”.'],
    ['UTF-8 with its mark', joined('\ufeffCafé'), 'Café'],
    ['UTF-8 under the name of Latin 1', joined(meta('iso-8859-1'), 'Café – “yes”.'), 'Café – “yes”.'],
    ['UTF-8 under the name of GB 2312', joined(meta('gb2312'), '这是一个测试。'), '这是一个测试。'],
    ['UTF-8 under the name of Shift_JIS', joined(meta('Shift_JIS'), 'これは本です。'), 'これは本です。'],
    ['UTF-8 under a name of UTF-16', joined(meta('utf-16'), 'Größe'), 'Größe'],
    ['UTF-8 under a name that does not exist', joined(meta('x-none'), 'Größe'), 'Größe'],
    [
      'UTF-8 with a declaration of Latin 1',
      joined('<?xml version="1.0" encoding="iso-8859-1"?>', 'Größe'),
      'Größe',
    ],
    ['UTF-8 with a bad byte', joined('Café, ', BAD, ' “yes”.'), 'Café, \ufffd “yes”.', 1],
    ['UTF-8 with bad bytes', joined('äöüß ', BAD, ' äöü', BAD, '!'), 'äöüß \ufffd äöü\ufffd!', 2],
    ['UTF-8 with a bad byte, under another name', joined(meta('latin1'), 'äöüß€ ', BAD), 'äöüß€ \ufffd', 1],
    ['UTF-8 that breaks off', joined('äöü ', Buffer.from([0xe2, 0x80])), 'äöü \ufffd', 1],
    ['a replacement character that was written', joined('a\ufffdb ä'), 'a\ufffdb ä', 0],
    [
      'many replacement characters that were written',
      joined('\ufffd \ufffd \ufffd ä'),
      '\ufffd \ufffd \ufffd ä',
      0,
    ],
    ['a lone byte without a name', joined('Caf', BAD), 'Café'],
    ['Windows-1252 without a name', latin1('Gr\xf6\xdfe \x93ja\x94'), 'Größe “ja”'],
    ['Windows-1252 under the name of UTF-8', joined(meta('utf-8'), latin1('Gr\xf6\xdfe')), 'Größe'],
    ['Windows-1252 by its name', joined(meta('latin1'), latin1('Gr\xf6\xdfe')), 'Größe'],
    ['Windows-1251 by its name', joined(meta('windows-1251'), latin1('\xcf\xf0\xe8\xe2\xe5\xf2')), 'Привет'],
    [
      'a name in the content of an element',
      joined('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', latin1('\xf0')),
      'П',
    ],
    ['a name without quotation marks', joined('<META CHARSET=windows-1251>', latin1('\xcf')), 'П'],
    ['a name far down in the head', joined(' '.repeat(30_000), meta('windows-1251'), latin1('\xcf')), 'П'],
    ['Shift_JIS', joined(meta('Shift_JIS'), SHIFT_JIS), 'これは本です。'],
    [
      'Shift_JIS with a bad byte',
      joined(meta('Shift_JIS'), SHIFT_JIS, Buffer.from([0xff, 0x2e])),
      'これは本です。\ufffd.',
      1,
    ],
    ['GBK', joined(meta('gb2312'), GBK), '这是一个测试。'],
    ['two characters of GBK', joined(meta('gbk'), SHORT_GBK), '联通'],
    ['ISO-2022-JP, which is ASCII by its bytes', joined(meta('iso-2022-jp'), latin1('\x1b$B$3\x1b(B')), 'こ'],
    ['UTF-16 with its mark', Buffer.from('\ufeffGröße', 'utf16le'), 'Größe'],
    ['UTF-16 without its mark', Buffer.from('<p>Größe', 'utf16le'), 'Größe'],
    [
      'UTF-8 behind a lot of ASCII',
      joined(meta('latin1'), 'a '.repeat(60_000), 'ä–ö'),
      `${'a '.repeat(60_000)}ä–ö`,
    ],
    [
      'Latin 1 behind a lot of ASCII',
      joined(meta('latin1'), 'a '.repeat(60_000), BAD),
      `${'a '.repeat(60_000)}é`,
    ],
    ['a stray zero', joined('a'.repeat(1000), '\0', 'b'), `${'a'.repeat(1000)}b`],
  ])('%s', (_, bytes, text, damaged = 0) => {
    const expected = { text: text.trim(), damaged };
    for (const size of [bytes.length, 4099, 7]) {
      const found = decoded(bytes, size);
      expect({ ...found, text: found.text.trim() }).toEqual(expected);
    }
  });

  it('unless it is not text', () => {
    expect(() => decodeMarkup(Buffer.alloc(100))).toThrow('the document is not text: it holds the byte 0x00');
  });
});
