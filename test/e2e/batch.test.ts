import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { decoded } from '../support/decoded.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { passingFaults, serveRows, wavOf } from '../support/row-service.ts';
import { expectFailure, KEY, named, Sandbox } from '../support/run.ts';
import { lastingLines } from '../support/terminal.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const PROMPTS = 'id,lang,text\nhello,en,Hello there.\nbye,en,"Good bye, my friend."\nhallo,de,Guten Tag.\n';
const OUT = ['-o', 'out/{lang}/{id}.wav'];

interface Entry {
  readonly id: string;
  readonly file: string;
}

function manifest(box: Sandbox, name = 'out/tts-batch.jsonl'): Entry[] {
  const lines = box.read(name).toString().trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

const rowsOf = (stdout: Buffer) =>
  stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('a batch', () => {
  it('makes one file for each row, and a manifest in the order of the table', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', PROMPTS);
    const run = await box.run(['batch', 'p.csv', ...OUT], { env: named(server.url) });
    expect(run).toMatchObject({
      status: 0,
      stderr: 'tts: 3 rows: 3 made, 0 unchanged, 0 failed, 0 skipped\n',
    });
    expect(box.read('out/en/bye.wav')).toEqual(Buffer.from(wavOf('Good bye, my friend.')));
    expect(manifest(box)).toMatchObject([
      { id: 'hello', file: 'en/hello.wav' },
      { id: 'bye', file: 'en/bye.wav' },
      { id: 'hallo', file: 'de/hallo.wav' },
    ]);
    expect(readdirSync(box.path('out')).sort()).toEqual(['de', 'en', 'tts-batch.jsonl']);
  });

  it('asks once for rows of equal text, and once for each voice that they have', async () => {
    const server = await serveRows({ delay: 100 });
    const box = new Sandbox();
    const rows = Array.from({ length: 6 }, (_, number) => `r${number},Hello there.,\n`);
    box.file('p.csv', `id,text,speaker\n${rows.join('')}other,Hello there.,181\n`);
    const run = await box.run(['batch', 'p.csv', ...OUT.with(1, 'out/{id}.wav')], {
      env: named(server.url, { TTS_CACHE: '1' }),
    });
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('7 made') });
    for (const id of ['r0', 'r5', 'other'])
      expect(box.read(`out/${id}.wav`)).toEqual(Buffer.from(wavOf('Hello there.')));
    const speakers = server.requests.map(({ json }) => (json as { speaker_no: number }).speaker_no);
    expect(speakers.sort((a, b) => a - b)).toEqual([7, 181]);
  });

  it('knows a row again whose text has control characters, and one whose pause was set', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', 'id,text\nred,"\x1b[31mError:\x1b[0m no route"\nhi,Hello there.\n');
    for (const args of [[], ['--paragraph-pause', '0.3']]) {
      const batch = ['batch', 'p.csv', ...args];
      expect((await box.run(batch, { env: named(server.url) })).stderr).toContain('2 made');
      expect((await box.run(batch, { env: named(server.url) })).stderr).toContain('0 made, 2 unchanged');
    }
  });

  it('asks for nothing again that is unchanged, and for what is changed, damaged or missing', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const env = named(server.url);
    box.file('p.csv', PROMPTS);
    await box.run(['batch', 'p.csv', ...OUT], { env });
    expect(await box.run(['batch', 'p.csv', ...OUT, '-q'], { env })).toMatchObject({ status: 0, stderr: '' });
    expect(server.requests).toHaveLength(3);
    box.file('p.csv', PROMPTS.replace('Guten Tag', 'Guten Abend'));
    writeFileSync(box.path('out/en/bye.wav'), 'damaged');
    rmSync(box.path('out/en/hello.wav'));
    const dry = await box.run(['batch', 'p.csv', ...OUT, '--dry-run'], { env });
    expect(dry.stdout.toString()).toBe(
      '3 rows: 1 new, 2 changed, 0 unchanged, 0 empty; 44 characters, 44 to send; about 4.5 s of sound\n',
    );
    expect(server.requests).toHaveLength(3);
    await box.run(['batch', 'p.csv', ...OUT], { env });
    expect(server.requests).toHaveLength(6);
    expect(box.read('out/de/hallo.wav')).toEqual(Buffer.from(wavOf('Guten Abend.')));
  });

  it('makes the first rows first, under names without the signs that systems forbid', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const sentences = (row: number) => `Sentence of row ${row}. `.repeat(12);
    const rows = Array.from({ length: 6 }, (_, row) => `${row},What? A/B: ${row},${sentences(row)}`);
    box.file('p.csv', ['id,title,text', ...rows].join('\n'));
    const args = [
      'batch',
      'p.csv',
      '-o',
      'out/{title}.wav',
      '--max-chars',
      '40',
      '--concurrency',
      '2',
      '--json',
    ];
    const run = await box.run(args, { env: named(server.url) });
    expect(run.status).toBe(0);
    const made = run.stdout
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .slice(0, -1);
    for (const { id, out } of made) expect(out).toBe(`out/What_ A_B_ ${id}.wav`);
    // Two rows that are made at once end in either order.
    for (const [place, { id }] of made.entries()) expect(Math.abs(Number(id) - place)).toBeLessThanOrEqual(1);
    expect(made).toHaveLength(rows.length);
    const again = await box.run(args.slice(0, -1), { env: named(server.url) });
    expect(again.stderr).toBe(
      'tts: in the names of files "What? A/B: 0" becomes "What_ A_B_ 0", and 5 more are changed in the same way\ntts: 6 rows: 0 made, 6 unchanged, 0 failed, 0 skipped\n',
    );
  });

  it('tells before what of it the cache has, and counts what comes twice once', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const env = named(server.url, { TTS_CACHE: '1' });
    box.file('.ttsrc.json', '{"pricePer1000Chars":1000,"currency":"EUR"}');
    box.file('p.csv', 'id,text\na,Kept before.\n');
    await box.run(['batch', 'p.csv', '-o', 'old/{id}.wav'], { env });
    box.file('p.csv', 'id,text\na,Kept before.\nb,Twice.\nc,Twice.\n');
    const dry = (...more: string[]) =>
      box.run(['batch', 'p.csv', '-o', 'new/{id}.wav', '--dry-run', ...more], {
        env: { ...env, TTS_API_KEY: '' },
      });
    expect((await dry()).stdout.toString()).toMatch(
      /^3 rows: 3 new, .*; 24 characters, 6 to send, price 6\.00 EUR; about .* of sound\n$/,
    );
    expect(JSON.parse((await dry('--json')).stdout.toString())).toMatchObject({
      charactersToSend: 6,
      price: 6,
    });
    await box.run(['batch', 'p.csv', '-o', 'new/{id}.wav'], { env });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['the speaker', ['-s', '8']],
    ['the sample rate', ['-r', '8000']],
    ['the instructions', ['-i', 'calm']],
    ['the lexicon', ['--lexicon', 'words']],
  ])('is made again when %s changes', async (_, options) => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('words', 'Hello = Hi\nGood = Well\nGuten = Schönen\n');
    box.file('p.csv', PROMPTS);
    await box.run(['batch', 'p.csv', ...OUT], { env: named(server.url) });
    await box.run(['batch', 'p.csv', ...OUT, ...options], { env: named(server.url) });
    expect(server.requests).toHaveLength(6);
  });

  it('takes speaker, rate and instructions from the row before the options', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file(
      'p.jsonl',
      '{"id":"a","text":"one","speaker":3,"sampleRate":8000,"instructions":"calm"}\n{"id":"b","text":"two"}\n',
    );
    await box.run(['batch', 'p.jsonl', '-r', '16000'], { env: named(server.url) });
    expect(server.requests.map(({ json }) => json)).toEqual([
      { text: 'one', speaker_no: 3, config: { sample_rate: 8000, instructions: 'calm' } },
      { text: 'two', speaker_no: 7, config: { sample_rate: 16_000 } },
    ]);
  });

  it('reads the text of a row from a file next to the table, Markdown too', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('tables/p.csv', 'id,file\na,text.txt\nb,text.md\n');
    box.file('tables/text.txt', 'From a *file*.');
    box.file('tables/text.md', 'From a *file*.');
    await box.run(['batch', 'tables/p.csv'], { env: named(server.url) });
    expect(server.requests.map(({ json }) => (json as { text: string }).text).sort()).toEqual([
      'From a *file*.',
      'From a file.',
    ]);
  });

  it('reads several tables, and one from stdin', async () => {
    const box = new Sandbox();
    box.file('a.csv', 'id,text\na,one\n');
    const run = await box.run(['batch', 'a.csv', '-', '--table', 'csv', '--dry-run'], {
      stdin: 'id,text\nb,two\n',
    });
    expect(run.stdout.toString()).toMatch(/^2 rows: 2 new/);
    const twice = await box.run(['batch', 'a.csv', '-', '--table', 'csv'], { stdin: 'id,text\nA,two\n' });
    expectFailure(twice, 2, /stdin, line 2, column id: the id "A" is taken by a\.csv, line 2/);
  });

  it('speaks with the built-in voice without any set-up', async () => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\nb,\n');
    const run = await box.run(['batch', 'p.csv', '--json', '--allow-empty']);
    expect(run.status).toBe(0);
    expect(rowsOf(run.stdout)).toEqual([
      { id: 'b', state: 'skipped', out: 'b.wav' },
      { id: 'a', state: 'made', out: 'a.wav' },
      expect.objectContaining({ rows: 2, made: 1, skipped: 1 }),
    ]);
  });
});

