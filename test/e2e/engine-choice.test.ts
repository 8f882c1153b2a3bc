import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { filesWith } from '../support/folder.ts';
import { complete } from '../support/http-bytes.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

const wav = plainWav(sound(4000));
const OUT = ['Hello.', '-o', 'out.wav', '--retries', '0', '--no-cache'];

/** Two servers with the voices anna and bert, as the engines `one` and `two`. */
async function twoEngines(more: object = {}) {
  const [one, two] = [await serveSpeech(complete(wav)), await serveSpeech(complete(wav))];
  const box = new Sandbox();
  writeUserConfig(box, { engines: { one: { url: one.url }, two: { url: two.url } }, ...more });
  /** Who was asked for what since the last time. */
  const asked = () =>
    [one, two].map((server) =>
      server.asked
        .splice(0)
        .map(({ voice }) => voice)
        .sort(),
    );
  return { box, one, two, asked };
}

describe('the engine of a run', () => {
  it('comes from an option, the environment, or the config, in this order', async () => {
    const { box, two, asked } = await twoEngines({ engine: 'one' });
    await box.run(OUT);
    expect(asked()).toEqual([['anna'], []]);
    await box.run(OUT, { env: { TTS_ENGINE: 'two' } });
    expect(asked()).toEqual([[], ['anna']]);
    await box.run([...OUT, '--engine', two.url], { env: { TTS_ENGINE: 'one' } });
    expect(asked()).toEqual([[], ['anna']]);
  });

  it('comes first in the numbers, the others in the order of the config', async () => {
    const { box, asked } = await twoEngines();
    for (const speaker of ['1002', '2001']) await box.run([...OUT, '-s', speaker]);
    expect(asked()).toEqual([['bert'], ['anna']]);
    for (const speaker of ['1002', '2001']) await box.run([...OUT, '-s', speaker, '--engine', 'two']);
    expect(asked()).toEqual([['anna'], ['bert']]);
    for (const number of ['1003', '3001'])
      expectFailure(await box.run([...OUT, '-s', number]), 2, new RegExp(`no speaker ${number}`));
  });

  it('has to be named where several have a voice of one name', async () => {
    const { box, asked } = await twoEngines();
    expectFailure(
      await box.run([...OUT, '-s', 'anna']),
      2,
      /^tts: --speaker: several engines have a voice "anna"\nhint: say which one: one:anna or two:anna\n/,
    );
    await box.run([...OUT, '-s', 'two:anna']);
    await box.run([...OUT, '-s', 'anna', '--engine', 'two']);
    expect(asked()).toEqual([[], ['anna', 'anna']]);
  });

  it('that is unknown is refused with the nearest, and with those there are', async () => {
    const { box } = await twoEngines();
    expectFailure(
      await box.run([...OUT, '--engine', 'twi']),
      2,
      /^tts: --engine: no engine is called "twi"\nhint: did you mean two\? .*there are: one, two\n/,
    );
    const env = { TTS_ENGINE: 'other' };
    expectFailure(await box.run(OUT, { env }), 2, /^tts: TTS_ENGINE: no engine is called "other"\n/);
    expectFailure(await box.run([...OUT, '-s', 'other:anna']), 2, /other:anna/);
  });
});

it('The engine that a project names is one of the user, and no folder, preset or property.', async () => {
  const { box } = await twoEngines();
  box.file('voice/model.onnx');
  for (const engine of ['voice', '..', 'constructor', '__proto__', 'say']) {
    box.file('.ttsrc.json', JSON.stringify({ engine }));
    expectFailure(
      await box.run(OUT),
      2,
      /^tts: engine in .*\.ttsrc\.json: no engine is called ".*"\nhint: .*ame it under "engines" in your own config; there are: one, two\n/,
    );
  }
  expect(box.list()).toEqual(['.ttsrc.json', 'voice']);
});

