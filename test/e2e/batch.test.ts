import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Script } from '../support/byte-server.ts';
import { decoded } from '../support/decoded.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { isThere } from '../support/programs.ts';
import { passingFaults, type RowServiceOptions, serveRows, wavOf } from '../support/row-service.ts';
import { type Arguments, expectFailure, KEY, named, type RunOptions, Sandbox } from '../support/run.ts';
import { smallDisk } from '../support/small-disk.ts';
import { lastingLines } from '../support/terminal.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const PROMPTS = 'id,lang,text\nhello,en,Hello there.\nbye,en,"Good bye, my friend."\nhallo,de,Guten Tag.\n';
const OUT = '-o out/{lang}/{id}.wav';
const ONE = 'id,text\na,one\n';
const TWO = 'id,text\na,one\nb,two\n';
const rowsOf = (count: number) =>
  `id,text\n${Array.from({ length: count }, (_, at) => `r${at},text ${at}`).join('\n')}\n`;

/** A machine with a table, and a service of rows. */
async function batchOf(table: string | Uint8Array, options: RowServiceOptions = {}) {
  const server = await serveRows(options);
  const box = new Sandbox();
  const env = named(server.url);
  box.file('p.csv', table);
  const batch = (args: Arguments = '', more: RunOptions = {}) =>
    box.run(typeof args === 'string' ? `batch p.csv ${args}` : ['batch', 'p.csv', ...args], {
      ...more,
      env: { ...env, ...more.env },
    });
  const texts = () => server.requests.map(({ json }) => (json as { text: string }).text);
  const manifest = (name = 'out/tts-batch.jsonl') => linesOf(box.read(name));
  return { server, box, env, batch, texts, manifest };
}

