// `node bench/pages.mjs FOLDER` measures how well the main text of web pages is found, on the evaluation set of trafilatura
// (https://github.com/adbar/trafilatura): FOLDER is its `tests`, with evaldata.json and the pages in cache/ and eval/. For
// each page, the set lists phrases that belong to its text and phrases that do not. `--list` prints the phrases that were
// missed (-) or wrongly read (+); `--only TEXT` takes only the pages with TEXT in their names.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';

const {
  positionals: [folder],
  values: { list, only = '' },
} = parseArgs({ allowPositionals: true, options: { list: { type: 'boolean' }, only: { type: 'string' } } });
if (folder === undefined) throw new Error('name the folder `tests` of trafilatura');

const bundle = await rolldown({
  input: fileURLToPath(new URL('../src/read/html.ts', import.meta.url)),
  platform: 'node',
});
const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
const { openHtml } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);

const OPTIONS = { readsNotes: false, speaksReadings: false, readsAll: false, code: 'read' };
const { signal } = new AbortController();
/** Removes invisible characters, and joins white space. */
const normal = (text) =>
  text
    .replace(/[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();

async function textOf(bytes) {
  const open = async function* () {
    yield bytes;
  };
  const source = { name: 'page.html', isLive: false, size: bytes.length, bytes: open, again: open };
  const reading = await openHtml(source, OPTIONS, signal);
  let text = '';
  for await (const piece of reading.pieces(signal)) text += piece.kind === 'text' ? piece.text : '\n';
  return normal(text);
}

const sum = { pages: 0, wanted: 0, found: 0, unwanted: 0, spoken: 0, lost: 0, ms: 0 };
for (const item of Object.values(JSON.parse(readFileSync(join(folder, 'evaldata.json'), 'utf8')))) {
  const path = ['cache', 'eval'].map((each) => join(folder, each, item.file)).find(existsSync);
  if (!path || !item.file.includes(only)) continue;
  const started = performance.now();
  const text = await textOf(readFileSync(path)).catch((error) => `${error.message}`);
  sum.ms += performance.now() - started;
  const [found, spoken] = [item.with, item.without].map((all) =>
    all.filter((phrase) => text.includes(normal(phrase))),
  );
  sum.pages += 1;
  sum.wanted += item.with.length;
  sum.found += found.length;
  sum.unwanted += item.without.length;
  sum.spoken += spoken.length;
  if (found.length === 0) sum.lost += 1;
  if (!list) continue;
  const lines = [
    ...item.with.filter((phrase) => !found.includes(phrase)).map((phrase) => `- ${phrase}`),
    ...spoken.map((phrase) => `+ ${phrase}`),
  ];
  if (lines.length > 0) console.log([path, ...lines].join('\n  '));
}
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} % (${part} of ${whole})`;
console.log(
  [
    `pages                 ${sum.pages}, in ${(sum.ms / 1000).toFixed(1)} s`,
    `wanted phrases read   ${percent(sum.found, sum.wanted)}`,
    `unwanted phrases read ${percent(sum.spoken, sum.unwanted)}`,
    `articles lost         ${sum.lost}`,
  ].join('\n'),
);