describe('the address of an engine', () => {
  it('without a path is the one with /v1', async () => {
    const { box, one, two } = await twoEngines();
    const base = (server: { url: string }) => server.url.replace(/\/v1$/, '');
    writeUserConfig(box, { engines: { two: { url: base(two) } } });
    for (const engine of [base(one), `${base(one)}/`, `${one.url}/`, 'two'])
      expect(await box.run([...OUT, '--engine', engine])).toMatchObject({ status: 0, stderr: '' });
    expect([one.asked.length, two.asked.length]).toEqual([3, 1]);
    const run = await box.run([...OUT, '--engine', 'http://127.0.0.1:8']);
    expectFailure(
      run,
      6,
      /hint: check that the server runs: curl http:\/\/127\.0\.0\.1:8\/v1\/audio\/voices\n/,
    );
  });

  it('that cannot be one is refused without what it may hold', async () => {
    for (const address of ['http://127.0.0.1:8/v1?key=PASS-word', 'http://anna:PASS-word@', 'http://['])
      for (const command of [['Hello.'], ['serve', '--port', '0']]) {
        const run = await new Sandbox().run([...command, '--engine', address]);
        const message = /^tts: --engine must be the whole URL of a server, as in http.*, and is "http.*"\n/;
        expectFailure(run, 2, message);
        expect(run.stderr).not.toMatch(/PASS|word/);
      }
  });
});

describe('the password in the address of an engine', () => {
  const PASSWORD = 'PASS-word-5%:x';
  const withPassword = (url: string, user = 'anna') =>
    url.replace('://', `://${user}:${encodeURIComponent(PASSWORD)}@`);

  it('is sent, and neither shown nor kept', async () => {
    const { box, one } = await twoEngines();
    const speak = ['Hello.', '-o', 'out.wav', '-v', '--engine', withPassword(one.url)];
    const cache = { env: { TTS_CACHE_DIR: box.path('cache') } };
    const run = await box.run(speak, cache);
    expect(run).toMatchObject({ status: 0 });
    const basic = Buffer.from(`anna:${PASSWORD}`).toString('base64');
    expect(new Set(one.authorization)).toEqual(new Set([`Basic ${basic}`]));
    const list = await box.run(['cache', '--service', withPassword(one.url)], cache);
    expect(list.stdout.toString()).toMatch(/^entries +1$/m);
    const other = await box.run(['cache', '--service', withPassword('http://unknown.example')], cache);
    expectFailure(other, 2, /holds no segments of http:\/\/unknown.example\n/);
    for (const secret of ['PASS-word', basic]) expect(filesWith(secret, box.path('cache'))).toEqual([]);
    for (const { stdout, stderr } of [run, list, other])
      expect(`${stdout}${stderr}`).not.toMatch(/PASS-word/);
  });

  it('is not shown, and does not go over plain http to other machines', async () => {
    const env = { TTS_ENGINE: withPassword('http://127.0.0.1:8/v1') };
    for (const [line, status] of [
      ['Hello. -o out.wav --retries 0', 6],
      ['speakers', 6],
      ['config', 0],
    ] as const) {
      const run = await new Sandbox().run(line, { env });
      expect(run.status).toBe(status);
      expect(`${run.stdout}${run.stderr}`).not.toMatch(/PASS|anna/);
      expect(`${run.stdout}${run.stderr}`).toContain('http://127.0.0.1:8/v1');
    }
    const far = await new Sandbox().run([...OUT, '--engine', withPassword('http://engine.example/v1')]);
    const message =
      /password of the engine engine\.example is not sent over plain http to engine\.example: .*\nhint: use/;
    expectFailure(far, 2, message);
    expect(far.stderr).not.toMatch(/PASS|anna/);
  });
});