const linesOf = (bytes: Buffer) =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a batch', () => {
  it('is a table of a spreadsheet, whatever separates its cells', async () => {
    const { box, texts, env } = await batchOf('');
    box.file('excel.csv', '\ufeffid;text;lang\r\nwelcome;"Welcome; please wait.";en\r\n;;\r\n');
    box.file('sep.csv', 'sep=^\r\nid^text^lang\r\nbye^Good bye, my friend.^en\r\n');
    box.file('colons.txt', 'id:text:lang\nhallo:Guten Tag.:de\n');
    for (const table of ['excel.csv', 'sep.csv', 'colons.txt --delimiter :'])
      expect(await box.run(`batch ${table} ${OUT}`, { env })).toMatchObject({ status: 0 });
    expect(texts()).toEqual(['Welcome; please wait.', 'Good bye, my friend.', 'Guten Tag.']);
    expectFailure(
      await box.run(`batch excel.csv --delimiter , ${OUT}`),
      2,
      /middle of a cell \(cells are separated by commas\)/,
    );
    box.file('rows.jsonl', '{"id":"a","text":"one"}');
    expectFailure(await box.run('batch rows.jsonl --delimiter ;'), 2, /--delimiter is for CSV and TSV/);
    expectFailure(await box.run(['batch', 'excel.csv', '--delimiter', ';;']), 2, /must be one character/);
  });

  it('makes one file for each row, and a manifest in the order of the table', async () => {
    const { box, batch, manifest } = await batchOf(PROMPTS);
    expect(await batch(OUT)).toMatchObject({
      status: 0,
      stderr: 'tts: 3 rows: 3 made, 0 unchanged, 0 failed, 0 skipped\n',
    });
    expect(box.read('out/en/bye.wav')).toEqual(Buffer.from(wavOf('Good bye, my friend.')));
    expect(manifest()).toMatchObject([
      { id: 'hello', file: 'en/hello.wav' },
      { id: 'bye', file: 'en/bye.wav' },
      { id: 'hallo', file: 'de/hallo.wav' },
    ]);
    expect(readdirSync(box.path('out')).sort()).toEqual(['de', 'en', 'tts-batch.jsonl']);
  });

  it('removes what killed runs have left of files with long names', async () => {
    const { box, batch } = await batchOf(TWO);
    const names = ['a', 'b'].map((id) => `${id}${'x'.repeat(240)}.wav`);
    const parts = ['a.wav', ...names.map((name) => name.slice(0, 200))].map(
      (name) => `${name}.1-00000000.part`,
    );
    for (const part of parts) {
      box.file(part, 'x');
      utimesSync(box.path(part), 1_000_000_000, 1_000_000_000);
    }
    expect(await batch(`-o {id}${'x'.repeat(240)}.wav`)).toMatchObject({ status: 0 });
    expect(box.list()).toEqual(['a.wav.1-00000000.part', ...names, 'p.csv', 'tts-batch.jsonl']);
  });

  it('lies in the home folder where a template in quotes begins with it', async () => {
    const { box, batch } = await batchOf(ONE);
    for (const [folder, home] of [
      ['~/prompts', `${box.home}/prompts`],
      ['~', box.home],
    ]) {
      const args = ['-o', `${folder}/{id}.wav`];
      expect(await batch(args)).toMatchObject({ status: 0 });
      expect(existsSync(`${home}/a.wav`)).toBe(true);
      expect(await batch([...args, '--check'])).toMatchObject({ status: 0 });
    }
    expect(box.list()).not.toContain('~');
  });

  it('asks once for rows of equal text, and once for each voice that they have', async () => {
    const rows = Array.from({ length: 6 }, (_, number) => `r${number},Hello there.,\n`);
    const table = `id,text,speaker\n${rows.join('')}other,Hello there.,181\n`;
    const { server, box, batch } = await batchOf(table, { delay: 100 });
    const run = await batch('-o out/{id}.wav', { env: { TTS_CACHE: '1' } });
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('7 made') });
    for (const id of ['r0', 'r5', 'other'])
      expect(box.read(`out/${id}.wav`)).toEqual(Buffer.from(wavOf('Hello there.')));
    const speakers = server.requests.map(({ json }) => (json as { speaker_no: number }).speaker_no);
    expect(speakers.sort((a, b) => a - b)).toEqual([7, 181]);
  });

  it('asks for nothing again that is unchanged, and for what is changed, damaged or missing', async () => {
    const { server, box, batch } = await batchOf(PROMPTS);
    await batch(OUT);
    expect(await batch(`${OUT} -q`)).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests).toHaveLength(3);
    box.file('p.csv', PROMPTS.replace('Guten Tag', 'Guten Abend'));
    writeFileSync(box.path('out/en/bye.wav'), 'damaged');
    rmSync(box.path('out/en/hello.wav'));
    expect((await batch(`${OUT} --dry-run`)).stdout.toString()).toBe(
      '3 rows: 1 new, 2 changed, 0 unchanged, 0 empty; 44 characters, 44 to send; about 4.5 s of sound\n',
    );
    expect(server.requests).toHaveLength(3);
    await batch(OUT);
    expect(server.requests).toHaveLength(6);
    expect(box.read('out/de/hallo.wav')).toEqual(Buffer.from(wavOf('Guten Abend.')));
  });

  it('knows that a row is unchanged, whatever signs its text has', async () => {
    const signs = [
      '\t',
      '\f',
      '\n\n',
      '\r',
      '\u0085',
      '\u00ad',
      '\u200b',
      '\u2028',
      '\u2029',
      '\ufeff',
      '\x1b[1m',
      '--',
    ];
    const rows = signs.map((sign, at) => `r${at},"One ${sign} two."`);
    const { batch } = await batchOf(['id,text', ...rows].join('\n'));
    await batch();
    expect(await batch('--check')).toMatchObject({ status: 0 });
  });

  it('makes the first rows first, under names without the signs that systems forbid', async () => {
    const rows = Array.from(
      { length: 6 },
      (_, row) => `${row},What? A/B: ${row},${`Sentence of row ${row}. `.repeat(12)}`,
    );
    const { server, batch } = await batchOf(['id,title,text', ...rows].join('\n'));
    const line = '-o out/{title}.wav --max-chars 40 --concurrency 2';
    const run = await batch(`${line} --json`);
    expect(run.status).toBe(0);
    const made = linesOf(run.stdout).slice(0, -1);
    for (const { id, out } of made) expect(out).toBe(`out/What_ A_B_ ${id}.wav`);
    // Two rows are made at once, so that the requests of neighbours mix.
    const asked = [...new Set([...server.spoken.keys()].map((text) => Number(/row (\d)/.exec(text)?.[1])))];
    expect(asked).toHaveLength(rows.length);
    for (const [place, row] of asked.entries()) expect(Math.abs(row - place)).toBeLessThanOrEqual(1);
    expect((await batch(line)).stderr).toBe(
      'tts: in the names of files "What? A/B: 0" becomes "What_ A_B_ 0", and 5 more are changed in the same way\ntts: 6 rows: 0 made, 6 unchanged, 0 failed, 0 skipped\n',
    );
  });

  it('tells before what of it the cache has, and counts what comes twice once', async () => {
    const { server, box, batch } = await batchOf('id,text\na,Kept before.\n');
    const cache = { env: { TTS_CACHE: '1' } };
    box.file('.ttsrc.json', '{"pricePer1000Chars":1000,"currency":"EUR"}');
    await batch('-o old/{id}.wav', cache);
    box.file('p.csv', 'id,text\na,Kept before.\nb,Twice.\nc,Twice.\n');
    const keyless = { env: { TTS_CACHE: '1', TTS_API_KEY: '' } };
    expect((await batch('-o new/{id}.wav --dry-run', keyless)).stdout.toString()).toMatch(
      /^3 rows: 3 new, .*; 24 characters, 6 to send, price 6\.00 EUR; about .* of sound\n$/,
    );
    const json = await batch('-o new/{id}.wav --dry-run --json', keyless);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ charactersToSend: 6, price: 6 });
    await batch('-o new/{id}.wav', cache);
    expect(server.requests).toHaveLength(2);
  });

  it.each(['-s 8', '--lexicon words'])('is made again when %s changes', async (option) => {
    const { server, box, batch } = await batchOf(PROMPTS);
    box.file('words', 'Hello = Hi\nGood = Well\nGuten = Schönen\n');
    await batch(OUT);
    await batch(`${OUT} ${option}`);
    expect(server.requests).toHaveLength(6);
  });

  it('takes speaker, rate and instructions from the row before the options', async () => {
    const { server, box, env } = await batchOf('');
    const row = { id: 'a', text: 'one', speaker: 3, sampleRate: 8000, instructions: 'calm' };
    box.file('p.jsonl', `${JSON.stringify(row)}\n{"id":"b","text":"two"}\n`);
    await box.run('batch p.jsonl -r 16000', { env });
    expect(server.requests.map(({ json }) => json)).toEqual([
      { text: 'one', speaker_no: 3, config: { sample_rate: 8000, instructions: 'calm' } },
      { text: 'two', speaker_no: 7, config: { sample_rate: 16_000 } },
    ]);
  });

  it('reads the text of a row from a file next to the table, Markdown too, or in --files-from', async () => {
    const { box, env, texts } = await batchOf('');
    box.file('tables/p.csv', 'id,file\na,text.txt\nb,text.md\n');
    for (const name of ['text.txt', 'text.md']) box.file(`tables/${name}`, 'From a *file*.');
    await box.run('batch tables/p.csv', { env });
    expect(texts().sort()).toEqual(['From a *file*.', 'From a file.']);
    box.file('texts/a.txt', 'from elsewhere');
    box.file('tables/p.csv', 'id,file\na,../texts/a.txt\n');
    expect(await box.run('batch tables/p.csv --files-from texts', { env })).toMatchObject({ status: 0 });
    expect(texts().at(-1)).toBe('from elsewhere');
    const none = await box.run('batch tables/p.csv --files-from none', { env });
    expectFailure(none, 2, /--files-from none: there is no such folder/);
  });

  it('speaks with the built-in voice without any set-up', async () => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\nb,\n');
    const run = await box.run('batch p.csv --json --allow-empty');
    expect(run.status).toBe(0);
    expect(linesOf(run.stdout)).toEqual([
      { id: 'b', state: 'skipped', out: 'b.wav' },
      { id: 'a', state: 'made', out: 'a.wav' },
      expect.objectContaining({ rows: 2, made: 1, skipped: 1 }),
    ]);
  });

  it('writes each format that the endings name, and proves the next time that nothing changed', async () => {
    const ffmpeg = isThere('ffmpeg');
    /** Fewer than 1024 make an `.aac` that nobody knows as one. */
    const frames = 20_000;
    const { box, run, server } = await machineWith(complete(plainWav(sound(2 * frames))));
    const ofFfmpeg = ['b.m4b', 'c.opus', 'd.flac', 'f.m4a', 'g.ogg', 'h.aac'];
    const files = ['a.mp3', 'e.wav', ...(ffmpeg ? ofFfmpeg : [])].sort();
    box.file('p.csv', `id,text\n${files.map((file) => `${file},The text of ${file[0]}.\n`).join('')}`);
    expect(await run('batch p.csv -o {id}')).toMatchObject({ status: 0 });
    expect(box.list()).toEqual([...files, 'p.csv', 'tts-batch.jsonl']);
    for (const file of ffmpeg ? files : []) {
      const more = decoded(box.path(file), 22_050).length - frames;
      expect(more, file).toBeGreaterThanOrEqual(0);
      expect(more, file).toBeLessThan(/\.(?:m4[ab]|aac|ogg)$/.test(file) ? 1024 : 1);
    }
    const asked = () => server.requests.filter(({ method }) => method === 'POST');
    expect(asked()).toHaveLength(files.length);
    expect((await run('batch p.csv -o {id}')).stderr).toContain(`0 made, ${files.length} unchanged`);
    expect(asked()).toHaveLength(files.length);
  });
});

