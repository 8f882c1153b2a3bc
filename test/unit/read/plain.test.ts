import { describe, expect, it } from 'vitest';
import { hasScene, plain } from '../../../src/read/plain.ts';
import { pipe } from './spoken.ts';

const { signal } = new AbortController();

/** The text, with "§" and the line for a change of scene. */
async function read(pieces: readonly string[]): Promise<string> {
  const all: string[] = [];
  const reading = await plain.open(pipe(pieces), signal);
  for await (const piece of reading.pieces(signal)) {
    if (piece.kind === 'text') all.push(piece.text);
    if (piece.kind === 'scene') all.push('§');
  }
  return all.join('');
}

describe('a change of scene in plain text', () => {
  it.each([
    ['A\n\n* * *\n\nB', 'A\n\n§\n\nB'],
    ['A\n***\nB', 'A\n§\nB'],
    ['A\n  *   *  * * \nB', 'A\n§\nB'],
    ['A\n---\nB\n- - -', 'A\n§\nB\n§'],
    ['⁂\nA\n⁂ ⁂\n', '§\nA\n§\n'],
    ['---', '§'],
    ['---\n***\n', '§\n§\n'],
    ...[
      'A\n* * * B',
      'A * * *\nB',
      'A\n--\nB',
      'A\n* *\nB',
      'A\n-*-\nB',
      '- one\n- two',
      '* one\n* two\n\n\n',
      '  \n\n',
    ].map((text) => [text, text]),
    [`${'-'.repeat(3000)}\nA`, '§\nA'],
  ])('%j, cut at any place', async (text, expected) => {
    expect(await read([text])).toBe(expected);
    expect(hasScene(text)).toBe(expected.includes('§'));
    if (text.length > 100) return;
    expect(await read([...text])).toBe(expected);
    for (let at = 1; at < text.length; at += 1)
      expect(await read([text.slice(0, at), text.slice(at)]), `cut at ${at}`).toBe(expected);
  });
});
