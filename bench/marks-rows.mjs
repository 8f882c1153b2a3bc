// Rows of the table of docs/speed.md about marks in the text, and about `--speed`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median, run } from './measure.mjs';

const PARAGRAPHS = 2000;
const PARAGRAPH = 'Nobody saw the ship leave. The lamps were lit, and the sea was calm for once. '.repeat(6);

/** Writes a text of 1 MB, and the same text with 1,000 marks. */
function textsIn(work) {
  const [plain, marked] = ['plain.txt', 'marked.txt'].map((name) => join(work, name));
  const paragraphs = Array.from({ length: PARAGRAPHS }, (_, at) => `${at}. ${PARAGRAPH}`);
  const mark = (at) => (at % 4 === 0 ? '[voice:2]' : '[voice]');
  writeFileSync(plain, paragraphs.join('\n\n'));
  writeFileSync(marked, paragraphs.map((text, at) => (at % 2 === 0 ? mark(at) + text : text)).join('\n\n'));
  return { plain, marked };
}

export const marksRows = [
  {
    what: 'a text of 1 MB with 1,000 marks, text to segments (`--dry-run`) / the same without',
    most: { 20: 1.3 },
    unit: '×',
    digits: 2,
    async measure({ tts, work, withoutService: { env } }) {
      const { plain, marked } = textsIn(work);
      const timeOf = async (file, ...more) => {
        const command = tts('--dry-run', '-s', '1', '-f', file, ...more);
        return (await run(command, { env, onData() {} })).milliseconds;
      };
      const ratios = [];
      for (let round = 0; round < 11; round++)
        ratios.push((await timeOf(marked, '--marks')) / (await timeOf(plain)));
      return median(ratios);
    },
  },
  {
    what: '`--speed 1.3` on 10 minutes of sound, added',
    most: { 20: 1.5 },
    unit: 's',
    digits: 2,
    async measure({ speak, work, env }) {
      const out = join(work, 'speed.wav');
      const seconds = async (...more) =>
        (await run(speak('minutes', '-o', out, ...more), { env })).milliseconds / 1000;
      const added = [];
      for (let round = 0; round < 5; round++)
        added.push((await seconds('--speed', '1.3')) - (await seconds()));
      return median(added);
    },
  },
];
