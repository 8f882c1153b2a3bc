import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type ReportRow, reportPage } from '../../src/cli/batch-report.ts';
import { BROWSER, openPage, type Page, secondsOfWav } from '../support/browser.ts';
import { emptyFolder } from '../support/folder.ts';
import { answer } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { serveRows } from '../support/row-service.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const HOSTILE =
  '<img src=http://127.0.0.1:1/x onerror="window.bad=1"></li><script>window.bad=1</script> \'"&amp;';
const BIDI = '\u202Eevil\u2067 שלום';

const TABLE = [
  { id: 'hello', name: 'hello', text: 'Hello there.' },
  { id: 'refused', name: 'refused', text: 'no such words' },
  { id: 'a #1 b?c%20d', name: 'a #1 b%20c', text: HOSTILE },
  { id: `<b title="x">'q'`, name: "'q'", text: BIDI, speaker: 42 },
  { id: 'nothing', name: 'nothing', text: '' },
];

/** Runs a batch whose row `refused` fails, and opens its report. */
async function openReport(options: { isDark?: boolean } = {}): Promise<{ page: Page; box: Sandbox }> {
  const server = await serveRows({
    fault: (text) => (text === 'no such words' ? answer(422, 'no') : undefined),
  });
  const box = new Sandbox();
  box.file('p.jsonl', TABLE.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const args = [
    'batch',
    'p.jsonl',
    '--allow-empty',
    '-o',
    'my sounds/{name}.wav',
    '--report',
    'report #1.html',
  ];
  expect(await box.run(args, { env: named(server.url) })).toMatchObject({ status: 9 });
  return { page: await openPage(box.path('report #1.html'), options), box };
}

/** The ids of the rows that are shown, from the top. */
const shown = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('li')].filter((row) => row.checkVisibility()).map((row) => row.querySelector('.id').textContent)`,
  );

const search = (page: Page, words: string) =>
  page.evaluate(
    `search.value = ${JSON.stringify(words)}; search.dispatchEvent(new Event('input', { bubbles: true }))`,
  );

const focused = (page: Page) =>
  page.evaluate<string>(`document.activeElement.querySelector('.id')?.textContent`);

describe.skipIf(!isThere(BROWSER))('the report of a batch, in a browser', () => {
  it('shows what failed first, all as text, and asks for nothing from outside', async () => {
    const { page } = await openReport();
    expect(await shown(page)).toEqual(['refused', 'hello', 'a #1 b?c%20d', `<b title="x">'q'`, 'nothing']);
    const cells = (name: string) =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('li .${name}')].map((cell) => cell.textContent)`,
      );
    expect(await cells('text')).toEqual(['no such words', 'Hello there.', HOSTILE, BIDI, '']);
    expect(await cells('speaker')).toEqual(['7', '7', '7', '42', '7']);
    expect(await cells('state')).toEqual(['failed', 'made', 'made', 'made', 'skipped']);
    expect(await cells('error')).toEqual([expect.stringContaining('422')]);
    expect(await page.evaluate('typeof bad + document.querySelectorAll("li img, li script").length')).toBe(
      'undefined0',
    );
    // A direction that a text sets and does not end holds for its own cell only.
    expect(await page.evaluate(`getComputedStyle(document.querySelector('li .speaker')).direction`)).toBe(
      'ltr',
    );
    expect(await page.evaluate(`getComputedStyle(document.querySelector('li .text')).unicodeBidi`)).toMatch(
      /isolate|plaintext/,
    );
    expect(page.requests).toEqual([expect.stringMatching(/^file:\/\/.*\/report%20%231\.html$/)]);
  });

  it('is used by keyboard: arrows choose a row, the space bar plays its file', async () => {
    const { page, box } = await openReport();
    for (const id of ['refused', 'hello', 'a #1 b?c%20d']) {
      await page.press('ArrowDown');
      expect(await focused(page)).toBe(id);
    }
    const duration = () =>
      page.evaluate<number>(
        `new Promise((resolve) => { const poll = () => sound.duration > 0 || sound.error ? resolve(sound.duration) : setTimeout(poll, 20); poll() })`,
      );
    await page.press(' ');
    expect(await duration()).toBeCloseTo(secondsOfWav(box.path('my sounds/a #1 b%20c.wav')), 4);
    await page.press('ArrowUp');
    await page.press(' ');
    expect(await page.evaluate('decodeURIComponent(sound.src)')).toMatch(/my sounds\/hello\.wav$/);
    expect(await duration()).toBeCloseTo(secondsOfWav(box.path('my sounds/hello.wav')), 4);
    await page.press('x');
    expect(await page.evaluate(`document.activeElement.querySelector('input').checked`)).toBe(true);
    await page.press('/');
    expect(await page.evaluate('document.activeElement === search')).toBe(true);
    // Chromium stores what a page keeps a moment later, in another process.
    await sleep(300);
    await page
      .evaluate('location.reload(), new Promise((resolve) => setTimeout(resolve, 500))')
      .catch(() => {});
    await expect.poll(() => page.evaluate('boxOf(rows[1]).checked').catch(() => false)).toBe(true);
  });

  it('keeps an approval for a text and its sound, and saves what --check --approved reads', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const run = (...more: string[]) => box.run(['batch', 'p.csv', ...more], { env: named(server.url) });
    const check = async () => {
      const { status, stdout, stderr } = await run('--check', '--approved', 'approved.jsonl');
      return { status, stdout: stdout.toString(), stderr };
    };
    /** Clicks the button, and gives the lines that the browser would save. */
    const save = (page: Page) =>
      page.evaluate<string>(`new Promise((resolve) => {
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then(resolve); return make(blob) };
        document.getElementById('save').click();
      })`);
    const ticked = (page: Page) => page.evaluate<boolean[]>('rows.map((row) => boxOf(row).checked)');
    box.file('p.csv', 'id,text\na,one\n"b ""<2>",two\nc,three\n');
    await run('--report', 'r.html');
    const page = await openPage(box.path('r.html'));
    await page.evaluate('rows.slice(0, 2).forEach((row) => boxOf(row).click())');
    box.file('approved.jsonl', await save(page));
    const lines = box.read('approved.jsonl').toString().trim().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual(
      Array(2).fill(['id', 'key', 'sha256']),
    );
    expect(await check()).toEqual({
      status: 9,
      stdout: 'not approved: c.wav (p.csv, line 4, id c)\n',
      stderr: expect.stringMatching(/tts: 1 file is not approved\nhint: .*--report/),
    });

    box.file('p.csv', 'id,text\na,one more\n"b ""<2>",two\nc,three\n');
    await run('--report', 'r.html', '--approved', 'approved.jsonl');
    expect(await check()).toMatchObject({
      status: 9,
      stdout:
        'changed since it was approved: a.wav (p.csv, line 2, id a)\nnot approved: c.wav (p.csv, line 4, id c)\n',
    });
    // In another browser, what the file approves is ticked; a row that has changed is not.
    const other = await openPage(box.path('r.html'));
    expect(await ticked(other)).toEqual([false, true, false]);
    await other.evaluate('rows.filter((row) => !boxOf(row).checked).forEach((row) => boxOf(row).click())');
    box.file('approved.jsonl', await save(other));
    expect(await check()).toMatchObject({ status: 0 });
  });

  it('filters by state and searches in ids, texts and speakers', async () => {
    const { page } = await openReport();
    const choose = (state: string) => page.evaluate(`document.querySelector('[value="${state}"]').click()`);
    await choose('failed');
    expect(await shown(page)).toEqual(['refused']);
    await choose('all');
    await search(page, 'HELLO there');
    expect(await shown(page)).toEqual(['hello']);
    await search(page, 'שלום');
    expect(await shown(page)).toEqual([`<b title="x">'q'`]);
    await search(page, '42');
    expect(await shown(page)).toEqual([`<b title="x">'q'`]);
    await search(page, 'nowhere');
    expect(await shown(page)).toEqual([]);
    expect(await page.evaluate('count.textContent')).toBe('0 shown, 0 of 5 checked.');
  });

  it.each([
    [true, (light: number) => light < 0.3],
    [false, (light: number) => light > 0.7],
  ])('follows the colours of the system: dark %s', async (isDark, fits) => {
    const { page } = await openReport({ isDark });
    const light = await page.evaluate<number>(
      `(() => { const [r, g, b] = getComputedStyle(document.querySelector('header')).backgroundColor.match(/\\d+/g); return (+r + +g + +b) / 765 })()`,
    );
    expect(light).toSatisfy(fits);
    // A wave form is painted when its row comes into view.
    const painted = () =>
      page.evaluate<number>(
        `document.querySelector('canvas').getContext('2d').getImageData(0, 0, 200, 32).data.filter((byte) => byte > 0).length`,
      );
    await expect.poll(painted).toBeGreaterThan(100);
  });

  it('stays quick with ten thousand rows', async () => {
    const folder = emptyFolder();
    mkdirSync(`${folder}/out`);
    writeFileSync(`${folder}/out/a.wav`, plainWav(sound(2000)));
    const peaks = Uint8Array.from({ length: 100 }, (_, at) => at % 64);
    async function* rows(): AsyncGenerator<ReportRow> {
      for (let at = 0; at < 10_000; at += 1)
        yield {
          id: `row-${at}`,
          text: `This is the text of row ${at}, as long as most.`,
          speaker: '7',
          state: at < 10 ? 'failed' : 'made',
          file: 'out/a.wav',
          seconds: 1,
          peaks,
        };
    }
    const head = { title: 'many', summary: 'many rows', states: ['failed', 'made'] };
    await writeFile(`${folder}/many.html`, reportPage(head, rows()));
    const begun = performance.now();
    const page = await openPage(`${folder}/many.html`);
    await search(page, 'row-9999');
    expect(await shown(page)).toEqual(['row-9999']);
    await search(page, '');
    await page.press('ArrowDown');
    await page.press(' ');
    expect(await page.evaluate('rows.length')).toBe(10_000);
    // A bound against a hang, not an aim.
    expect(performance.now() - begun).toBeLessThan(30_000);
  });
});

