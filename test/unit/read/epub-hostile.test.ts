import { describe, expect, it } from 'vitest';
import { type BookParts, epubOf, xhtml } from '../../support/epub.ts';
import type { ZipEntry } from '../../support/zip.ts';
import { openBook, signal, written } from './spoken.ts';

async function read(book: Buffer): Promise<string> {
  return (await written((await openBook(book)).pieces(signal))).trim();
}

const ONE: BookParts = { documents: { 'a.xhtml': 'Text' } };
const withFiles = (...files: readonly ZipEntry[]) => epubOf({ ...ONE, files });

/** The algorithm and what it covers. */
function encryption(algorithm: string, path: string): ZipEntry {
  return {
    name: 'META-INF/encryption.xml',
    data: `<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="${path}"/></enc:CipherData></enc:EncryptedData></encryption>`,
  };
}

describe('a hostile book', () => {
  it.each<readonly [string, () => Buffer, RegExp]>([
    [
      '100 MB of zeros',
      () => epubOf({ documents: { 'a.xhtml': Buffer.alloc(100 * 1024 * 1024) } }),
      /a\.xhtml in .* unpacks to 104857600 bytes/,
    ],
    [
      'zeros that are called small',
      () =>
        epubOf({
          documents: {},
          manifest: '<item id="z" href="z.xhtml" media-type="application/xhtml+xml"/>',
          spine: ['z'],
          files: [{ name: 'EPUB/z.xhtml', data: Buffer.alloc(1024 * 1024), size: 1000 }],
        }),
      /z\.xhtml in .*(?:damaged|not text)/,
    ],
    [
      'zeros',
      () => epubOf({ documents: { 'a.xhtml': Buffer.alloc(1000) } }),
      /not text: it holds the byte 0x00/,
    ],
    [
      'entries that share their bytes',
      () => withFiles({ name: 'EPUB/b', data: 'b' }, { name: 'EPUB/c', data: 'b', sharesBytes: true }),
      /entries overlap/,
    ],
    [
      '60,000 entries',
      () =>
        withFiles(
          ...Array.from({ length: 60_000 }, (_, at) => ({ name: `e${at}`, data: '', isStored: true })),
        ),
      /more than 50000 files/,
    ],
    [
      '100,000 elements inside each other',
      () => epubOf({ documents: { 'a.xhtml': '<b>'.repeat(100_000) } }),
      /elements nested more than 512 deep/,
    ],
    [
      'a package file of elements inside each other',
      () => epubOf({ ...ONE, opf: '<a>'.repeat(100_000) }),
      /elements nested more than 512 deep/,
    ],
    [
      'one document 100,000 times',
      () =>
        epubOf({
          documents: { 'a.xhtml': 'x'.repeat(10_000) },
          spine: Array.from({ length: 100_000 }, () => 'a.xhtml'),
        }),
      /unpacks to \d+ bytes/,
    ],
    [
      'small documents that unpack to much together',
      () =>
        epubOf({
          documents: Object.fromEntries(
            Array.from({ length: 6 }, (_, at) => [`${at}.xhtml`, 'x'.repeat(4_000_000)]),
          ),
        }),
      /unpacks to \d+ bytes/,
    ],
    [
      'pictures only',
      () => epubOf({ documents: { 'a.xhtml': '<img src="a.png"/>' } }),
      /holds no text to read/,
    ],
    [
      'a reading order of pictures',
      () =>
        epubOf({
          documents: {},
          manifest: '<item id="s" href="s.svg" media-type="image/svg+xml"/>',
          spine: ['s'],
          files: [{ name: 'EPUB/s.svg', data: '<svg><path/></svg>' }],
        }),
      /holds no text to read/,
    ],
    ['an empty reading order', () => epubOf({ documents: {} }), /reading order \(spine\) is empty/],
    [
      'a password',
      () => withFiles({ name: 'EPUB/a.xhtml', data: 'x', flags: 0x801 }),
      /locked with a password/,
    ],
    [
      'encrypted text',
      () => withFiles(encryption('http://x/aes', 'EPUB/a.xhtml')),
      /protected \(DRM: http:\/\/x\/aes\)/,
    ],
    [
      'encrypted text of a shop',
      () =>
        withFiles(encryption('http://x/aes', 'EPUB/a.xhtml'), {
          name: 'META-INF/rights.xml',
          data: '<rights/>',
        }),
      /protected \(DRM: Adobe ADEPT\)/,
    ],
  ])('is refused with a sentence: %s', async (_, book, message) => {
    await expect(read(book())).rejects.toThrow(message);
  });

  it.each<readonly [string, BookParts]>([
    [
      'names that leave the archive',
      {
        ...ONE,
        files: [
          { name: '../../out.xhtml', data: xhtml('Out') },
          { name: '/etc/passwd', data: 'x' },
          { name: 'EPUB/link', data: '/etc/passwd', mode: 0o120777 },
        ],
        manifest:
          '<item id="o" href="../../out.xhtml" media-type="application/xhtml+xml"/><item id="p" href="%2e%2e/%2e%2e/out.xhtml" media-type="application/xhtml+xml"/><item id="q" href="file:///etc/passwd" media-type="application/xhtml+xml"/><item id="r" href="http://127.0.0.1:9/x" media-type="application/xhtml+xml"/><item id="s" href="link" media-type="application/xhtml+xml"/>',
        spine: ['o', 'p', 'q', 'r', 's', 'a.xhtml'],
      },
    ],
    [
      'obfuscated fonts',
      { ...ONE, files: [encryption('http://www.idpf.org/2008/embedding', 'EPUB/a.xhtml')] },
    ],
    ['another encrypted file', { ...ONE, files: [encryption('http://x/aes', 'EPUB/a.png')] }],
    [
      'a table of contents that leads to itself',
      { ...ONE, ncx: '<navPoint><navLabel><text>T</text></navLabel><content src="toc.ncx"/></navPoint>' },
    ],
    [
      'entities that grow',
      {
        documents: {
          'a.xhtml': `<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>${xhtml('Text')}`,
        },
      },
    ],
    [
      'pictures, frames, scripts and links elsewhere',
      {
        documents: {
          'a.xhtml':
            '<script src="http://127.0.0.1:9/"></script><iframe src="file:///etc/passwd">x</iframe><link href="http://127.0.0.1:9/"/><img src="http://127.0.0.1:9/"/><p>Text</p>',
        },
      },
    ],
  ])('is read without harm: %s', async (_, parts) => {
    expect((await read(epubOf(parts))).replace(/^\{.*\}/, '')).toBe('Text');
  });

  it('is told of a file that is cut off', async () => {
    const book = epubOf(ONE);
    for (const length of [0, 10, 100, book.length - 30])
      await expect(read(book.subarray(0, length))).rejects.toThrow();
  });

  it('looks at each document once for the notes of another one', async () => {
    const others = Array.from({ length: 8 }, (_, at) => `${at}.xhtml`);
    const links = others.map((path) => `<a href="${path}#n">1</a>`).join('');
    const documents = Object.fromEntries(
      others.map((path) => [path, `<p id="m">m</p>${'<p>a</p>'.repeat(5000)}`]),
    );
    const text = await read(
      epubOf({
        documents: { 'a.xhtml': `<p>Text${links.repeat(500)}</p>`, ...documents },
        spine: ['a.xhtml'],
      }),
    );
    expect(text).toMatch(/Text1/);
  });

  it('may refer to notes in a document that it has not', async () => {
    const link = '<a href="gone.xhtml#n"><sup>1</sup></a>';
    const book = epubOf({ documents: { 'a.xhtml': `<p>Text${link} and more.</p>` } });
    expect(await read(book)).toBe('{1 Not spoken}Text and more.');
  });

  it('may have fallbacks that lead to each other', async () => {
    const items = Array.from(
      { length: 20_000 },
      (_, at) =>
        `<item id="f${at}" href="f${at}.png" media-type="image/png" fallback="f${(at + 1) % 20_000}"/>`,
    );
    const spine = Array.from(items.keys(), (at) => `f${at}`);
    const text = await read(epubOf({ ...ONE, manifest: items.join(''), spine: [...spine, 'a.xhtml'] }));
    expect(text).toBe('{1 Not spoken}Text');
  });

  it('may say much of each of its authors', async () => {
    const authors = Array.from({ length: 5000 }, (_, at) => `<dc:creator id="a${at}">A</dc:creator>`).join(
      '',
    );
    const metas = '<meta refines="#b" property="role">aut</meta>'.repeat(5000);
    const { about } = await openBook(epubOf({ ...ONE, metadata: authors + metas }));
    expect(about?.author).toHaveLength(5000 * 3 - 2);
  });
});