it('Engines that are silent are waited for at the same time, and are a line each among the speakers of the others.', async () => {
  let open = 0;
  let most = 0;
  const silent = await serveBytes((wire) => {
    open += 1;
    most = Math.max(most, open);
    void wire.closed.then(() => {
      open -= 1;
    });
  });
  const { box, two } = await twoEngines();
  const names = ['a', 'b', 'c'];
  const engines = Object.fromEntries(names.map((name) => [name, { url: `${silent.url}/${name}` }]));
  writeUserConfig(box, { engines: { ...engines, two: { url: two.url } }, timeout: 2 });
  const run = await box.run('speakers');
  expect([run.status, run.stdout.toString()]).toEqual([0, expect.stringMatching(/anna/)]);
  expect(run.stderr.match(/^tts: warning: [abc] .* 2 s$/gm)).toHaveLength(3);
  expect(most).toBe(3);
  expect(await box.run([...OUT, '-s', 'anna'])).toMatchObject({ status: 0 });
});

describe('the key of an engine', () => {
  it('may lie in a file, and is not shown', async () => {
    const { box, one } = await twoEngines();
    chmodSync(box.file('key', 'key-of-one\n'), 0o600);
    writeUserConfig(box, { engines: { one: { url: one.url, keyFile: box.path('key') } } });
    const run = await box.run([...OUT, '-v', '--engine', 'one']);
    expect(run.status).toBe(0);
    expect(new Set(one.authorization)).toEqual(new Set(['Bearer key-of-one']));
    expect(run.stderr).not.toContain('key-of-one');
    box.file('key', 'key-of\none\n');
    expectFailure(
      await box.run([...OUT, '--engine', 'one']),
      2,
      /engines\.one\.keyFile holds no valid API key/,
    );
  });

  it('does not go over plain http to other machines', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { engines: { far: { url: 'http://engine.example/v1', key: 'key-of-far' } } });
    const run = await box.run([...OUT, '--engine', 'far']);
    expectFailure(run, 2, /key of the engine far is not sent over plain http to engine\.example/);
    expect(run.stderr).not.toContain('key-of-far');
  });
});

describe('rows of a batch', () => {
  it('speak with engines, and again only after their model has changed', async () => {
    const { box, one, asked } = await twoEngines();
    box.file(
      'rows.csv',
      'id,text,speaker\na,First row.,one:anna\nb,Second row.,two:bert\nc,Third row.,1002\n',
    );
    const make = async () => {
      const run = await box.run('batch rows.csv -o {id}.wav --json --no-cache');
      const lines = run.stdout
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      return [run.status, ...lines.slice(0, -1).map(({ state }) => state)];
    };
    expect(await make()).toEqual([0, 'made', 'made', 'made']);
    expect(asked()).toEqual([['anna', 'bert'], ['bert']]);
    expect(await make()).toEqual([0, 'unchanged', 'unchanged', 'unchanged']);
    expect(asked()).toEqual([[], []]);
    writeUserConfig(box, {
      engines: { one: { url: one.url, model: 'new' }, two: { url: 'http://127.0.0.1:8/v1' } },
    });
    box.file('rows.csv', 'id,text,speaker\na,First row.,one:anna\nc,Third row.,1002\n');
    expect(await make()).toEqual([0, 'made', 'made']);
    expect(asked()).toEqual([['anna', 'bert'], []]);
  });
});

it('Voices beyond the thousandth of an engine speak by their names; the next numbers are those of the next engine.', async () => {
  const names = Array.from({ length: 1002 }, (_, at) => `v${at + 1}`);
  const [large, small] = [await serveSpeech(complete(wav), names), await serveSpeech(complete(wav))];
  const box = new Sandbox();
  writeUserConfig(box, { engines: { large: { url: large.url }, small: { url: small.url } } });
  for (const speaker of ['large:v1000', 'v1002', '2000', '2001'])
    expect(await box.run([...OUT, '-s', speaker])).toMatchObject({ status: 0, stderr: '' });
  const asked = [large, small].map((server) => server.asked.map(({ voice }) => voice));
  expect(asked).toEqual([['v1000', 'v1002', 'v1000'], ['anna']]);
});