it('--report with --check or --dry-run is refused, since no row is made', async () => {
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\n');
  for (const option of ['--check', '--dry-run'])
    expectFailure(await box.run(['batch', 'p.csv', option, '--report', 'r.html']), 2, /--report/);
});

it.each([
  ['its table', 'p.csv', []],
  ['the text of a row', 'text.txt', []],
  ['the WAV of a row', 'a.wav', []],
  ['the WAV of a row, by another way', 'out/../out/A.wav', ['-o', 'out/{id}.wav']],
  ['a manifest', 'tts-batch.2-of-3.jsonl', []],
  ['a hard link to its table', 'other.csv', []],
])('--report is not written over %s', async (_, name, options) => {
  const server = await serveRows();
  const box = new Sandbox();
  linkSync(box.file('p.csv', 'id,file\na,text.txt\n'), box.path('other.csv'));
  box.file('text.txt', 'one');
  const run = await box.run(['batch', 'p.csv', ...options, '--report', name], { env: named(server.url) });
  expectFailure(run, 2, /this batch reads or writes that file/);
  expect(server.requests).toEqual([]);
});

it.each([
  ['none/r.html', /cannot write none\/r\.html/],
  ['p.csv/r.html', /cannot write \S*p\.csv\/r\.html: a part of its path is not a folder/],
  ['/dev/null/r.html', /cannot write \/dev\/null\/r\.html: a part of its path is not a folder/],
])('A report that cannot be written is found before anything is sent: %s', async (name, fault) => {
  const server = await serveRows();
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\n');
  const args = ['batch', 'p.csv', '--report', name];
  expectFailure(await box.run(args, { env: named(server.url) }), 8, fault);
  expect(server.requests).toEqual([]);
});

