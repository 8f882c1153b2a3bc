import { expect, test } from 'vitest';
import { serveText } from '../support/book.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';

const FILES = {
  'a.txt': 'The first one.\n\nA second\none.\n',
  'b.txt': '\n\nThe third one.\n\nThe last one.',
  'c.md': '---\ntitle: No\n---\n\n\n# A heading\n\n\n\nIts text.\n',
  'words.txt': 'second one = other\n',
};

function folder(): Sandbox {
  const sandbox = new Sandbox();
  for (const [name, text] of Object.entries(FILES)) sandbox.file(name, text);
  return sandbox;
}

test.each([
  { args: '-f a.txt', fails: 'second', told: 'the text is missing from line 3 on, "A second one."' },
  { args: '< a.txt', fails: 'second', told: 'the text is missing from line 3 on, "A second one."' },
  { args: '"$(cat b.txt)"', fails: 'last', told: 'the text is missing from line 5 on, "The last one."' },
  {
    args: '-f a.txt -f b.txt',
    fails: 'second',
    told: 'the text of a.txt is missing from line 3 on, "A second one."',
  },
  {
    args: '-f a.txt -f b.txt',
    fails: 'third',
    told: 'the text of b.txt is missing from line 3 on, "The third one."',
  },
  {
    args: '-f b.txt -f - -f c.md < a.txt',
    fails: 'second',
    told: 'the text of stdin is missing from line 3 on, "A second one."',
  },
  {
    args: '-f a.txt -f c.md -f b.txt',
    fails: 'heading',
    told: 'the text of c.md is missing from line 6 on, "A heading."',
  },
  {
    args: '-f a.txt -f c.md -f b.txt',
    fails: 'last',
    told: 'the text of b.txt is missing from line 5 on, "The last one."',
  },
  { args: '-f c.md', fails: 'Its', told: 'the text is missing from line 10 on, "Its text."' },
  {
    args: '--format markdown < c.md',
    fails: 'Its',
    told: 'the text is missing from line 10 on, "Its text."',
  },
  {
    args: '-f b.txt --lexicon words.txt',
    fails: 'last',
    told: 'the text is missing from line 5 on, "The last one."',
  },
])('Text that is missing with $args is told by its place in the input: "$fails".', async (told) => {
  const server = await serveText({
    fault: (number) => (server.texts[number - 1]?.includes(told.fails) ? '500' : undefined),
  });
  const line = `tts --max-chars 20 --concurrency 1 -o out.wav ${told.args}`;
  const run = await folder().shell(line, { env: named(server.url) });
  expectFailure(run, 7, /status 500/);
  expect(run.stderr.split('\n')[0]).toMatch(/; the text (?:of \S+ )?is missing /);
  expect(run.stderr.split('\n')[0]?.split('; ').at(-1)).toBe(told.told);
});

test.each([
  { args: '-f a.txt', places: [{ line: 1 }, { line: 3 }] },
  { args: '-f c.md', places: [{ line: 6 }, { line: 10 }] },
  { args: '-f a.txt --lexicon words.txt', places: [{ line: 1 }, { line: 3 }] },
  {
    args: '-f a.txt -f c.md -f - < b.txt',
    places: [
      { file: 'a.txt', line: 1 },
      { file: 'a.txt', line: 3 },
      { file: 'c.md', line: 6 },
      { file: 'c.md', line: 10 },
      { file: '-', line: 3 },
      { file: '-', line: 5 },
    ],
  },
])('Subtitles in JSON have the lines of the input: $args.', async ({ args, places }) => {
  const server = await serveText();
  const sandbox = folder();
  const line = `tts -o out.wav --subtitles out.json ${args}`;
  const run = await sandbox.shell(line, { env: named(server.url) });
  expect({ status: run.status, stderr: run.stderr }).toEqual({ status: 0, stderr: '' });
  const { cues } = JSON.parse(sandbox.read('out.json').toString());
  expect(cues.map(({ file, line }: { file?: string; line?: number }) => ({ file, line }))).toEqual(places);
});