describe('a row that fails', () => {
  const refused = (text: string) => (text.startsWith('Guten') ? answer(422, 'no such words') : undefined);

  it('does not stop the others: 9, with what needs action and the command that repeats it', async () => {
    const server = await serveRows({ fault: refused });
    const box = new Sandbox();
    box.file('p.csv', PROMPTS);
    const run = await box.run(['batch', 'p.csv', ...OUT], { env: named(server.url) });
    expect(run.status).toBe(9);
    expect(run.stderr).toMatch(
      /\ntts: 1 of 3 rows failed\n {2}p\.csv, line 4 \(hallo\): .*422.*no such words/,
    );
    expect(run.stderr).toMatch(/hint: .*tts batch p\.csv -o 'out\/\{lang\}\/\{id\}\.wav'\n$/);
    expect(manifest(box).map(({ id }) => id)).toEqual(['hello', 'bye']);
    expect(existsSync(box.path('out/de/hallo.wav'))).toBe(false);
  });

  it('is an object on stdout with --json, with the error as elsewhere', async () => {
    const server = await serveRows({ fault: refused });
    const box = new Sandbox();
    box.file('p.csv', PROMPTS);
    const run = await box.run(['batch', 'p.csv', ...OUT, '--json'], { env: named(server.url) });
    expect(run.status).toBe(9);
    expect(rowsOf(run.stdout).find(({ id }) => id === 'hallo')).toMatchObject({
      state: 'failed',
      out: 'out/de/hallo.wav',
      error: { exitCode: 7, message: expect.stringContaining('no such words') },
    });
    expect(JSON.parse(run.stderr).error).toMatchObject({ exitCode: 9 });
  });

  it('keeps its old file, and is still stale', async () => {
    let isBroken = false;
    const server = await serveRows({ fault: () => (isBroken ? answer(422, 'no') : undefined) });
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\n');
    await box.run(['batch', 'p.csv'], { env: named(server.url) });
    isBroken = true;
    box.file('p.csv', 'id,text\na,two\n');
    expect(await box.run(['batch', 'p.csv'], { env: named(server.url) })).toMatchObject({ status: 9 });
    expect(box.read('a.wav')).toEqual(Buffer.from(wavOf('one')));
    const check = await box.run(['batch', 'p.csv', '--check'], { env: named(server.url) });
    expect(check.stdout.toString()).toBe('stale: a.wav (p.csv, line 2, id a)\n');
  });

  it('counts for --max-failures, after which the others are left', async () => {
    const server = await serveRows({ fault: () => answer(422, 'no') });
    const box = new Sandbox();
    const rows = Array.from({ length: 50 }, (_, at) => `r${at},text ${at}`);
    box.file('p.csv', `id,text\nempty,\n${rows.join('\n')}\n`);
    const options = ['--max-failures', '3', '--concurrency', '1', '--json', '--allow-empty'];
    const run = await box.run(['batch', 'p.csv', ...options], { env: named(server.url) });
    expect(run.status).toBe(9);
    const states = rowsOf(run.stdout).map(({ state }) => state);
    const failed = states.filter((state) => state === 'failed').length;
    const skipped = states.filter((state) => state === 'skipped').length;
    expect(failed).toBeLessThan(6);
    expect(skipped).toBeGreaterThan(40);
    // The row without a text was not left.
    expect(JSON.parse(run.stderr).error.message).toBe(
      `${failed} of 51 rows failed, ${skipped - 1} were left`,
    );
  });
});

