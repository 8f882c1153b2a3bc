import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { singleItem } from '../../src/async.ts';
import { Secrets } from '../../src/cli/terminal/secrets.ts';
import { readInstructions } from '../../src/engine/instructions.ts';
import { normalise } from '../../src/engine/normalise.ts';
import { passages } from '../../src/engine/passages.ts';
import { printable, withoutEscapes } from '../../src/printable.ts';
import { GrowingMarkdown } from '../../src/reading/markdown/growing.ts';
import { Replacing } from '../../src/text/lexicon/apply.ts';
import { readLexicons } from '../../src/text/lexicon/lexicon.ts';
import { read, segments, staged } from './text/pieces.ts';

const { signal } = new AbortController();
const lexicon = readLexicons([
  { source: 'gif = jif\nDr. Who = the doctor\nre:/(\\d+)km/ = $1 kilometres', name: 'names.txt' },
]);
const secrets = new Secrets();
secrets.add('a-secret-of-twenty-one');

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

/** Expressions may search one piece for a second: on a busy machine, a whole text may need more. */
async function* inPieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 4096) yield text.slice(at, at + 4096);
}

const WORK: readonly (readonly [name: string, work: (text: string) => unknown])[] = [
  ['segments of a run', (text) => drain(segments(singleItem(text), { maxChars: 1000, pace: 'full' }))],
  ['sentences of a run', (text) => drain(segments(singleItem(text), { maxChars: 1000, pace: 'sentence' }))],
  ['segments of the engine', (text) => drain(passages(text, normalise, signal))],
  ['the lexicon', (text) => drain(staged(inPieces(text), new Replacing(lexicon)))],
  [
    'Markdown',
    (text) => drain(read(singleItem(text), new GrowingMarkdown({ code: 'read', footnotes: 'read' }, ''))),
  ],
  ['instructions', (text) => readInstructions(text)],
  ['printable text', (text) => printable(text)],
  ['text without escape sequences', (text) => withoutEscapes(text)],
  ['hidden keys', (text) => secrets.redact(text)],
];

const SMALL = 12_500;
const LARGE = 100_000;
/** Eight times the text takes eight times the work; a quadratic step takes 64 times. */
const MOST_GROWTH = 30;
/** Milliseconds of the processor; below them the ratio is noise. */
const MEASURABLE = 150;

async function timeOf(work: (text: string) => unknown, text: string): Promise<number> {
  const start = process.cpuUsage();
  await work(text);
  return process.cpuUsage(start).user / 1000;
}

/** How many times longer the whole text takes than its first eighth; 0 if that cannot be measured. */
async function growth(work: (text: string) => unknown, text: string): Promise<number> {
  let [large, small] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let tries = 0; tries < 3; tries += 1) {
    large = Math.min(large, await timeOf(work, text));
    if (large < MEASURABLE) return 0;
    small = Math.min(small, await timeOf(work, text.slice(0, SMALL)));
    if (large / Math.max(1, small) < MOST_GROWTH) break;
  }
  return large / Math.max(1, small);
}

const pieces = fc.oneof(
  fc.string({ minLength: 1, maxLength: 4, unit: 'binary' }),
  fc.constantFrom(
    '\u001b',
    ';#',
    '\u001b;#',
    '[',
    '](',
    '*',
    '_',
    '`',
    '<',
    '<!--',
    '&',
    '|',
    '> ',
    '- ',
    '1. ',
  ),
  fc.constantFrom(
    '. ',
    '"',
    '“',
    '(',
    '…',
    '€',
    '½',
    'https://',
    '[^1]',
    '\n',
    '\n\n',
    '\u0301',
    '😀',
    '中',
    '。',
  ),
);
/** Beginnings and units that took time in the square of their number in some version, or nearly did. */
const KNOWN: readonly (readonly [beginning: string, unit: string])[] = [
  ['\u001b', ';#'],
  ['', '['],
  ['', '!['],
  ['', 'x\n\n'],
  ['', '&;#'],
  ['"', 'a'],
  ['<!--', '<!--'],
  ['', '10km gif '],
];

const beginnings = fc.oneof(fc.constant(''), pieces);
const units = fc.array(pieces, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));

describe('the work on a text', () => {
  it.each(WORK)(
    'grows as the text does: %s',
    async (_name, work) => {
      await fc.assert(
        fc.asyncProperty(beginnings, units, async (beginning, unit) => {
          const text = beginning + unit.repeat(Math.ceil(LARGE / unit.length));
          expect(await growth(work, text.slice(0, LARGE))).toBeLessThan(MOST_GROWTH);
        }),
        { numRuns: 20, examples: KNOWN.map((known) => [...known]) },
      );
    },
    60_000,
  );
});