describe('a row that fails', () => {
  const fault = (text: string) => (text.startsWith('Guten') ? answer(422, 'no such words') : undefined);

  it('does not stop the others: 9, with what needs action and the command that repeats it', async () => {
    const { box, batch, manifest } = await batchOf(PROMPTS, { fault });
    const run = await batch(OUT);
    expect(run.status).toBe(9);
    expect(run.stderr).toMatch(
      /\ntts: 1 of 3 rows failed\n {2}p\.csv, line 4 \(hallo\): .*422.*no such words/,
    );
    expect(run.stderr).toMatch(/hint: .*tts batch p\.csv -o 'out\/\{lang\}\/\{id\}\.wav'\n$/);
    expect(manifest().map(({ id }) => id)).toEqual(['hello', 'bye']);
    expect(existsSync(box.path('out/de/hallo.wav'))).toBe(false);
  });

  it('is an object on stdout with --json, with the error as elsewhere', async () => {
    const { batch } = await batchOf(PROMPTS, { fault });
    const run = await batch(`${OUT} --json`);
    expect(linesOf(run.stdout).find(({ id }) => id === 'hallo')).toMatchObject({
      state: 'failed',
      out: 'out/de/hallo.wav',
      error: { exitCode: 7, message: expect.stringContaining('no such words') },
    });
    expect(JSON.parse(run.stderr).error).toMatchObject({ exitCode: 9 });
  });

  it('keeps its old file, and is still stale', async () => {
    let isBroken = false;
    const { box, batch } = await batchOf(ONE, { fault: () => (isBroken ? answer(422, 'no') : undefined) });
    await batch();
    isBroken = true;
    box.file('p.csv', 'id,text\na,two\n');
    expect(await batch()).toMatchObject({ status: 9 });
    expect(box.read('a.wav')).toEqual(Buffer.from(wavOf('one')));
    expect((await batch('--check')).stdout.toString()).toBe('stale: a.wav (p.csv, line 2, id a)\n');
  });

  it('counts for --max-failures, after which the others are left', async () => {
    const { batch } = await batchOf(`${rowsOf(50)}empty,\n`, { fault: () => answer(422, 'no') });
    const run = await batch('--max-failures 3 --concurrency 1 --json --allow-empty');
    expect(run.status).toBe(9);
    const states = linesOf(run.stdout).map(({ state }) => state);
    const failed = states.filter((state) => state === 'failed').length;
    const skipped = states.filter((state) => state === 'skipped').length;
    expect(failed).toBeLessThan(6);
    expect(skipped).toBeGreaterThan(40);
    // The row without a text was not left.
    const message = `${failed} of 51 rows failed, ${skipped - 1} were left`;
    expect(JSON.parse(run.stderr).error.message).toBe(message);
  });

  it.each([
    ['is tried again when all other rows are done', 2],
    ['for longer fails alone, with the error of the last round', 4],
  ])('for a moment %s', async (_, tries) => {
    const { server, batch } = await batchOf(rowsOf(12), {
      fault: (text, times) =>
        text === 'text 0' && times <= tries ? answer(503, '', { 'Retry-After': 0 }) : undefined,
    });
    const run = await batch('--concurrency 1 --retries 1');
    if (tries === 2) {
      const stderr = 'tts: 12 rows: 12 made, 0 unchanged, 0 failed, 0 skipped\n';
      expect(run).toMatchObject({ status: 0, stderr });
      expect([...server.spoken.keys()].at(-1)).toBe('text 0');
      expect(server.requests).toHaveLength(11 + 2 + 1);
    } else {
      expect(run.status).toBe(9);
      expect(run.stderr).toMatch(/1 of 12 rows failed\n {2}p\.csv, line 2 \(r0\): .*503/);
      expect(server.requests).toHaveLength(11 + 2 * 2);
    }
  });

  it.each([
    ['is tried again at the end where others are made', /^text (1|28)$/, 0],
    ['ends the run where no other is made', /^text [5-9]$/, 6],
  ])('as its connection is lost %s', async (_, lost, status) => {
    const { batch } = await batchOf(rowsOf(30), {
      fault: (text, times) => (lost.test(text) && times === 1 ? (wire) => wire.reset() : undefined),
    });
    expect(await batch('--concurrency 1 --retries 0')).toMatchObject({ status });
  });

  it('for its missing text is one, unless --allow-empty says that it may be', async () => {
    const { batch } = await batchOf('id,text\na,one\nb, \n');
    const run = await batch();
    expect(run.status).toBe(9);
    expect(run.stderr).toMatch(
      /1 made, .* 1 failed, .*\ntts: 1 of 2 rows failed\n {2}p\.csv, line 3 \(b\): the row has no text; --allow-empty skips/,
    );
    const check = await batch('--check');
    expect(check.status).toBe(9);
    expect(check.stdout.toString()).toBe('missing: b.wav (p.csv, line 3, id b, no text)\n');
    for (const more of ['', '--check'])
      expect(await batch(`--allow-empty ${more}`)).toMatchObject({ status: 0 });
  });

  it('by any fault is waited for, and no text is answered twice', async () => {
    const faultOf = (text: string) => passingFaults[Number(/\d+/.exec(text)?.[0] ?? 0) % 9];
    const { server, box, batch } = await batchOf(rowsOf(100), {
      fault: (text, times) => (times === 1 ? faultOf(text) : undefined),
    });
    const run = await batch('--concurrency 16 --retries 3', { patience: 110_000 });
    expect(run.stderr).toMatch(/100 made, 0 unchanged, 0 failed, 0 skipped/);
    expect([server.spoken.size, Math.max(...server.spoken.values())]).toEqual([100, 1]);
    for (const [text] of server.spoken)
      expect(box.read(`r${/\d+/.exec(text)}.wav`)).toEqual(Buffer.from(wavOf(text)));
    expect(run.stderr).not.toContain(KEY);
  });
});

