import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { filesBelow, filesWith } from '../support/folder.ts';
import { complete } from '../support/http-bytes.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { startServe } from '../support/serve.ts';
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

  it('may be off while another one speaks', async () => {
    const { box, two } = await twoEngines();
    writeUserConfig(box, { engines: { off: { url: 'http://127.0.0.1:8/v1' }, two: { url: two.url } } });
    expect(await box.run([...OUT, '-s', 'bert'])).toMatchObject({ status: 0 });
    expect(two.asked.map(({ voice }) => voice)).toEqual(['bert']);
  });

  it('is sent nothing by a dry run', async () => {
    const { box, asked } = await twoEngines();
    const args = ['Hello.', '--engine', 'two', '--dry-run', '--json'];
    const run = await box.run(args);
    expect(JSON.parse(run.stdout.toString())).toMatchObject({ requests: 1, segments: 1 });
    expect(asked()).toEqual([[], []]);
  });
});

describe('the engine that a project names', () => {
  it.each(['voice', '.', '..', 'constructor', '__proto__', 'toString', 'say', 'sapi'])(
    'is one of the user, and not %s',
    async (engine) => {
      const { box } = await twoEngines();
      box.file('voice/model.onnx');
      box.file('.ttsrc.json', JSON.stringify({ engine }));
      expectFailure(
        await box.run(OUT),
        2,
        /^tts: engine in .*\.ttsrc\.json: no engine is called ".*"\nhint: .*ame it under "engines" in your own config; there are: one, two\n/,
      );
      expect(box.list()).toEqual(['.ttsrc.json', 'voice']);
    },
  );

  it('may be called like a preset', async () => {
    const { box, one } = await twoEngines();
    writeUserConfig(box, { engines: { say: { url: one.url } } });
    box.file('.ttsrc.json', JSON.stringify({ engine: 'say' }));
    expect(await box.run(OUT)).toMatchObject({ status: 0 });
    expect(one.asked).toHaveLength(1);
  });

  it('is not what a folder of that name holds, on the command line either', async () => {
    const box = new Sandbox();
    for (const name of ['constructor', '__proto__'])
      expectFailure(await box.run([...OUT, '--engine', name]), 2, /^tts: --engine: no engine is called/);
  });
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

  it.each(['http://127.0.0.1:8/v1?key=PASS-word', 'http://anna:PASS-word@', 'http://anna:PASS/word@h'])(
    'that cannot be one is refused without what it may hold: %s',
    async (address) => {
      for (const command of [['Hello.'], ['serve', '--port', '0']]) {
        const run = await new Sandbox().run([...command, '--engine', address]);
        expectFailure(
          run,
          2,
          /^tts: --engine must be the whole URL of a server, as in http.*, and is "http.*"\n/,
        );
        expect(run.stderr).not.toMatch(/PASS|word/);
      }
    },
  );
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
    const list = await box.run(['cache', '--service', 'http://unknown.example'], cache);
    expect(list.stderr).toContain(one.url);
    expect(filesBelow(box.path('cache')).join()).toContain('.keys');
    for (const secret of ['PASS-word', basic]) expect(filesWith(secret, box.path('cache'))).toEqual([]);
    for (const { stdout, stderr } of [run, list]) expect(`${stdout}${stderr}`).not.toMatch(/PASS-word/);
  });

  it.each([
    [['Hello.', '-o', 'out.wav', '--retries', '0'], 6],
    [['speakers'], 6],
    [['config'], 0],
  ])('is not shown by %j', async (args, status) => {
    const engine = withPassword('http://127.0.0.1:8/v1');
    const run = await new Sandbox().run(args, { env: { TTS_ENGINE: engine } });
    expect(run.status).toBe(status);
    expect(`${run.stdout}${run.stderr}`).not.toMatch(/PASS|anna/);
    expect(`${run.stdout}${run.stderr}`).toContain('http://127.0.0.1:8/v1');
  });

  it.each([PASSWORD, ''])('does not go over plain http to other machines: %j', async (password) => {
    const engine = `http://token-of-anna:${encodeURIComponent(password)}@engine.example/v1`;
    const run = await new Sandbox().run([...OUT, '--engine', engine]);
    expectFailure(
      run,
      2,
      /password of the engine engine\.example is not sent over plain http to engine\.example: .*\nhint: use https/,
    );
    expect(run.stderr).not.toMatch(/PASS|token/);
  });
});