const brokenAnswer: Script = async (wire) => {
  await wire.write('HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nContent-Length: 5000\r\n\r\nRIFF');
  wire.end();
};

describe('a failure that may pass', () => {
  const table = `id,text\n${Array.from({ length: 12 }, (_, at) => `r${at},text ${at}`).join('\n')}\n`;
  const failing = async (tries: number, script: Script) => {
    const server = await serveRows({
      fault: (text, times) => (text === 'text 0' && times <= tries ? script : undefined),
    });
    const box = new Sandbox();
    box.file('p.csv', table);
    const args = ['batch', 'p.csv', '--concurrency', '1', '--retries', '1'];
    return { run: await box.run(args, { env: named(server.url) }), server };
  };

  it.each<[string, Script]>([
    ['503', answer(503, '', { 'Retry-After': 0 })],
    ['a connection that is reset', (wire) => wire.reset()],
    ['half an answer', brokenAnswer],
  ])('is tried again when all other rows are done: %s', async (_, script) => {
    const { run, server } = await failing(2, script);
    expect(run).toMatchObject({
      status: 0,
      stderr: 'tts: 12 rows: 12 made, 0 unchanged, 0 failed, 0 skipped\n',
    });
    expect([...server.spoken.keys()].at(-1)).toBe('text 0');
    expect(server.requests).toHaveLength(11 + 2 + 1);
  });

  it('and does not pass fails its row alone, with the error of the last round', async () => {
    const { run, server } = await failing(4, answer(503, '', { 'Retry-After': 0 }));
    expect(run.status).toBe(9);
    expect(run.stderr).toMatch(/1 of 12 rows failed\n {2}p\.csv, line 2 \(r0\): .*503/);
    expect(server.requests).toHaveLength(11 + 2 * 2);
  });

  it('has no last round where no row was made, or too many failed', async () => {
    const server = await serveRows({ fault: () => answer(503, '', { 'Retry-After': 0 }) });
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\nb,two\n');
    const run = await box.run(['batch', 'p.csv', '--retries', '0'], { env: named(server.url) });
    expect(run.stderr).toContain('2 of 2 rows failed');
    expect(server.requests).toHaveLength(2);
  });
});

