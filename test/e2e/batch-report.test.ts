import { linkSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { BROWSER, endBrowser, openPage, type Page } from '../support/browser.ts';
import { answer, silent } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { serveRows } from '../support/row-service.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';

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

afterAll(endBrowser);

/** Runs a batch whose row `refused` fails, and opens its report. */
async function openReport(options: { isDark?: boolean } = {}): Promise<{ page: Page; box: Sandbox }> {
  const server = await serveRows({
    fault: (text) => (text === 'no such words' ? answer(422, 'no') : undefined),
  });
  const box = new Sandbox();
  box.file('p.jsonl', TABLE.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const args = ['batch', 'p.jsonl', '--allow-empty', '-o', 'my sounds/{name}.wav', '--report=report #1.html'];
  expect(await box.run(args, { env: named(server.url) })).toMatchObject({ status: 9 });
  return { page: await openPage(box.path('report #1.html'), options), box };
}

/** The ids of the rows that are shown, from the top. */
const shown = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('li')].filter((row) => row.checkVisibility()).map((row) => row.querySelector('.id').textContent)`,
  );

const focused = (page: Page) =>
  page.evaluate<string>(`document.activeElement.querySelector('.id')?.textContent`);

describe('a run that ends early writes the report', () => {
  const rows = 'id,text\na,First.\nb,Second.\nc,Third.\n';
  const args = 'batch p.csv --concurrency 1 --retries 0 --report report.html';
  const statesIn = (box: Sandbox) =>
    [
      ...box
        .read('report.html')
        .toString()
        .matchAll(/data-state="([^"]*)"/g),
    ].map(([, state]) => state);

  it('when the key is refused', async () => {
    const server = await serveRows({ fault: (text) => (text === 'Second.' ? answer(401, 'no') : undefined) });
    const box = new Sandbox();
    box.file('p.csv', rows);
    expectFailure(await box.run(args, { env: named(server.url) }), 3, /does not accept the key/);
    expect(statesIn(box)).toEqual(['made', 'not reached', 'not reached']);
    const page = box.read('report.html').toString();
    expect(page).toContain('3 rows: 0 failed, 1 made, 0 unchanged, 0 skipped, 2');
    expect(page).toContain('value="not reached">');
  });

  it('at Ctrl-C', async () => {
    const server = await serveRows({ fault: (text) => (text === 'Second.' ? silent : undefined) });
    const box = new Sandbox();
    box.file('p.csv', rows);
    const run = box.start(args, { env: named(server.url) });
    await expect.poll(() => server.requests.length).toBeGreaterThan(1);
    await expect.poll(() => box.list()).toContain('a.wav');
    expect((await run.endBy('SIGINT')).ended.status).toBe(130);
    expect(statesIn(box)).toContain('not reached');
  });
});

describe.skipIf(!isThere(BROWSER))('the report of a batch, in a browser', () => {
  it('shows what failed first, all as text, filters it, and asks for nothing from outside', async () => {
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
    const bad = 'typeof bad + document.querySelectorAll("li img, li script").length';
    expect(await page.evaluate(bad)).toBe('undefined0');
    // A direction that a text sets and does not end holds for its own cell only.
    const style = (name: string) => `getComputedStyle(document.querySelector('li .${name}'))`;
    expect(await page.evaluate(`${style('speaker')}.direction`)).toBe('ltr');
    expect(await page.evaluate(`${style('text')}.unicodeBidi`)).toMatch(/isolate|plaintext/);
    expect(page.requests).toEqual([expect.stringMatching(/^file:\/\/.*\/report%20%231\.html$/)]);

    await page.evaluate(`document.querySelector('[value="failed"]').click()`);
    expect(await shown(page)).toEqual(['refused']);
    await page.evaluate(`document.querySelector('[value="all"]').click()`);
    for (const [words, ids] of [
      ['HELLO there', ['hello']],
      ['שלום', [`<b title="x">'q'`]],
      ['42', [`<b title="x">'q'`]],
      ['nowhere', []],
    ] as const) {
      const value = JSON.stringify(words);
      await page.evaluate(
        `search.value = ${value}; search.dispatchEvent(new Event('input', { bubbles: true }))`,
      );
      expect(await shown(page)).toEqual(ids);
    }
    expect(await page.evaluate('count.textContent')).toBe('0 shown, 0 of 5 checked.');
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
    const { dataSize, byteRate } = parseWav(box.read('my sounds/a #1 b%20c.wav'));
    expect(await duration()).toBeCloseTo(dataSize / byteRate, 4);
    await page.press('ArrowUp');
    await page.press(' ');
    expect(await page.evaluate('decodeURIComponent(sound.src)')).toMatch(/my sounds\/hello\.wav$/);
    await page.press('x');
    expect(await page.evaluate(`document.activeElement.querySelector('input').checked`)).toBe(true);
    await page.press('/');
    expect(await page.evaluate('document.activeElement === search')).toBe(true);
    // Chromium stores what a page keeps a moment later, in another process.
    const isKept = async () => {
      await page.reload();
      return page.evaluate('boxOf(rows[1]).checked');
    };
    await expect.poll(isKept, { timeout: 20_000 }).toBe(true);
  });

  it('keeps an approval for a text and its sound, and saves what --check --approved reads', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const run = (more: string) => box.run(`batch p.csv ${more}`, { env: named(server.url) });
    const check = async () => {
      const { status, stdout, stderr } = await run('--check --approved approved.jsonl');
      return { status, stdout: stdout.toString(), stderr };
    };
    /** Clicks the button, and gives the lines that the browser would save. */
    const save = (page: Page) =>
      page.evaluate<string>(`new Promise((resolve) => {
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then(resolve); return make(blob) };
        document.getElementById('save').click();
      })`);
    box.file('p.csv', 'id,text\na,one\n"b ""<2>",two\nc,three\n');
    await run('--report r.html');
    const page = await openPage(box.path('r.html'));
    await page.evaluate('rows.slice(0, 2).forEach((row) => boxOf(row).click())');
    box.file('approved.jsonl', await save(page));
    const lines = box.read('approved.jsonl').toString().trim().split('\n');
    const keys = lines.map((line) => Object.keys(JSON.parse(line)));
    expect(keys).toEqual(Array(2).fill(['id', 'key', 'sha256']));
    expect(await check()).toEqual({
      status: 9,
      stdout: 'not approved: c.wav (p.csv, line 4, id c)\n',
      stderr: expect.stringMatching(/tts: 1 file is not approved\nhint: .*--report/),
    });
    box.file('p.csv', 'id,text\na,one more\n"b ""<2>",two\nc,three\n');
    await run('--report r.html --approved approved.jsonl');
    const changed = 'changed since it was approved: a.wav (p.csv, line 2, id a)\n';
    const missing = 'not approved: c.wav (p.csv, line 4, id c)\n';
    expect(await check()).toMatchObject({ status: 9, stdout: changed + missing });
    // In another browser, what the file approves is ticked; a row that has changed is not.
    const other = await openPage(box.path('r.html'));
    const ticked = await other.evaluate<boolean[]>('rows.map((row) => boxOf(row).checked)');
    expect(ticked).toEqual([false, true, false]);
    await other.evaluate('rows.filter((row) => !boxOf(row).checked).forEach((row) => boxOf(row).click())');
    box.file('approved.jsonl', await save(other));
    expect(await check()).toMatchObject({ status: 0 });
  });

  it('follows the colours of the system, and draws wave forms', async () => {
    const lights: number[] = [];
    for (const isDark of [true, false]) {
      const { page } = await openReport({ isDark });
      lights.push(
        await page.evaluate<number>(
          `(() => { const [r, g, b] = getComputedStyle(document.querySelector('header')).backgroundColor.match(/\\d+/g); return (+r + +g + +b) / 765 })()`,
        ),
      );
      // A wave form is painted when its row comes into view.
      const painted = () =>
        page.evaluate<number>(
          `document.querySelector('canvas').getContext('2d').getImageData(0, 0, 200, 32).data.filter((byte) => byte > 0).length`,
        );
      await expect.poll(painted).toBeGreaterThan(100);
    }
    expect(lights[0]).toBeLessThan(0.3);
    expect(lights[1]).toBeGreaterThan(0.7);
  });
});

describe('--report', () => {
  async function reporting(table = 'id,text\na,one\n') {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', table);
    const report = (name: string, more = '') =>
      box.run(`batch p.csv --report ${name} ${more}`, { env: named(server.url) });
    return { server, box, report };
  }

  it('is refused with --check or --dry-run, since no row is made', async () => {
    const { report } = await reporting();
    for (const option of ['--check', '--dry-run'])
      expectFailure(await report('r.html', option), 2, /--report/);
  });

  it('is not written over what the batch reads or writes, nor over another file', async () => {
    const { server, box, report } = await reporting('id,file\na,text.txt\n');
    box.file('text.txt', 'one');
    linkSync(box.path('p.csv'), box.path('other.csv'));
    for (const name of ['p.csv', 'text.txt', 'a.wav', 'tts-batch.2-of-3.jsonl', 'other.csv'])
      expectFailure(await report(name), 2, /this batch reads or writes that file/);
    const other = await report('out/../out/A.wav', '-o out/{id}.wav');
    expectFailure(other, 2, /this batch reads or writes that file/);
    box.file('words.txt', 'gif = jif\n');
    const lexicon = await report('words.txt', '--lexicon words.txt');
    expectFailure(lexicon, 2, /words\.txt: that file is not a report/);
    expect(box.read('words.txt').toString()).toBe('gif = jif\n');
    expect(server.requests).toEqual([]);
    for (let time = 1; time <= 2; time += 1) expect(await report('r.html')).toMatchObject({ status: 0 });
  });

  it('that cannot be written is found before anything is sent', async () => {
    const { server, report } = await reporting();
    expectFailure(await report('none/r.html'), 8, /cannot write none\/r\.html/);
    expectFailure(
      await report('p.csv/r.html'),
      8,
      /cannot write \S*r\.html: a part of its path is not a folder/,
    );
    expect(server.requests).toEqual([]);
  });

  it('plays a sound of any format', async () => {
    const { box, report } = await reporting();
    expect(await report('r.html', '-o {id}.mp3')).toMatchObject({ status: 0 });
    expect(box.read('r.html').toString()).toContain('<button data-file="a.mp3"');
    expect(box.read('r.html').toString()).not.toContain('no sound</span>');
  });
});

it('--approved refuses a file that is no list of approvals, and stands with --check or --report.', async () => {
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\n');
  const check = () => box.run('batch p.csv --check --approved approved.jsonl');
  expectFailure(await check(), 2, /cannot read approved\.jsonl/);
  box.file('approved.jsonl', '{"id":"a"}\n');
  expectFailure(
    await check(),
    2,
    /approved\.jsonl, line 1: this is not a line of a report's approved\.jsonl/,
  );
  const alone = await box.run('batch p.csv --approved approved.jsonl');
  expectFailure(alone, 2, /--approved only works with --check or --report\nhint: /);
});