describe('engines that are silent', () => {
  /** Three of them, and one that speaks. Each takes the whole timeout. */
  async function silentEngines(timeout = 3) {
    let open = 0;
    const most = { open: 0 };
    const silent = await serveBytes((wire) => {
      open += 1;
      most.open = Math.max(most.open, open);
      void wire.closed.then(() => {
        open -= 1;
      });
    });
    const { box, two } = await twoEngines();
    const engines = Object.fromEntries(
      ['a', 'b', 'c'].map((name) => [name, { url: `${silent.url}/${name}` }]),
    );
    writeUserConfig(box, { engines: { ...engines, two: { url: two.url } }, timeout });
    return { box, silent, most };
  }

  it.each([
    [['speakers'], 0, /anna/],
    [[...OUT, '-s', 'anna'], 0, /^$/],
  ])('are waited for at the same time: %j', async (args, status, shown) => {
    const { box, most } = await silentEngines();
    const run = await box.run(args);
    expect(run.status).toBe(status);
    expect(run.stdout.toString()).toMatch(shown);
    expect(most.open).toBe(3);
  });

  it('hold up a name for 10 s at most, also where the timeout is longer', async () => {
    const { box } = await silentEngines(60);
    const begun = performance.now();
    expect(await box.run([...OUT, '-s', 'anna'])).toMatchObject({ status: 0 });
    expect(performance.now() - begun).toBeLessThan(40_000);
  });

  it('are a line each among the speakers of the others, and an error where one was chosen', async () => {
    const { box } = await silentEngines();
    const run = await box.run(['speakers']);
    expect(run.stderr.match(/^tts: warning: [abc] .* 3 s$/gm)).toHaveLength(3);
    const chosen = await box.run(['speakers', '--engine', 'http://127.0.0.1:8/v1']);
    expect(chosen).toMatchObject({ status: 6 });
    expect(chosen.stderr).toMatch(/^tts: 127\.0\.0\.1:8 cannot be reached [^\n]+\nhint: [^\n]+\n$/m);
  });
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
  });

  it.each([
    ['two lines', 'key-of\none\n', /engines\.one\.keyFile holds no valid API key/],
    ['nothing', '\n', /there is no key in engines\.one\.keyFile/],
  ])('is refused where its file holds %s', async (_, content, message) => {
    const { box, one } = await twoEngines();
    writeUserConfig(box, { engines: { one: { url: one.url, keyFile: box.file('key', content) } } });
    expectFailure(await box.run([...OUT, '--engine', 'one']), 2, message);
    expect(one.authorization).toEqual([]);
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
      const run = await box.run(['batch', 'rows.csv', '-o', '{id}.wav', '--json', '--no-cache']);
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

describe('voices beyond the thousandth of an engine', () => {
  const names = Array.from({ length: 1002 }, (_, at) => `v${at + 1}`);

  async function largeEngine() {
    const [large, small] = [await serveSpeech(complete(wav), names), await serveSpeech(complete(wav))];
    const box = new Sandbox();
    writeUserConfig(box, { engines: { large: { url: large.url }, small: { url: small.url } } });
    const asked = () => [large, small].map((server) => server.asked.splice(0).map(({ voice }) => voice));
    return { box, asked };
  }

  it('speak by their names, and the numbers that follow are those of the next engine', async () => {
    const { box, asked } = await largeEngine();
    for (const speaker of ['large:v1000', 'large:v1001', 'v1002', '2000', '2001'])
      expect(await box.run([...OUT, '-s', speaker])).toMatchObject({ status: 0, stderr: '' });
    expect(asked()).toEqual([['v1000', 'v1001', 'v1002', 'v1000'], ['anna']]);
  });

  it('speak the rows of a batch that name them', async () => {
    const { box, asked } = await largeEngine();
    const speakers = ['large:v1000', 'large:v1001', 'large:v1002', '2001', 'small:bert'];
    const rows = speakers.map((speaker, at) => `${at},Hello.,${speaker}`);
    box.file('rows.csv', ['id,text,speaker', ...rows].join('\n'));
    const batch = ['batch', 'rows.csv', '-o', '{id}.wav', '--no-cache'];
    expect(await box.run(batch)).toMatchObject({ status: 0 });
    expect(asked().map((voices) => voices.toSorted())).toEqual([
      ['v1000', 'v1001', 'v1002'],
      ['anna', 'bert'],
    ]);
    expect((await box.run(batch)).stderr).toContain('5 unchanged');
    expect(asked()).toEqual([[], []]);
  });

  it('are listed without a number', async () => {
    const { box } = await largeEngine();
    const run = await box.run(['speakers', '--json', '--engine', 'large']);
    const { speakers } = JSON.parse(run.stdout.toString());
    const listed = speakers.flatMap(({ no, name }: { no?: number; name: string }) =>
      /^(v\d+|anna)$/.test(name) ? [[name, no]] : [],
    );
    expect(listed.slice(999)).toEqual([
      ['v1000', 2000],
      ['anna', 2001],
      ['v1001', undefined],
      ['v1002', undefined],
    ]);
    expect((await box.run(['speakers'])).stdout.toString()).toMatch(/^- +v1002 /m);
  });

  it('are no speakers of tts serve', async () => {
    const { box, asked } = await largeEngine();
    const { url } = await startServe(box, ['--engine', 'large', '--engine', 'small']);
    const answer = await fetch(`${url}/speakers`);
    const { speakers } = (await answer.json()) as { speakers: { speaker_no: number; name: string }[] };
    const own = speakers.filter(({ speaker_no }) => speaker_no > 1000);
    expect(own).toHaveLength(1002);
    expect(own.slice(999).map(({ speaker_no, name }) => [speaker_no, name])).toEqual([
      [2000, 'v1000'],
      [2001, 'anna'],
      [2002, 'bert'],
    ]);
    const ask = (speaker_no: number) =>
      fetch(`${url}/tts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ text: 'Hello.', speaker_no }),
      });
    expect((await ask(2001)).status).toBe(200);
    expect((await ask(1_000_001_000)).status).toBe(422);
    expect(asked()).toEqual([[], ['anna']]);
  });
});

describe('the sound of a program', () => {
  it('comes from the cache until its arguments or a file of them change', async () => {
    const box = new Sandbox();
    box.file('good.wav', wav);
    box.file('voice.onnx', 'a model');
    const use = (...more: string[]) => {
      const command = ['bash', '-c', 'cat > heard; cat good.wav', 'bash', box.path('voice.onnx'), ...more];
      writeUserConfig(box, { engines: { mine: { command } } });
    };
    const fromCache = async () => {
      const run = await box.run(['Hello.', '-o', 'out.wav', '--json', '--engine', 'mine']);
      return JSON.parse(run.stdout.toString()).fromCache;
    };
    use();
    expect([await fromCache(), await fromCache()]).toEqual([0, 1]);
    box.file('voice.onnx', 'another one');
    expect([await fromCache(), await fromCache()]).toEqual([0, 1]);
    use('--slow');
    expect([await fromCache(), await fromCache()]).toEqual([0, 1]);
  });
});