it('A row without a text is missing, unless --allow-empty says that it may be.', async () => {
  const server = await serveRows();
  const box = new Sandbox();
  const env = named(server.url);
  box.file('p.csv', 'id,text\na,one\nb, \n');
  const run = await box.run(['batch', 'p.csv'], { env });
  expect(run.status).toBe(9);
  expect(run.stderr).toMatch(
    /1 made, .* 1 failed, .*\ntts: 1 of 2 rows failed\n {2}p\.csv, line 3 \(b\): the row has no text; --allow-empty skips/,
  );
  const check = await box.run(['batch', 'p.csv', '--check'], { env });
  expect(check.status).toBe(9);
  expect(check.stdout.toString()).toBe('missing: b.wav (p.csv, line 3, id b, no text)\n');
  expect(check.stderr).toContain('hint: give each row a text, or let --allow-empty skip those without one\n');
  for (const more of [[], ['--check']])
    expect(await box.run(['batch', 'p.csv', '--allow-empty', ...more], { env })).toMatchObject({ status: 0 });
});

it('says that one row was left', async () => {
  const server = await serveRows({ fault: () => answer(422, 'no') });
  const box = new Sandbox();
  box.file('p.csv', 'id,text\na,one\nb,two\n');
  const options = ['--max-failures', '1', '--concurrency', '1'];
  const run = await box.run(['batch', 'p.csv', ...options], { env: named(server.url) });
  expect(run.status).toBe(9);
  expect(run.stderr).toContain('tts: 1 of 2 rows failed, 1 was left\n');
});

describe('what is wrong with the run ends it at once', () => {
  const rows = `id,text\n${Array.from({ length: 30 }, (_, at) => `r${at},text ${at}`).join('\n')}\n`;

  it.each([
    ['a key that is refused', 3, answer(401, 'bad key')],
    ['a quota that is gone', 4, answer(402, 'pay')],
  ])('%s', async (_, status, script) => {
    const server = await serveRows({ fault: (text) => (text === 'text 9' ? script : undefined) });
    const box = new Sandbox();
    box.file('p.csv', rows);
    const env = named(server.url);
    const run = await box.run(['batch', 'p.csv', '--concurrency', '1'], { env });
    expect(run.status).toBe(status);
    expect(run.stderr).toMatch(
      /\d+ rows are left, and what is made is kept: the same command goes on from there/,
    );
    const made = readdirSync(box.folder).filter((name) => name.endsWith('.wav'));
    expect(made.length).toBeLessThan(15);
    // The run after it asks for nothing again that was made.
    const before = server.requests.length;
    await box.run(['batch', 'p.csv', '--concurrency', '1'], { env });
    const texts = server.requests.slice(before).map(({ json }) => (json as { text: string }).text);
    expect(texts.filter((text) => made.includes(`r${text.slice(5)}.wav`))).toEqual([]);
  });

  it.each([
    ['30 rows', rows, /; 30 rows are left, and/],
    ['1 row', 'id,text\na,Hi\n', /; 1 row is left, and/],
  ])('no connection for %s', async (_, table, said) => {
    const box = new Sandbox();
    box.file('p.csv', table);
    expectFailure(await box.run(['batch', 'p.csv'], { env: named('http://127.0.0.1:1') }), 6, said);
  });

  it('no key, which is found before anything is made', async () => {
    const box = new Sandbox();
    box.file('p.csv', rows);
    const run = await box.run(['batch', 'p.csv', '-s', '1'], { env: { TTS_BASE_URL: 'http://127.0.0.1:1' } });
    expectFailure(run, 3, /no key for/);
  });

  it.each(['{to}/y/{id}.wav', 'x/{id}.wav'])('a file in the place of a folder: %s', async (output) => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', 'id,to,text\na,x,one\n');
    box.file('x', '');
    const run = await box.run(['batch', 'p.csv', '-o', output], { env: named(server.url) });
    expectFailure(run, 8, /a part of its path is not a folder/);
    expect(server.requests).toEqual([]);
  });

  // Node never returns from making folders below it in one call.
  it.runIf(process.platform === 'linux')('a folder that nobody can make', async () => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\n');
    box.file('p.md', '# One\n\nOne.\n\n# Two\n\nTwo.\n');
    for (const [name, ...args] of [
      ['{id}', 'batch', 'p.csv'],
      ['{n}', '-f', 'p.md', '--split', 'chapters'],
    ])
      expectFailure(await box.tts([...args, '-o', `/proc/x/${name}.wav`]), 8, /cannot write \/proc\/x/);
  });

  it.runIf(process.getuid?.() === 0)('a folder that another user may not enter or write', async () => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\n');
    mkdirSync(box.path('closed'), { mode: 0o700 });
    mkdirSync(box.path('read'), { mode: 0o755 });
    for (const folder of ['closed', 'closed/x', 'read', 'read/x', 'read/{id}']) {
      const run = await box.run(['batch', 'p.csv', '-o', `${folder}/{id}.wav`], { uid: 65_534 });
      expectFailure(run, 8, /cannot write \S+(?:closed|read)\S*: it is not allowed/);
    }
  });

  it('a folder in the place of a file', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\n');
    mkdirSync(box.path('a.wav'));
    expectFailure(await box.run(['batch', 'p.csv'], { env: named(server.url) }), 8, /a\.wav/);
    expect(server.requests).toEqual([]);
  });
});