describe('what is wrong with the run ends it at once', () => {
  it.each([
    ['a key that is refused', 3, answer(401, 'bad key')],
    ['a quota that is gone', 4, answer(402, 'pay')],
  ])('%s', async (_, status, script) => {
    const fault = (text: string) => (text === 'text 9' ? script : undefined);
    const { server, box, batch, texts } = await batchOf(rowsOf(30), { fault });
    const run = await batch('--concurrency 1');
    expect(run.status).toBe(status);
    expect(run.stderr).toMatch(
      /\d+ rows are left, and what is made is kept: the same command goes on from there/,
    );
    const made = box.list().filter((name) => name.endsWith('.wav'));
    expect(made.length).toBeLessThan(15);
    // The run after it asks for nothing again that was made.
    const before = server.requests.length;
    await batch('--concurrency 1');
    const again = texts().slice(before);
    expect(again.filter((text) => made.includes(`r${text.slice(5)}.wav`))).toEqual([]);
  });

  it('but for the rows that the service is speaking then, which are kept', async () => {
    const slowly =
      (text: string): Script =>
      async (wire, request, number) => {
        await sleep(300);
        await complete(wavOf(text))(wire, request, number);
      };
    const fault = (text: string) => (text === 'text 1' ? answer(402, 'pay') : slowly(text));
    const { box, batch, texts } = await batchOf(rowsOf(30), { fault });
    expect(await batch('--concurrency 4 --no-cache')).toMatchObject({ status: 4 });
    const spoken = texts().filter((text) => text !== 'text 1');
    expect(spoken.length).toBeLessThan(10);
    const made = box.list().filter((name) => name.endsWith('.wav'));
    expect(made.sort()).toEqual(spoken.map((text) => `r${text.slice(5)}.wav`).sort());
  });

  it('no connection, and no key, which is found before anything is made', async () => {
    const { batch } = await batchOf(rowsOf(30));
    const nowhere = { TTS_BASE_URL: 'http://127.0.0.1:1' };
    expectFailure(await batch('', { env: nowhere }), 6, /; 30 rows are left, and/);
    expectFailure(await batch('', { env: { ...nowhere, TTS_API_KEY: '' } }), 3, /no key for/);
  });

  it.each([
    ['a file in the place of a folder', '{to}/y/{id}.wav', /a part of its path is not a folder/],
    ['a folder in the place of a file', '{id}.wav', /a\.wav/],
    // Node never returns from making folders below it in one call.
    ['a folder that nobody can make', '/proc/x/{id}.wav', /cannot write \/proc\/x/],
  ])('%s', async (_, output, message) => {
    const { server, box, batch } = await batchOf('id,to,text\na,x,one\n');
    box.file('x', '');
    mkdirSync(box.path('a.wav'));
    expectFailure(await batch(`-o ${output}`), 8, message);
    expect(server.requests).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('a folder that another user may not enter or write', async () => {
    const { server, box, batch } = await batchOf(ONE);
    mkdirSync(box.path('closed'), { mode: 0o700 });
    mkdirSync(box.path('read'));
    chmodSync(box.path('read'), 0o755);
    for (const folder of ['closed/x', 'read', 'read/{id}']) {
      const run = await batch(`-o ${folder}/{id}.wav`, { uid: 65_534 });
      expectFailure(run, 8, /cannot write \S+(?:closed|read)\S*: permission denied/);
    }
    expect(server.requests).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)('what another user may not read', async () => {
    const { server, box, batch } = await batchOf(ONE);
    await batch('-o out/{id}.wav');
    for (const name of ['out/a.wav', 'out/tts-batch.jsonl', 'out']) {
      chmodSync(box.path('out'), 0o777);
      chmodSync(box.path(name), 0o300);
      for (const args of ['', '--check'])
        expectFailure(
          await batch(`-o out/{id}.wav ${args}`, { uid: 65_534 }),
          8,
          new RegExp(`cannot (?:read|write) \\S+/${name}\\S*: permission denied`),
        );
      chmodSync(box.path(name), 0o644);
    }
    expect(server.requests).toHaveLength(1);
  });

  it('somebody who removes the files that are being made', async () => {
    const onSpoken = () => {
      for (const name of box.list()) if (name.endsWith('.part')) rmSync(box.path(name));
    };
    const { box, batch } = await batchOf(rowsOf(20), { delay: 100, onSpoken });
    expectFailure(
      await batch(),
      8,
      /cannot write r\d+\.wav: somebody removed \S+\.part, which held it so far/,
    );
  });

  it('a full disk', async ({ skip }) => {
    const { box, batch } = await batchOf(rowsOf(200));
    smallDisk(box, 'out', 'size=64k', skip);
    const run = await batch('-o out/{id}.wav');
    expect(run.stderr).toMatch(/cannot write out\/\S+: no space is left.*rows are left/);
    expect(run.status).toBe(8);
  });

  it.each(['lock', 'journal', 'jsonl', '2-of-3.jsonl'])(
    'a pipe or a folder named tts-batch.%s',
    async (ending) => {
      const { server, box, batch } = await batchOf(TWO);
      await box.shell(`mkfifo tts-batch.${ending}`);
      expectFailure(await batch(), 2, /tts-batch\..* is a pipe or a device; expected a file of your own/);
      await box.shell(`rm tts-batch.${ending}; mkdir tts-batch.${ending}`);
      expectFailure(await batch(), 2, /tts-batch\..* is a folder; expected a file of your own/);
      expect(server.requests).toEqual([]);
    },
  );
});

describe.runIf(isThere('script'))('a batch at a terminal', () => {
  it('draws one line with the rows that are done and failed and the time left, and erases it', async () => {
    const { box, env } = await batchOf(rowsOf(8), {
      delay: 400,
      fault: (text) => (text === 'text 0' ? answer(422, 'no such words') : undefined),
    });
    const line = 'stty cols 80 rows 24; tts batch p.csv --concurrency 2';
    const { stdout } = await box.shell(`script -qec '${line}' /dev/null`, {
      env: { ...env, TERM: 'xterm-256color' },
    });
    const shown = stdout.toString();
    const plain = stripVTControlCharacters(shown);
    expect(plain).toMatch(/[2-7]\/8 rows {2}(25|37|50|62|75|87) % {2}1 failed {2}\d\.\d s left/);
    expect(plain).not.toMatch(/0\/8 rows.* left/);
    expect(lastingLines(shown)).toEqual([
      'tts: 8 rows: 7 made, 0 unchanged, 1 failed, 0 skipped',
      'tts: 1 of 8 rows failed',
      expect.stringMatching(/^ {2}p\.csv, line 2 \(r0\): /),
      'hint: the same command makes only what is missing: tts batch p.csv --concurrency 2',
    ]);
  });

  it('asks with --prune before a row is made', async () => {
    const { box, env, batch } = await batchOf(TWO);
    await batch();
    box.file('p.csv', 'id,text\nc,three\n');
    const answer = async (word: string) => {
      const line = `(sleep 1; echo ${word}) | script -qec 'tts batch p.csv --prune' /dev/null`;
      return stripVTControlCharacters((await box.shell(line, { env })).stdout.toString());
    };
    expect(await answer('n')).toMatch(
      / {2}a\.wav\s+b\.wav\s+Delete 2 files\? \[y\/N\] [\s\S]*nothing is deleted/,
    );
    expect(box.list()).toEqual(['a.wav', 'b.wav', 'c.wav', 'p.csv', 'tts-batch.jsonl']);
    await answer('y');
    expect(box.list()).toEqual(['c.wav', 'p.csv', 'tts-batch.jsonl']);
  });
});

describe('--check', () => {
  it('sends nothing, needs no key, and tells what is missing, stale, damaged or left over', async () => {
    const rows = ['a,one', 'b,two', 'c,three', 'd,four', 'e,five'];
    const { server, box, batch } = await batchOf(`id,text\n${rows.join('\n')}\n`);
    const check = (options = '') => batch(`--check ${options}`, { env: { TTS_API_KEY: '' } });
    await batch();
    expect(await check()).toMatchObject({ status: 0, stderr: '' });
    expect((await check('-r 16000')).stderr).toContain(
      'hint: all were made with another --sample-rate: give --check the options of that run',
    );
    rmSync(box.path('a.wav'));
    writeFileSync(box.path('b.wav'), 'x');
    box.file('p.csv', `id,text\n${rows.slice(0, 4).join('\n').replace('three', 'drei')}\n`);
    const found = await check();
    expect(found.status).toBe(9);
    expect(found.stdout.toString().split('\n')).toEqual([
      'missing: a.wav (p.csv, line 2, id a)',
      'damaged: b.wav (p.csv, line 3, id b)',
      'stale: c.wav (p.csv, line 4, id c)',
      'left over: e.wav',
      '',
    ]);
    const json = linesOf((await batch('--check --json')).stdout);
    expect(json.map(({ state }) => state)).toEqual(['missing', 'damaged', 'stale', 'left over', undefined]);
    expect(json.at(-1)).toMatchObject({ rows: 4, made: 0, unchanged: 1, failed: 3, skipped: 0, requests: 0 });
    expect(server.requests).toHaveLength(5);
  });
});

describe('--prune', () => {
  it.each(['{id}.wav', '{id}'])(
    'deletes what the batch wrote and the table lacks, and no more: %s',
    async (name) => {
      const { box, batch, manifest } = await batchOf(TWO);
      const args = `-o out/${name} --encode wav`;
      const [a = '', b = ''] = ['a', 'b'].map((id) => name.replace('{id}', id));
      box.file('out/other.wav', 'mine');
      await batch(args);
      box.file('p.csv', ONE);
      expect(await batch(args)).toMatchObject({
        status: 0,
        stderr: 'tts: 1 row: 0 made, 1 unchanged, 0 failed, 0 skipped, 1 left over: --prune deletes it\n',
      });
      expect(await batch(`${args} --prune`)).toMatchObject({
        status: 2,
        stderr:
          `tts: --prune would delete 1 file\n  out/${b}\n` +
          'hint: nothing was deleted or made: add --yes if these files may go\n',
      });
      expect(existsSync(box.path(`out/${b}`))).toBe(true);
      const run = await batch(`${args} --prune --yes`);
      expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining(`tts: deleted out/${b}\n`) });
      expect(readdirSync(box.path('out')).sort()).toEqual([a, 'other.wav', 'tts-batch.jsonl'].sort());
      expect(manifest().map(({ id }) => id)).toEqual(['a']);
    },
  );

  it('deletes no file that was changed, is not a WAV, or is not a file, whatever the manifest says', async () => {
    const { box, batch } = await batchOf(ONE);
    box.file('out/changed.wav', 'changed');
    box.file('out/main.c', 'int main;');
    mkdirSync(box.path('out/folder.wav'));
    const sha256 = createHash('sha256').update('int main;').digest('hex');
    const lines = ['changed.wav', 'main.c', 'folder.wav', 'tts-batch.jsonl'].map((file) =>
      JSON.stringify({ id: file, file, key: '00', sha256, frames: 1, sampleRate: 8000, characters: 1 }),
    );
    box.file('out/tts-batch.jsonl', `${lines.join('\n')}\n`);
    expect(await batch('-o out/{id}.wav --prune --yes')).toMatchObject({
      status: 0,
      stderr:
        'tts: kept out/changed.wav: it was changed since it was made; delete it by hand\n' +
        'tts: kept out/main.c: its name is not that of a sound of this batch; delete it by hand\n' +
        'tts: kept out/tts-batch.jsonl: its name is not that of a sound of this batch; delete it by hand\n' +
        'tts: 1 row: 1 made, 0 unchanged, 0 failed, 0 skipped\n',
    });
    expect(readdirSync(box.path('out')).sort()).toEqual([
      'a.wav',
      'changed.wav',
      'folder.wav',
      'main.c',
      'tts-batch.jsonl',
    ]);
  });
});

describe('what is refused before anything is sent', () => {
  it.each([
    [
      'speakers that do not exist',
      'id,text,speaker\na,one,rmz\nb,two,nobody\n',
      /2 rows are wrong\n.*line 2.*"rmz"\n.*line 3.*"nobody"\nhint: did you mean rms\? .*; nothing was sent/,
    ],
    [
      'a column of ours in another case',
      'id,text,Speaker\na,one,rms\n',
      /p\.csv: the column "Speaker" would not be used\nhint: did you mean "speaker"\? .* --columns speaker=Speaker/,
    ],
    [
      'a rate',
      'id,text,sampleRate\na,one,fast\n',
      /p\.csv, line 2, column sampleRate must be a number, and is "fast"/,
    ],
    ['a file that is not there', 'id,file\na,none.txt\n', /p\.csv, line 2.*none\.txt: there is no such file/],
    ['a name that leads elsewhere', 'id,text\n../a,one\n', /column id: "\.\.\/a" leads to another folder/],
    ['bytes that are no text', Buffer.from('id,text\na,\xff\xfe\n', 'latin1'), /is not text/],
  ])('%s', async (_, table, message) => {
    const box = new Sandbox();
    box.file('p.csv', table);
    const run = await box.run('batch p.csv');
    expect([run.status, run.stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(box.list()).toEqual(['p.csv']);
  });

  it.each([
    ['--table xls', /--table/],
    ['--max-failures 0', /--max-failures/],
    [
      '-o {language}.wav',
      /has no column "language"; its columns are "id".*\nhint: correct the braces of -o\n$/,
    ],
    ['--prune --shard 1/2', /--prune/],
  ])('%s', async (options, message) => {
    const { batch } = await batchOf(ONE);
    expectFailure(await batch(options), 2, message);
  });

  it('a speaker that the service does not list, where it has a list', async () => {
    const { server, box, batch } = await batchOf('id,text,Who\na,one,8\nb,two,9\nc,three,\nd,four,10\n', {
      speakers: [7, 8],
    });
    expect(await batch('--columns speaker=Who')).toMatchObject({
      status: 2,
      stderr:
        'tts: p.csv: 2 rows are wrong\n' +
        '  p.csv, line 3, column Who: the service has no speaker 9\n' +
        '  p.csv, line 5, column Who: the service has no speaker 10\n' +
        'hint: nothing was sent: tts speakers lists those that there are\n',
    });
    expect(server.requests).toEqual([]);
    box.file('p.csv', 'id,text,Who\na,one,8\nc,three,\n');
    expect(await batch('--columns speaker=Who')).toMatchObject({ status: 0 });
    expect(server.requests).toHaveLength(2);
  });

  it('a file that is no text, with its line in the table', async () => {
    const { box, batch } = await batchOf('id,file\na,good.txt\nb,bad.txt\n');
    box.file('good.txt', 'Good.');
    box.file('bad.txt', Buffer.from([0x48, 0x69, 0xff]));
    expectFailure(await batch(), 2, /^tts: p\.csv, line 3: \S*bad\.txt is not text: byte 0xff at offset 2\n/);
  });

  it('a row whose text is elsewhere, or holds settings or a key of tts', async () => {
    const { server, box, batch } = await batchOf('');
    writeFileSync(join(box.home, 'secret.txt'), 'secret');
    mkdirSync(join(box.home, '.config/tts'), { recursive: true });
    writeFileSync(join(box.home, '.config/tts/config.json'), '{}');
    box.file('.ttsrc.json', '{"retries":0}');
    for (const name of ['key.txt', 'other/key.txt']) box.file(name, KEY);
    mkdirSync(box.path('other/deep'));
    symlinkSync('other/deep', box.path('link'));
    const env = {
      TTS_API_KEY: '',
      TTS_API_KEY_FILE: box.path('key.txt'),
      TTS_ENGINE_KEY_FILE: 'link/../key.txt',
    };
    const holds = /holds settings or a key of tts/;
    for (const [file, message] of [
      ['../secret.txt', /\.\.\/secret\.txt lies outside of the folder of its table/],
      ['other', /other is not a file/],
      ['.ttsrc.json', holds],
      ['key.txt', holds],
      ['other/key.txt', holds],
    ] as const) {
      box.file('p.csv', `id,file\na,${file}\n`);
      expectFailure(await batch('', { env }), 2, message);
    }
    box.file('p.csv', 'id,file\na,../.config/tts/config.json\n');
    expectFailure(await batch('--files-from ..', { env }), 2, holds);
    expect(server.requests).toEqual([]);
  });
});
