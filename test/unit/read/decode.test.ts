import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { Controls, decode } from '../../../src/read/decode.ts';
import { through } from '../../../src/text/stage.ts';
import { inPieces } from '../sound/body.ts';
import { anyText } from '../text/any-text.ts';
import { inPieces as inTextPieces } from '../text/pieces.ts';

async function decoded(bytes: Uint8Array, size = 7): Promise<string> {
  let text = '';
  for await (const piece of decode(inPieces(bytes, size), 'a.txt')) text += piece;
  return text;
}

const failure = (bytes: Uint8Array, size: number) =>
  decoded(bytes, size).then(
    () => expect.unreachable(),
    (error: unknown) => error as TtsError,
  );

const bigEndian = (text: string) => Buffer.from(text, 'utf16le').swap16();

const encodings: [string, (text: string) => Buffer][] = [
  ['UTF-8', (text) => Buffer.from(text)],
  ['UTF-8 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['UTF-16 LE with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16 BE with a byte order mark', (text) => bigEndian(`\ufeff${text}`)],
];

test.each(encodings)('%s is read in pieces of any size.', async (_, encode) => {
  const plain = anyText.filter((text) => !/\0|\r|^\ufeff|\p{Cs}/u.test(text));
  await fc.assert(
    fc.asyncProperty(plain, fc.integer({ min: 1, max: 9 }), async (text, size) => {
      expect(await decoded(encode(text), size)).toBe(text);
    }),
  );
});

test('A replacement character and a byte order mark inside of the text are text.', async () => {
  const text = 'a\ufffdb\ufeffc\ufffd';
  for (const [, encode] of encodings) expect(await decoded(encode(text), 1)).toBe(text);
});

test.each([1, 2, 3, 100])('CRLF becomes LF and a lone CR stays, in pieces of %i.', async (size) => {
  for (const [, encode] of encodings) {
    expect(await decoded(encode('a\r\nb\rc\r\r\n\n\r'), size)).toBe('a\nb\rc\r\n\n\r');
  }
});

test('Nothing, and a byte order mark alone, are empty texts.', async () => {
  for (const [, encode] of encodings) expect(await decoded(encode(''), 1)).toBe('');
});

const bad: [string, Buffer, number, RegExp][] = [
  ['a byte that no text has', Buffer.from('añb\xff', 'latin1'), 1, /iconv/],
  ['a byte at the end that no text has', Buffer.from('ab\xff', 'latin1'), 2, /^convert .*iconv/],
  [
    'an invalid byte after other scripts',
    Buffer.concat([Buffer.from('日本\ufffd😀'), Buffer.of(0xfe)]),
    13,
    /iconv/,
  ],
  [
    'a sequence that is cut off',
    Buffer.concat([Buffer.from('ab'), Buffer.of(0xe2, 0x82)]),
    2,
    /ends within a character.*iconv/,
  ],
  ['a last letter in Latin-1', Buffer.from('café', 'latin1'), 3, /ends within a character.*iconv/],
  ['a sequence that is too long', Buffer.of(0x61, 0xc0, 0x80), 1, /iconv/],
  ['a surrogate in UTF-8', Buffer.of(0x61, 0xed, 0xa0, 0x80, 0x61), 1, /iconv/],
  ['after a byte order mark', Buffer.concat([Buffer.from('\ufeffab'), Buffer.of(0xff)]), 5, /iconv/],
  ['a NUL', Buffer.from('hello\0\0\0\x01'), 5, /binary/],
  ['UTF-16 LE without a mark', Buffer.from('hello', 'utf16le'), 1, /iconv -f UTF-16LE/],
  ['UTF-16 BE without a mark', bigEndian('hello'), 0, /iconv -f UTF-16BE/],
  ['half a surrogate pair in UTF-16', Buffer.from('\ufeffa\ud83db', 'utf16le'), 4, /damaged/],
  ['half a unit of UTF-16', Buffer.from('\ufeffab', 'utf16le').subarray(0, 5), 4, /damaged/],
  ['a NUL in UTF-16', Buffer.from('\ufeffab\0', 'utf16le'), 6, /damaged/],
];

test.each(bad)('Refuses %s, naming the input and the offset.', async (_, bytes, offset, hint) => {
  for (const size of [1, 2, 3, 1000]) {
    const error = await failure(bytes, size);
    expect(error).toBeInstanceOf(TtsError);
    expect(error.exitCode).toBe(ExitCode.usage);
    expect(error.message).toMatch(new RegExp(`^a\\.txt .* at offset ${offset}$`));
    if (size === 1000) expect(error.hint).toMatch(hint);
    expect(error.hint).toBeTruthy();
  }
});

test('An offset counts from the start of the whole input.', async () => {
  const bytes = Buffer.concat([Buffer.from('é😀'.repeat(50_000)), Buffer.of(0x80)]);
  expect((await failure(bytes, 4096)).message).toContain(`0x80 at offset ${bytes.length - 1}`);
});

async function clean(text: string, ...sizes: readonly number[]): Promise<string> {
  let all = '';
  for await (const piece of through(
    inTextPieces(text, ...(sizes.length > 0 ? sizes : [text.length])),
    new Controls(),
  ))
    all += piece;
  return all;
}

describe('a text with control characters', () => {
  it.each([
    ['colours', '\x1b[1;31mError:\x1b[0m no route', 'Error: no route'],
    ['a link', '\x1b]8;;https://example.com\x1b\\here\x1b]8;;\x1b\\', 'here'],
    ['a title', '\x1b]0;make\x07done', 'done'],
    ['codes of eight bits', '\x9b1mbold\x9b0m', 'bold'],
    ['bells and backspaces', 'a\x07b\x08c\x7f', 'abc'],
    ['bold and underlined words of a manual page', 'N\bNA\bA\bA _\bf_\bi\bi. a_\bb', 'NA fi. ab'],
    ['line ends, tabs and page ends', 'a\n\tb\r\nc\fd', 'a\n\tb\r\nc\fd'],
    ['joiners and other scripts', '👩‍💻 ไทย عربى', '👩‍💻 ไทย عربى'],
    ['an escape that never ends', '\x1b]0;no end', ']0;no end'],
    ['an escape at the end', 'end\x1b[3', 'end[3'],
  ])('loses them: %s', async (_name, text, expected) => {
    expect(await clean(text)).toBe(expected);
  });

  it('reads the same in any pieces', async () => {
    const parts = fc.constantFrom(
      '\x1b[1;31m',
      '\x1b]0;t\x07',
      '\x1b]8;;u\x1b\\',
      '\x1b(B',
      '\x9b0m',
      'word ',
      '\n',
      '😀',
      '\x07',
      'N\bN',
      '_\bf',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(parts),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        async (all, sizes) => {
          const text = `\b${all.join('')}`;
          expect(await clean(text, ...sizes)).toBe(await clean(text));
        },
      ),
    );
  });

  it('holds back no more than a kilobyte', async () => {
    async function* endless() {
      yield '\x1b]';
      for (let count = 0; count < 10; count += 1) yield 'x'.repeat(1000);
    }
    let first = 0;
    for await (const piece of through(endless(), new Controls())) {
      first = piece.length;
      break;
    }
    expect(first).toBeGreaterThan(0);
  });
});