it.each([
  [
    'one',
    '{"id":"a"}\n',
    /--approved approved\.jsonl, line 1: this is not a line of a report's approved\.jsonl/,
  ],
  ['none', undefined, /cannot read approved\.jsonl/],
])('--approved refuses a file that is no list of approvals: %s', async (_, content, said) => {
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\n');
  if (content) box.file('approved.jsonl', content);
  expectFailure(await box.run(['batch', 'p.csv', '--check', '--approved', 'approved.jsonl']), 2, said);
  expectFailure(
    await box.run(['batch', 'p.csv', '--approved', 'approved.jsonl']),
    2,
    /--approved is given alone\nhint: add --check or --report/,
  );
});

it('--report replaces an older report, and no other file', async () => {
  const server = await serveRows();
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\n');
  box.file('words.txt', 'gif = jif\n');
  const report = (name: string) =>
    box.run(['batch', 'p.csv', '--lexicon', 'words.txt', '--report', name], { env: named(server.url) });
  expectFailure(await report('words.txt'), 2, /words\.txt: that file is not a report/);
  expect(box.read('words.txt').toString()).toBe('gif = jif\n');
  expect(server.requests).toEqual([]);
  for (let time = 1; time <= 2; time += 1) expect(await report('r.html')).toMatchObject({ status: 0 });
});

it('--report plays a sound of any format', async () => {
  const server = await serveRows();
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\n');
  const run = await box.run(['batch', 'p.csv', '-o', '{id}.mp3', '--report', 'r.html'], {
    env: named(server.url),
  });
  expect(run).toMatchObject({ status: 0 });
  expect(box.read('r.html').toString()).toContain('<button data-file="a.mp3"');
  expect(box.read('r.html').toString()).not.toContain('no sound</span>');
});

it.each([[], ['--json'], ['-v']])(
  'A key that a service quotes is in nothing that a batch leaves: %s',
  async (...flags) => {
    const key = 'TOPSECRETKEY-42-42';
    const server = await serveRows({
      fault: (text) => (text === 'no' ? answer(422, `{"message":"bad text for key ${key}"}`) : undefined),
    });
    const box = new Sandbox();
    box.file('p.csv', 'id,text\ngood,yes\nbad,no\n');
    const args = ['batch', 'p.csv', '-o', '{id}.wav', '--report', 'report.html', ...flags];
    const run = await box.run(args, { env: { ...named(server.url), TTS_API_KEY: key } });
    expect(run.status).toBe(9);
    expect(`${run.stdout}${run.stderr}`).toContain('bad text for key ***');
    expect(`${run.stdout}${run.stderr}`).not.toContain(key);
    expect(`${box.read('report.html')}`).toContain('bad text for key ***');
    for (const file of box.list()) expect(`${box.read(file)}`).not.toContain(key);
  },
);