describe.runIf(isThere('script'))('a batch at a terminal', () => {
  it('draws one line with the rows that are done and failed and the time left, and erases it', async () => {
    const server = await serveRows({
      delay: 400,
      fault: (text) => (text === 'text 0' ? answer(422, 'no such words') : undefined),
    });
    const box = new Sandbox();
    box.file('p.csv', `id,text\n${Array.from({ length: 8 }, (_, at) => `r${at},text ${at}`).join('\n')}\n`);
    const line = 'stty cols 80 rows 24; tts batch p.csv --concurrency 2';
    const env = { ...named(server.url), TERM: 'xterm-256color' };
    const shown = (await box.shell(`script -qec '${line}' /dev/null`, { env })).stdout.toString();
    expect(stripVTControlCharacters(shown)).toMatch(
      /[2-7]\/8 rows {2}(25|37|50|62|75|87) % {2}1 failed {2}\d\.\d s left/,
    );
    expect(lastingLines(shown)).toEqual([
      'tts: 8 rows: 7 made, 0 unchanged, 1 failed, 0 skipped',
      'tts: 1 of 8 rows failed',
      expect.stringMatching(/^ {2}p\.csv, line 2 \(r0\): /),
      'hint: the same command makes only what is missing: tts batch p.csv --concurrency 2',
    ]);
  });
});

