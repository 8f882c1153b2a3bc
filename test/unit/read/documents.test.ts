import { describe, expect, it } from 'vitest';
import type { TtsError } from '../../../src/kit/error.ts';
import { assertNoDocument, beginsLikeHtml, leastBytes } from '../../../src/read/first-bytes.ts';

/** The message and the hint for a document; undefined for text. */
function refusal(start: string, name = 'stdin'): string | undefined {
  try {
    assertNoDocument(Buffer.from(start), name);
    return undefined;
  } catch (error) {
    return `${(error as TtsError).message}; ${(error as TtsError).hint}`;
  }
}

describe('a document that is no text', () => {
  it.each([
    [
      '<?xml version="1.0"?>\n<FictionBook xmlns="x">',
      'a FictionBook',
      'pandoc -f fb2 -t gfm --wrap=none FILE',
    ],
    [
      '1\n00:00:01,000 --> 00:00:02,000\nHello',
      'a file of subtitles',
      "grep -vE '^[0-9]+.?$|-->|^WEBVTT' FILE",
    ],
    ['WEBVTT\n\n', 'a file of subtitles', 'FILE | tts -o OUT'],
    ['% A paper\n\\documentclass{article}', 'a TeX document', 'pandoc -f latex'],
    ['= The Old Lighthouse\n:toc:\n', 'an AsciiDoc document', 'asciidoctor'],
    ['{\n "cells": [', 'a notebook', 'pandoc -f ipynb'],
  ])('is named: %j', (start, what, hint) => {
    const told = refusal(start);
    expect(told).toContain(`stdin is not text: it is ${what}; `);
    expect(told).toContain(hint);
  });

  it.each(['a.fb2', 'a.SRT', 'a.tex', 'a.adoc', 'a.ipynb'])('is known by its name: %s', (name) => {
    expect(refusal('Hello', name)).toMatch(new RegExp(`\\b${name}\\b.*\\b${name}\\b`));
  });

  it('has a hint that a shell can run', () => {
    expect(refusal('', "it's.fb2")).toContain(
      "`pandoc -f fb2 -t gfm --wrap=none 'it'\\''s.fb2' | tts --format markdown -o OUT`",
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
    expect(beginsLikeHtml(Buffer.from(html))).toBe(true);
  for (const text of ['<3 you', '<think>so</think>', '<pre', 'a <p>'])
    expect(beginsLikeHtml(Buffer.from(text))).toBe(false);
});
