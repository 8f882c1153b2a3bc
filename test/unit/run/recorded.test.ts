import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { useMovedClock } from '../../support/clock.ts';
import { emptyFolder } from '../../support/folder.ts';
import { type CutOptions, type Recorded, segmentsOf } from './cut.ts';
import { type RecordedText, SCRIPTS, TEXTS } from './texts.ts';

const PACES = ['full', 'ramp', 'sentence'] as const;
const LIMITS = [300, 1000];

/** Of more segments than a person reads, the number and a hash of texts, lines and borders of paragraphs. */
async function digest(all: AsyncIterable<Recorded>, { isMarkdown, lexicon }: Omit<RecordedText, 'text'>) {
  const hash = createHash('sha256');
  let count = 0;
  for await (const { text, line, startsParagraph } of all) {
    count += 1;
    const known = isMarkdown || lexicon ? null : line;
    hash.update(`${JSON.stringify([text, known, startsParagraph])}\n`);
  }
  return `${count} ${hash.digest('hex').slice(0, 24)}`;
}

async function digests(
  { name, ...source }: Omit<RecordedText, 'text'>,
  cut: (options: CutOptions) => AsyncIterable<Recorded>,
  paces: readonly CutOptions['pace'][],
) {
  const lines: string[] = [];
  for (const pace of paces)
    for (const maxChars of LIMITS)
      for (const cutsParagraphs of [false, true])
        lines.push(
          `${name}, ${pace}, ${maxChars}${cutsParagraphs ? ', cut at paragraphs' : ''}: ${await digest(cut({ pace, maxChars, cutsParagraphs }), { name, ...source })}`,
        );
  return lines;
}

test('The segments of these texts are those that were recorded.', async () => {
  const lines: string[] = [];
  const file = join(emptyFolder(), 'text');
  for (const each of TEXTS) {
    writeFileSync(file, each.text);
    lines.push(...(await digests(each, (options) => segmentsOf(each, file, options), PACES)));
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('texts.txt');
}, 120_000);

/** Moves the clock on until all is cut; in each step, all work that is due is done. */
async function whileClockMoves<T>(work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  work.then(done, done);
  while (!isDone) {
    await vi.advanceTimersByTimeAsync(10);
    for (let turns = 0; turns < 12; turns += 1) await turn();
  }
  return work;
}

test('The segments of texts that are written slowly are those that were recorded.', async () => {
  useMovedClock();
  const lines: string[] = [];
  for (const { script, ...each } of SCRIPTS) {
    async function* written() {
      for (const [text, pauseMs] of script) {
        yield Buffer.from(text);
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    lines.push(
      ...(await whileClockMoves(
        digests(each, (options) => segmentsOf(each, written(), options), ['full', 'ramp']),
      )),
    );
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('scripts.txt');
}, 120_000);