describe('--check', () => {
  it('sends nothing, needs no key, and tells what is missing, stale, damaged or left over', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const rows = ['a,one', 'b,two', 'c,three', 'd,four', 'e,five'];
    box.file('p.csv', `id,text\n${rows.join('\n')}\n`);
    const check = () =>
      box.run(['batch', 'p.csv', '--check', '-s', '7'], { env: { TTS_BASE_URL: server.url } });
    await box.run(['batch', 'p.csv'], { env: named(server.url) });
    expect(await check()).toMatchObject({ status: 0, stderr: '' });
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
    expect(server.requests).toHaveLength(5);
  });

  it.each<[string, string[], Record<string, string>]>([
    ['--sample-rate', ['-r', '16000'], {}],
    ['--speaker', ['-s', '8'], {}],
    ['--base-url or --engine', [], { TTS_BASE_URL: 'http://127.0.0.1:1' }],
    ['--loudness and --speed', ['--speed', '2', '--loudness', '-20'], {}],
  ])('where all rows are stale, the hint names %s', async (said, args, env) => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\nb,two\n');
    await box.run(['batch', 'p.csv'], { env: named(server.url) });
    box.file('p.csv', 'id,text\na,one\nb,another text\n');
    const checking = { env: { ...named(server.url), ...env } };
    const found = await box.run(['batch', 'p.csv', '--check', ...args], checking);
    expect(found.status).toBe(9);
    expect(found.stderr).toContain(
      `hint: all were made with another ${said}: give --check the options of that run`,
    );
  });

  it('where all texts are others, the hint names no option', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\n');
    await box.run(['batch', 'p.csv'], { env: named(server.url) });
    box.file('p.csv', 'id,text\na,two\n');
    const { stderr } = await box.run(['batch', 'p.csv', '--check'], { env: named(server.url) });
    expect(stderr).toContain('hint: the same command without --check makes what is missing');
  });

  it('--prune deletes what the manifest knows and the table does not have, and nothing else', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('out/other.wav', 'mine');
    box.file('p.csv', 'id,text\na,one\nb,two\n');
    await box.run(['batch', 'p.csv', '-o', 'out/{id}.wav'], { env: named(server.url) });
    box.file('p.csv', 'id,text\na,one\n');
    expect(await box.run(['batch', 'p.csv', '-o', 'out/{id}.wav'], { env: named(server.url) })).toMatchObject(
      {
        status: 0,
        stderr: 'tts: 1 row: 0 made, 1 unchanged, 0 failed, 0 skipped, 1 left over: --prune deletes it\n',
      },
    );
    expect(readdirSync(box.path('out')).sort()).toEqual(['a.wav', 'b.wav', 'other.wav', 'tts-batch.jsonl']);
    const prune = ['batch', 'p.csv', '-o', 'out/{id}.wav', '--prune'];
    expect(await box.run(prune, { env: named(server.url) })).toMatchObject({
      status: 2,
      stderr:
        'tts: --prune would delete 1 file\n  out/b.wav\n' +
        'hint: nothing was deleted or made: add --yes if these files may go\n',
    });
    expect(existsSync(box.path('out/b.wav'))).toBe(true);
    const run = await box.run([...prune, '--yes'], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: expect.stringContaining('tts: deleted out/b.wav\n') });
    expect(readdirSync(box.path('out')).sort()).toEqual(['a.wav', 'other.wav', 'tts-batch.jsonl']);
    expect(manifest(box).map(({ id }) => id)).toEqual(['a']);
  });

  it('--prune deletes no file that was changed, is not a WAV, or is not a file, whatever the manifest says', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('out/changed.wav', 'changed');
    box.file('out/main.c', 'int main;');
    mkdirSync(box.path('out/folder.wav'));
    const sha256 = createHash('sha256').update('int main;').digest('hex');
    const lines = ['changed.wav', 'main.c', 'folder.wav', 'tts-batch.jsonl'].map((file) =>
      JSON.stringify({ id: file, file, key: '00', sha256, frames: 1, sampleRate: 8000, characters: 1 }),
    );
    box.file('out/tts-batch.jsonl', `${lines.join('\n')}\n`);
    box.file('p.csv', 'id,text\na,one\n');
    const prune = ['batch', 'p.csv', '-o', 'out/{id}.wav', '--prune', '--yes'];
    expect(await box.run(prune, { env: named(server.url) })).toMatchObject({
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

  it.each(['{id}.ulaw', '{id}'])('--prune knows a file that the batch wrote: %s', async (name) => {
    const server = await serveRows();
    const box = new Sandbox();
    const env = named(server.url);
    const args = ['batch', 'p.csv', '--encode', 'ulaw', '-o', name];
    const [a, b] = ['a', 'b'].map((id) => name.replace('{id}', id));
    box.file('p.csv', 'id,text\na,one\nb,two\n');
    await box.run(args, { env });
    box.file('p.csv', 'id,text\na,one\n');
    expect(await box.run([...args, '--prune'], { env })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`tts: --prune would delete 1 file\n  ${b}\n`),
    });
    expect((await box.run([...args, '--prune', '--yes'], { env })).stderr).toContain(`deleted ${b}\n`);
    expect([a, b].map((file) => existsSync(box.path(file ?? '')))).toEqual([true, false]);
    expect(await box.run([...args, '--check'], { env })).toMatchObject({ status: 0 });
  });

  it.runIf(isThere('script'))('--prune asks at a terminal before a row is made', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    const env = named(server.url);
    box.file('p.csv', 'id,text\na,one\nb,two\n');
    await box.run(['batch', 'p.csv'], { env });
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

describe('what is refused before anything is sent', () => {
  it.each([
    [
      'a speaker that does not exist',
      'id,text,speaker\na,one,nobody\n',
      /p\.csv, line 2, column speaker: no speaker is called "nobody"\nhint: There are: .*; nothing was sent/,
    ],
    [
      'a column of ours in another case',
      'id,text,Speaker\na,one,rms\n',
      /p\.csv: the column "Speaker" would not be used\nhint: did you mean "speaker"\? .* --columns speaker=Speaker/,
    ],
    [
      'a rate that is none',
      'id,text,sampleRate\na,one,fast\n',
      /p\.csv, line 2, column sampleRate must be a number, and is "fast"/,
    ],
    ['a file that is not there', 'id,file\na,none.txt\n', /p\.csv, line 2.*none\.txt: there is no such file/],
    ['a name that leads elsewhere', 'id,text\n../a,one\n', /column id: "\.\.\/a" leads to another folder/],
    ['bytes that are no text', Buffer.from('id,text\na,\xff\xfe\n', 'latin1'), /is not text/],
  ])('%s', async (_, table, message) => {
    const box = new Sandbox();
    box.file('p.csv', table);
    expectFailure(await box.run(['batch', 'p.csv']), 2, message);
    expect(box.list()).toEqual(['p.csv']);
  });

  it.each([
    [['--shard', ''], /--shard/],
    [['--table', 'xls'], /--table/],
    [['--max-failures', '0'], /--max-failures/],
    [['-o', '{language}.wav'], /column language: the row has no such value/],
    [['--prune', '--shard', '1/2'], /--prune/],
  ])('%j', async (options, message) => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text\na,one\n');
    expectFailure(await box.run(['batch', 'p.csv', ...options]), 2, message);
  });

  it('not a column of ours in another case that the names use, or that is of no voice', async () => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text,Speaker,File\na,one,Hamlet,x\n');
    const run = await box.run(['batch', 'p.csv', '-q', '-o', '{Speaker}-{id}.wav']);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.list()).toContain('Hamlet-a.wav');
  });

  it('speakers that are misspelled in several rows, with the nearest name for the first', async () => {
    const box = new Sandbox();
    box.file('p.csv', 'id,text,speaker\na,one,rmz\nb,two,nobody\n');
    const run = await box.run(['batch', 'p.csv']);
    expect(run.status).toBe(2);
    expect(run.stderr).toMatch(
      /2 rows are wrong\n.*line 2.*"rmz"\n.*line 3.*"nobody"\nhint: did you mean rms\? .*; nothing was sent/,
    );
  });

  it('a speaker that the service does not list, where it has a list', async () => {
    const server = await serveRows({ speakers: [7, 8] });
    const box = new Sandbox();
    box.file('p.csv', 'id,text,Who\na,one,8\nb,two,9\nc,three,\nd,four,10\n');
    const args = ['batch', 'p.csv', '--columns', 'speaker=Who'];
    const run = await box.run(args, { env: named(server.url) });
    expect(run).toMatchObject({
      status: 2,
      stderr:
        'tts: p.csv: 2 rows are wrong\n' +
        '  p.csv, line 3, column Who: the service has no speaker 9\n' +
        '  p.csv, line 5, column Who: the service has no speaker 10\n' +
        'hint: nothing was sent: tts speakers lists those that there are\n',
    });
    box.file('p.csv', 'id,text\na,one\n');
    const run6 = await box.run(['batch', 'p.csv', '-s', '6'], { env: named(server.url) });
    expectFailure(run6, 2, /p\.csv, line 2: the service has no speaker 6/);
    expect(server.requests).toEqual([]);
    box.file('p.csv', 'id,text,Who\na,one,8\nc,three,\n');
    expect(await box.run(args, { env: named(server.url) })).toMatchObject({ status: 0 });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [
      'a file in another folder',
      '../secret.txt',
      /\.\.\/secret\.txt lies outside of the folder of its table/,
    ],
    ['its own config', '.ttsrc.json', /\.ttsrc\.json holds settings or a key of tts/],
    ['a key file', 'key.txt', /key\.txt holds settings or a key of tts/],
    ["the file of an engine's key", 'engine.txt', /engine\.txt holds settings or a key of tts/],
    ['a folder', 'texts', /texts is not a file/],
  ])('a row whose text is %s', async (_, file, message) => {
    const server = await serveRows();
    const box = new Sandbox();
    writeFileSync(join(box.home, 'secret.txt'), 'secret');
    box.file('.ttsrc.json', '{"retries":0}');
    box.file('key.txt', KEY);
    box.file('engine.txt', KEY);
    mkdirSync(box.path('texts'));
    box.file('p.csv', `id,file\na,${file}\n`);
    const files = { TTS_API_KEY_FILE: box.path('key.txt'), TTS_ENGINE_KEY_FILE: 'engine.txt' };
    const env = { ...named(server.url), TTS_API_KEY: '', ...files };
    expectFailure(await box.run(['batch', 'p.csv'], { env }), 2, message);
    expect(server.requests).toEqual([]);
  });

  it.each(['TTS_API_KEY_FILE', 'TTS_ENGINE_KEY_FILE'])(
    'a key behind a link with ".." behind it, in %s',
    async (name) => {
      const server = await serveRows();
      const box = new Sandbox();
      box.file('other/key.txt', KEY);
      mkdirSync(box.path('other/deep'));
      symlinkSync('other/deep', box.path('link'));
      box.file('p.csv', 'id,file\na,other/key.txt\n');
      const env = named(server.url, { [name]: 'link/../key.txt' });
      expectFailure(await box.run(['batch', 'p.csv'], { env }), 2, /holds settings or a key of tts/);
      expect(server.requests).toEqual([]);
    },
  );

  it('a key file that leads in circles hinders no row', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    symlinkSync('circle', box.path('circle'));
    box.file('a.txt', 'one');
    box.file('p.csv', 'id,file\na,a.txt\n');
    const env = named(server.url, { TTS_ENGINE_KEY_FILE: 'circle' });
    expect(await box.run(['batch', 'p.csv'], { env })).toMatchObject({ status: 0 });
  });

  it('a config or key of the user, even with --files-from', async () => {
    const box = new Sandbox();
    const folder = join(box.home, '.config/tts');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{}');
    writeFileSync(join(folder, 'key'), KEY);
    for (const name of ['config.json', 'key']) {
      box.file('p.csv', `id,file\na,../.config/tts/${name}\n`);
      const run = await box.run(['batch', 'p.csv', '--files-from', '..']);
      expectFailure(run, 2, /holds settings or a key of tts/);
    }
  });

  it('a text in the folder of --files-from is read', async () => {
    const server = await serveRows();
    const box = new Sandbox();
    box.file('texts/a.txt', 'from elsewhere');
    box.file('tables/p.csv', 'id,file\na,../texts/a.txt\n');
    const args = ['batch', 'tables/p.csv', '--files-from', 'texts'];
    expect(await box.run(args, { env: named(server.url) })).toMatchObject({ status: 0 });
    expect(server.spoken).toEqual(new Map([['from elsewhere', 1]]));
    const none = await box.run(['batch', 'tables/p.csv', '--files-from', 'none']);
    expectFailure(none, 2, /--files-from none: there is no such folder/);
  });

  it('UTF-16 and a byte order mark are read', async () => {
    const box = new Sandbox();
    box.file('p.csv', Buffer.from('\ufeffid,text\na,one\n', 'utf16le'));
    box.file('q.csv', '\ufeffid,text\r\nb,two\r\n');
    const run = await box.run(['batch', 'p.csv', 'q.csv', '--dry-run']);
    expect(run.stdout.toString()).toMatch(/^2 rows: 2 new/);
  });

  it('a table of 100,000 columns, with the first of them', async () => {
    const box = new Sandbox();
    box.file('p.csv', `${Array.from({ length: 100_000 }, (_, at) => `c${at}`).join(',')}\n`);
    const run = await box.run(['batch', 'p.csv', '--dry-run']);
    expectFailure(run, 2, /there is no row/);
    box.file('p.csv', `${box.read('p.csv')}x\n${'x,'.repeat(99_999)}x\n`);
    expectFailure(await box.run(['batch', 'p.csv', '--dry-run']), 2, /"c49" and 99950 more\n/);
  });
});

