import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openMarkdown } from '../../../src/read/markdown.ts';
import { plain } from '../../../src/read/plain.ts';
import type { Reader } from '../../../src/read/reading.ts';
import { wordsSource } from '../../../src/read/source.ts';
import { RunText, type TextPlan } from '../../../src/run/text.ts';
import { Replacing, readLexicons } from '../../../src/text/lexicon.ts';
import { asRole } from '../../../src/voices/cast.ts';
import { silent } from '../../support/speaker.ts';

const { signal } = new AbortController();
const lexicon = readLexicons([{ source: 'gif = jif\nre:/(\\d+)km/ = $1 kilometres', name: 'names.txt' }]);

const markdown: Reader = (source, until) => openMarkdown(source, { code: 'read', footnotes: 'read' }, until);

type Way = Pick<TextPlan, 'stages'> & { readonly reader: Reader };

const WAYS: readonly (readonly [name: string, way: Way])[] = [
  ['text', { reader: plain, stages: [] }],
  ['text with a lexicon', { reader: plain, stages: [() => new Replacing(lexicon)] }],
  ['Markdown', { reader: markdown, stages: [] }],
];

const LENGTH = 32_000;
/** The window in which segments are cut, and two steps. */
const MOST_UNITS = 25_000;
const MOST_SEGMENTS = 1000;

/** The most characters and segments between two turns of the event loop. */
async function longestStep(words: string, { reader, stages }: Way) {
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
  const sources = () => [{ source: wordsSource(words), reader }];
  const text = await RunText.open(
    { sources, stages, role: asRole(silent), pace: 'by output', cutsParagraphs: false },
    signal,
  );
  for await (const segment of text.segments(false, signal)) {
    if (segment.kind === 'segment') step.units += segment.text.length;
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
describe('the work on 32,000 characters lets other work of the process have its turn', () => {
  it.each(WAYS)('%s', async (_name, way) => {
    for (const unit of KNOWN) {
      const text = unit.repeat(Math.ceil(LENGTH / unit.length)).slice(0, LENGTH);
      const longest = await longestStep(text, way);
      expect(longest.units, unit).toBeLessThan(MOST_UNITS);
      expect(longest.segments, unit).toBeLessThan(MOST_SEGMENTS);
    }
  });
});
