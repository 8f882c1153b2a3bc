// `node bench/recogniser.mjs` counts the words that a speech recogniser gets wrong when speaker 1 says twenty plain
// sentences. Needs Debian's pocketsphinx (apt-get install pocketsphinx pocketsphinx-en-us). Ends with status 1 above 6 %.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The highest word error rate. */
const MOST = 0.06;
/** The sample rate of the recogniser's models, in Hz. */
const SAMPLE_RATE = '16000';

const SENTENCES = [
  'The weather will be nice tomorrow.',
  'Please close the door when you leave.',
  'We are going to the city next week.',
  'She has a new job in London.',
  'The train leaves at seven in the morning.',
  'I would like a cup of coffee.',
  'He lives in a small house near the river.',
  'They have two children and a dog.',
  'Can you tell me what time it is?',
  'The book is on the table in the kitchen.',
  'My brother works for a large company.',
  'There are many people in the street today.',
  'We had dinner with some friends last night.',
  'The president will speak to the nation on Monday.',
  'It takes about twenty minutes to get there.',
  'I have never seen anything like this before.',
  'The price of oil has gone up again this year.',
  'You should talk to your doctor about it.',
  'The children are playing in the garden.',
  'Thank you very much for your help.',
];

const tts = fileURLToPath(new URL('../bin/tts.cjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tts-recogniser-'));

function hear(sentence) {
  const wav = join(folder, 'sentence.wav');
  execFileSync(process.execPath, [
    tts,
    'speak',
    '-q',
    '--no-cache',
    '-s',
    '1',
    '-r',
    SAMPLE_RATE,
    '-o',
    wav,
    sentence,
  ]);
  const quietly = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  return execFileSync('pocketsphinx_continuous', ['-infile', wav], quietly);
}

function wordsOf(text) {
  return text.toLowerCase().match(/[a-z']+/g) ?? [];
}

/** The smallest number of words to insert, remove or replace (Levenshtein). */
function errors(said, heard) {
  let row = Array.from({ length: heard.length + 1 }, (_, index) => index);
  for (const [line, word] of said.entries()) {
    const next = [line + 1];
    for (const [column, other] of heard.entries())
      next.push(Math.min(row[column] + (word === other ? 0 : 1), row[column + 1] + 1, next[column] + 1));
    row = next;
  }
  return row.at(-1);
}

let words = 0;
let wrong = 0;
try {
  for (const sentence of SENTENCES) {
    const said = wordsOf(sentence);
    const heard = wordsOf(hear(sentence));
    const count = errors(said, heard);
    words += said.length;
    wrong += count;
    console.log(`${count} of ${said.length}  ${sentence}${count > 0 ? `  heard: ${heard.join(' ')}` : ''}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
const rate = wrong / words;
console.log(
  `word error rate: ${wrong} of ${words}, ${(100 * rate).toFixed(1)} % (aim: at most ${100 * MOST} %)`,
);
process.exitCode = rate > MOST ? 1 : 0;