it('Faults of every kind are waited out, and no text is answered twice.', async () => {
  const faultOf = (text: string) => passingFaults[Number(/\d+/.exec(text)?.[0] ?? 0) % 9];
  const server = await serveRows({ fault: (text, times) => (times === 1 ? faultOf(text) : undefined) });
  const box = new Sandbox();
  const rows = ['en', 'de', 'fr'].flatMap((lang) =>
    Array.from({ length: 100 }, (_, at) => `${lang}-${at},${lang},This is row ${at} in ${lang}.`),
  );
  box.file('p.csv', `id,lang,text\n${rows.join('\n')}\n`);
  const env = { ...named(server.url), TTS_RETRIES: '3' };
  const run = await box.run(['batch', 'p.csv', ...OUT, '--concurrency', '16'], { env, patience: 110_000 });
  expect(run.stderr).toMatch(/300 made, 0 unchanged, 0 failed, 0 skipped/);
  expect(server.spoken.size).toBe(300);
  expect(Math.max(...server.spoken.values())).toBe(1);
  for (const [text] of server.spoken) {
    const [, at, lang] = /row (\d+) in (\w+)/.exec(text) ?? [];
    expect(box.read(join('out', lang ?? '', `${lang}-${at}.wav`))).toEqual(Buffer.from(wavOf(text)));
  }
  expect(run.stderr).not.toContain(KEY);
});
const ffmpeg = isThere('ffmpeg');
/** Fewer than 1024 make an `.aac` that nobody knows as one. */
const FRAMES = 20_000;

