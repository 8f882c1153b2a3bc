import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { plain } from '../../../src/read/plain.ts';
import { stdinSource } from '../../../src/read/source.ts';
import { RunText } from '../../../src/run/text.ts';

const { signal } = new AbortController();

/** The texts of the segments of a pipe, and the message of the error after them. */
async function heard(bytes: AsyncIterable<Uint8Array>, isHeardLive: boolean) {
  const source = stdinSource(Readable.from(bytes, { objectMode: false }), 300);
  const plan = { sources: () => [{ source, reader: plain }], stages: [], voice: { maxChars: 1000 } };
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

async function* silent(): AsyncGenerator<Uint8Array> {
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
      const { texts, error } = await heard(silent(), isLive);
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
