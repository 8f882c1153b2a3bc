import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spokenMarkdown } from '../../../src/reading/markdown/reader.ts';
import type { Prepare } from '../../../src/reading/source.ts';
import { readSegments } from '../../../src/speech/text.ts';
import { applyLexicon } from '../../../src/text/lexicon/apply.ts';
import { readLexicon } from '../../../src/text/lexicon/lexicon.ts';
import { anyText } from '../text/any-text.ts';

const { signal } = new AbortController();
const lexicon = readLexicon('gif = jif\nre:/(\\d+)km/ = $1 kilometres', 'names.txt');

const PREPARATIONS: readonly (readonly [name: string, prepare: Prepare | undefined])[] = [
  ['text', undefined],
  ['text with a lexicon', (_, text) => applyLexicon(lexicon, text)],
  ['Markdown', (_, text) => spokenMarkdown(text, { code: 'read', footnotes: 'read' })],
];

const LENGTH = 100_000;
/** The window in which segments are cut, and two steps. */
const MOST_UNITS = 25_000;
const MOST_SEGMENTS = 1000;

/** The most characters and segments between two turns of the event loop. */
async function longestStep(text: string, prepare: Prepare | undefined) {
  const longest = { units: 0, segments: 0 };
  let step = { units: 0, segments: 0 };
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      longest.units = Math.max(longest.units, step.units);
      longest.segments = Math.max(longest.segments, step.segments);
      step = { units: 0, segments: 0 };
      await turn();
    }
  })();
  const input = { words: [text], files: [], cwd: '/', stdin: () => Readable.from([]), prepare };
  for await (const segment of readSegments(input, { maxChars: 1000, pace: 'full' }, signal)) {
    step.units += segment.text.length;
    step.segments += 1;
  }
  isOver = true;
  await looking;
  return { units: Math.max(longest.units, step.units), segments: Math.max(longest.segments, step.segments) };
}

const KNOWN = [
  'x\n\n',
  '# x\n\n',
  '- x\n',
  '1. x\n',
  'word ',
  'A sentence of words. ',
  '10km gif ',
  '你好。',
];
const units = fc.array(fc.oneof(anyText, fc.constantFrom(...KNOWN)), { minLength: 1, maxLength: 3 });

describe('the work on 100,000 characters', () => {
  it.each(PREPARATIONS)(
    'lets other work of the process have its turn: %s',
    async (_name, prepare) => {
      await fc.assert(
        fc.asyncProperty(units, async (parts) => {
          const unit = parts.join('') || ' ';
          const text = unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH);
          const longest = await longestStep(text, prepare);
          expect(longest.units).toBeLessThan(MOST_UNITS);
          expect(longest.segments).toBeLessThan(MOST_SEGMENTS);
        }),
        { numRuns: 30, examples: KNOWN.map((unit) => [[unit]]) },
      );
    },
    60_000,
  );
});