it('A batch writes each format that the endings name, and proves the next time that nothing changed.', async () => {
  const { url, requests } = await serveBytes(complete(plainWav(sound(2 * FRAMES))));
  const box = new Sandbox();
  const ofFfmpeg = ['b.m4b', 'c.opus', 'd.flac', 'f.m4a', 'g.ogg', 'h.aac'];
  const files = ['a.mp3', 'e.wav', ...(ffmpeg ? ofFfmpeg : [])].sort();
  box.file('p.csv', `id,text\n${files.map((file) => `${file},The text of ${file[0]}.\n`).join('')}`);
  const args = ['batch', 'p.csv', '-o', '{id}'];
  const made = await box.tts(args, { env: named(url) });
  expect(made).toMatchObject({ status: 0 });
  expect(box.list()).toEqual([...files, 'p.csv', 'tts-batch.jsonl']);
  for (const file of ffmpeg ? files : []) {
    const more = decoded(box.path(file), 22_050).length - FRAMES;
    expect(more, file).toBeGreaterThanOrEqual(0);
    expect(more, file).toBeLessThan(/\.(?:m4[ab]|aac|ogg)$/.test(file) ? 1024 : 1);
  }

  const asked = () => requests.filter(({ method }) => method === 'POST');
  expect(asked()).toHaveLength(files.length);
  const again = await box.tts(args, { env: named(url) });
  expect(again.stderr).toContain(`0 made, ${files.length} unchanged`);
  expect(asked()).toHaveLength(files.length);
});
