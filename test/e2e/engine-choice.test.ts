import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { complete } from '../support/http-bytes.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav, sound } from '../unit/audio/wav-builder.ts';

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
    await box.tts(OUT);
    expect(asked()).toEqual([['anna'], []]);
    await box.tts(OUT, { env: { TTS_ENGINE: 'two' } });
    expect(asked()).toEqual([[], ['anna']]);
    await box.tts([...OUT, '--engine', two.url], { env: { TTS_ENGINE: 'one' } });
    expect(asked()).toEqual([[], ['anna']]);
  });

  it('comes first in the numbers, the others in the order of the config', async () => {
    const { box, asked } = await twoEngines();
    for (const speaker of ['1002', '2001']) await box.tts([...OUT, '-s', speaker]);
    expect(asked()).toEqual([['bert'], ['anna']]);
    for (const speaker of ['1002', '2001']) await box.tts([...OUT, '-s', speaker, '--engine', 'two']);
    expect(asked()).toEqual([['anna'], ['bert']]);
    for (const number of ['1003', '3001'])
      expectFailure(await box.tts([...OUT, '-s', number]), 2, new RegExp(`no speaker ${number}`));
  });

  it('has to be named where several have a voice of one name', async () => {
    const { box, asked } = await twoEngines();
    expectFailure(
      await box.tts([...OUT, '-s', 'anna']),
      2,
      /^tts: --speaker: several engines have a voice "anna"\nhint: say which one: one:anna or two:anna\n/,
    );
    await box.tts([...OUT, '-s', 'two:anna']);
    await box.tts([...OUT, '-s', 'anna', '--engine', 'two']);
    expect(asked()).toEqual([[], ['anna', 'anna']]);
  });

  it('that is unknown is refused with the nearest, and with those there are', async () => {
    const { box } = await twoEngines();
    expectFailure(
      await box.tts([...OUT, '--engine', 'twi']),
      2,
      /^tts: --engine: no engine is called "twi"\nhint: did you mean two\? .*there are: one, two\n/,
    );
    const env = { TTS_ENGINE: 'other' };
    expectFailure(await box.tts(OUT, { env }), 2, /^tts: TTS_ENGINE: no engine is called "other"\n/);
    expectFailure(await box.tts([...OUT, '-s', 'other:anna']), 2, /other:anna/);
  });

  it('may be off while another one speaks', async () => {
    const { box, two } = await twoEngines();
    writeUserConfig(box, { engines: { off: { url: 'http://127.0.0.1:8/v1' }, two: { url: two.url } } });
    expect(await box.tts([...OUT, '-s', 'bert'])).toMatchObject({ status: 0 });
    expect(two.asked.map(({ voice }) => voice)).toEqual(['bert']);
  });

  it('is sent nothing by a dry run', async () => {
    const { box, asked } = await twoEngines();
    const args = ['Hello.', '--engine', 'two', '--dry-run', '--json'];
    const run = await box.tts(args);
    expect(JSON.parse(run.stdout.toString())).toMatchObject({ requests: 1, segments: 1 });
    expect(asked()).toEqual([[], []]);
  });
});

describe('the key of an engine', () => {
  it('may lie in a file, and is not shown', async () => {
    const { box, one } = await twoEngines();
    chmodSync(box.file('key', 'key-of-one\n'), 0o600);
    writeUserConfig(box, { engines: { one: { url: one.url, keyFile: box.path('key') } } });
    const run = await box.tts([...OUT, '-v', '--engine', 'one']);
    expect(run.status).toBe(0);
    expect(new Set(one.authorization)).toEqual(new Set(['Bearer key-of-one']));
    expect(run.stderr).not.toContain('key-of-one');
  });

  it('does not go over plain http to other machines', async () => {
    const box = new Sandbox();
    writeUserConfig(box, { engines: { far: { url: 'http://engine.example/v1', key: 'key-of-far' } } });
    const run = await box.tts([...OUT, '--engine', 'far']);
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
      const run = await box.tts(['batch', 'rows.csv', '-o', '{id}.wav', '--json', '--no-cache']);
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
      const run = await box.tts(['Hello.', '-o', 'out.wav', '--json', '--engine', 'mine']);
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
