import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { plain } from '../../../src/read/plain.ts';
import { stdinSource, wordsSource } from '../../../src/read/source.ts';
import { RunText } from '../../../src/run/text.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { silent } from '../../support/speaker.ts';

const { signal } = new AbortController();

/** The texts of the segments of a pipe, and the message of the error after them. */
async function heard(bytes: AsyncIterable<Uint8Array>, isHeardLive: boolean) {
  const source = stdinSource(Readable.from(bytes, { objectMode: false }), 300);
  const plan = { sources: () => [{ source, reader: plain }], stages: [], role: asRole(silent) };
  const text = await RunText.open({ ...plan, pace: 'by output', cutsParagraphs: false }, signal);
  const texts: string[] = [];
  try {
    for await (const each of text.segments(isHeardLive, signal))
      if (each.kind === 'segment') texts.push(each.text);
    return { texts, error: undefined };
  } catch (error) {
    return { texts, error: (error as Error).message };
  }
}

async function* fallsSilent(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('Hello there. And then');
  await new Promise((resolve) => setTimeout(resolve, 5000).unref());
}

async function* damaged(): AsyncGenerator<Uint8Array> {
  yield Buffer.concat([
    Buffer.from('Hello there. It is here. And caf'),
    Buffer.from([0xe9]),
    Buffer.from(' too.'),
  ]);
}

describe('a text that breaks off', () => {
  it.each([true, false])(
    'is spoken as far as it came if its writer falls silent: heard live %j',
    async (isLive) => {
      const { texts, error } = await heard(fallsSilent(), isLive);
      expect(texts.join(' ')).toBe('Hello there. And then');
      expect(error).toBe('no text came from stdin for 0.3 s');
    },
  );

  it('loses no sentence that is complete in front of a bad byte where it is heard', async () => {
    const { texts, error } = await heard(damaged(), true);
    expect(texts.join(' ')).toBe('Hello there. It is here.');
    expect(error).toBe('stdin is not text: byte 0xe9 at offset 32');
  });

  it('is not paid for in front of a bad byte where all of it would be thrown away', async () => {
    expect(await heard(damaged(), false)).toEqual({
      texts: [],
      error: 'stdin is not text: byte 0xe9 at offset 32',
    });
  });
});

async function textsOf(book: string): Promise<string[]> {
  const sources = () => [{ source: wordsSource(book), reader: plain }];
  const cutting = {
    role: { ...asRole(silent), maxChars: 300 },
    pace: 'by output',
    cutsParagraphs: false,
  } as const;
  const run = await RunText.open({ sources, stages: [], ...cutting }, signal);
  const texts: string[] = [];
  for await (const each of run.segments(false, signal)) if (each.kind === 'segment') texts.push(each.text);
  return texts;
}

const PARAGRAPHS = [
  'The messages of these stories might be summarized as follows: if you would be lucky, (1) be honest because it is right to be honest, (2) value good friends more highly than gold, (3) let love accompany each gift of charity, and (4) use common sense in your business ventures. There were windows - as many as 14. Nobody had counted them.',
  '"It is much too late," the harbourmaster answered, and extinguished the well-known lanterns. "What have I lost?" the man asked, angrily. Nobody remembered afterwards whether Mr. Smith had been at the reception, although everybody had been invited to it. Everybody had seen the illuminated harbour.',
  'A short one, with an afterthought.',
];

/** Words are divided at the ends of lines, as in print. */
function wrapped(paragraph: string, width: number, hyphen?: string): string {
  const lines = [''];
  for (const word of paragraph.split(' ')) {
    const line = lines.pop() ?? '';
    const room = width - line.length - 2;
    const canBeDivided = hyphen !== undefined && /^[a-z]{8}/.test(word) && room >= 3 && room <= 5;
    if (line.length + 1 + word.length <= width) lines.push(line === '' ? word : `${line} ${word}`);
    else if (canBeDivided) lines.push(`${line} ${word.slice(0, room)}${hyphen}`, word.slice(room));
    else lines.push(line, word);
  }
  return lines.join('\n');
}

it('A copy of a book with other line ends, or with more that nobody hears, has the same segments.', async () => {
  const flat = PARAGRAPHS.join('\n\n');
  const segments = await textsOf(flat);
  const copies = [
    ...[60, 66, 72, 80, 100, 130, 150, 250].flatMap((width) =>
      [undefined, '-', '\u00ad'].map((hyphen) =>
        PARAGRAPHS.map((each) => wrapped(each, width, hyphen)).join('\n\n'),
      ),
    ),
    PARAGRAPHS.map((each) => each.replace(/([a-z]-)([a-z])/g, '$1\n$2')).join('\n\n'),
    flat.replaceAll(' ', '\u200b '),
    flat.replaceAll(' ', ' \u2060'),
    flat.replace(/(\p{L}{3})(?=\p{L}{3})/gu, '$1\u00ad'),
  ];
  for (const copy of copies) expect(await textsOf(copy), copy).toEqual(segments);
});
