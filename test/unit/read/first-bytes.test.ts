import { closeSync, createReadStream, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { TtsError } from '../../../src/kit/error.ts';
import { assertNoDocument, kindOfBytes, kindOfName, leastBytes } from '../../../src/read/first-bytes.ts';
import { readerFor } from '../../../src/read/readers.ts';
import { stdinSource } from '../../../src/read/source.ts';
import { emptyFolder } from '../../support/folder.ts';
import { PLAIN, signal, written } from './spoken.ts';

const byContent = readerFor('a.txt', 'auto', PLAIN);

/** The message and the hint for a document; undefined for text. */
function refusal(start: string, name = 'stdin'): string | undefined {
  try {
    assertNoDocument(Buffer.from(start), name);
    return undefined;
  } catch (error) {
    return `${(error as TtsError).message}; ${(error as TtsError).hint}`;
  }
}

describe('a document that is not text', () => {
  it.each([
    [
      '<?xml version="1.0"?>\n<FictionBook xmlns="x">',
      'a FictionBook',
      'leave --format out, or give --format fb2',
    ],
    ['%PDF-1.7', 'a PDF', '--format pdf'],
    [`PK${'.'.repeat(28)}[Content_Types].xml`, 'a Word document', '--format docx'],
    [`PK${'.'.repeat(28)}mimetypeapplication/epub+zip`, 'an EPUB', 'give --format epub'],
    ['1\n00:00:01,000 --> 00:00:02,000\nHello', 'a subtitle file', 'give --format subtitles'],
    ['WEBVTT\n\n', 'a subtitle file', 'leave --format out'],
    ['[Script Info]\n', 'a subtitle file', 'leave --format out'],
    ['% A paper\n\\documentclass{article}', 'a TeX document', 'pandoc -f latex'],
    ['= The Old Lighthouse\n:toc:\n', 'an AsciiDoc document', 'asciidoctor'],
    ['.\\" A comment\n.TH LS 1\n', 'the source of a manual page', 'man -l'],
    ['{\n "cells": [', 'a notebook', 'pandoc -f ipynb'],
  ])('is named: %j', (start, what, hint) => {
    const told = refusal(start);
    expect(told).toContain(`stdin is not text: it is ${what}; `);
    expect(told).toContain(hint);
  });

  it.each(['a.mobi', 'a.AZW3', 'a.tex', 'a.adoc', 'a.ipynb'])('is known by its name: %s', (name) => {
    expect(refusal('Hello', name)).toMatch(new RegExp(`\\b${name}\\b.*\\b${name}\\b`));
  });

  it('has a hint that a shell can run', () => {
    expect(refusal('', "it's.tex")).toContain(
      "`pandoc -f latex -t gfm --wrap=none 'it'\\''s.tex' | tts --format markdown -o OUT`",
    );
  });

  it.each(['1\nis a number', '= 5', '{"id": 1}', 'Web', '\\alpha', 'The cells are "cells".'])(
    'is not text like %j',
    (text) => {
      expect(refusal(text)).toBeUndefined();
      expect(leastBytes(Buffer.from(text))).toBeLessThanOrEqual(text.length + 1);
    },
  );
});

it('HTML that comes without its head is HTML', () => {
  for (const html of ['<p>Hello</p>', ' <div class="x">Hi', '<h1>A</h1>'])
    expect(kindOfBytes(Buffer.from(html))).toBe('html');
  for (const text of ['<3 you', '<think>so</think>', '<pre', 'a <p>'])
    expect(kindOfBytes(Buffer.from(text))).toBe('text');
});

test.each([
  ['a.md', 'markdown'],
  ['/x/README.MARKDOWN', 'markdown'],
  ['a.md.txt', 'text'],
  ['a.DOCX', 'docx'],
  ['a.fb2', 'fb2'],
  ['a.pdf', 'pdf'],
  ['md', undefined],
  ['-', undefined],
])('The ending of a name tells the kind: %s', (name, kind) => {
  expect(kindOfName(name)).toBe(kind);
});

/** A file that counts how often it is open. */
function countedFile(text: string) {
  const file = { open: 0 };
  async function* bytes() {
    file.open += 1;
    try {
      for (const character of text) yield Buffer.from(character);
    } finally {
      file.open -= 1;
    }
  }
  return { file, source: { name: 'a.txt', size: text.length, bytes, again: bytes } };
}

test('A file whose first bytes were looked at is not left open.', async () => {
  const { file, source } = countedFile('Some words.');
  const reading = await byContent(source, signal);
  expect(file.open).toBe(0);
  expect(await written(reading.pieces(signal))).toBe('Some words.');
  expect(file.open).toBe(0);
});

test('A file in stdin stays open for the text after its first bytes were looked at.', async () => {
  const path = join(emptyFolder(), 'a.txt');
  const text = 'Some words. '.repeat(20_000);
  writeFileSync(path, text);
  const fd = openSync(path, 'r');
  const stream = createReadStream('', { fd, autoClose: false });
  const reading = await byContent(stdinSource(stream), signal);
  for (let turn = 0; turn < 3; turn += 1) expect(await written(reading.pieces(signal))).toBe(text);
  closeSync(fd);
});
