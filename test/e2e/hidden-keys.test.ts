import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { answer, complete } from '../support/http-bytes.ts';
import { wavOf } from '../support/row-service.ts';
import { type Ended, named, Sandbox } from '../support/run.ts';
import { startServe } from '../support/serve.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { writeUserConfig } from '../support/user-config.ts';

const KEYS = {
  api: 'api-key-of-a-user-4711',
  engine: 'engine-key-of-a-user-0815',
  login: 'password-in-an-address-12',
  proxy: 'password-of-a-proxy-3141',
};

const quote = (key: string) => JSON.stringify({ message: `no: ${key}` });

/** A service that speaks "good", quotes its key in answers to other texts, and names a speaker after one. */
const quoting: Script = (wire, request, number) => {
  if (request.method === 'GET')
    return answer(200, JSON.stringify({ speakers: [{ speaker_no: 7, name: KEYS.api }] }))(
      wire,
      request,
      number,
    );
  const { text } = request.json as { text: string };
  const speak = text.startsWith('good') ? complete(wavOf(text)) : answer(422, quote(KEYS.api));
  return speak(wire, request, number);
};

/** All that a run gave away: what it printed and what it wrote. */
function leftBy(box: Sandbox, { stdout, stderr }: Ended): string {
  const files = box.list().filter((name) => /\.(?:html|jsonl|journal|srt|vtt|out)$/.test(name));
  return [stdout, stderr, ...files.map((name) => box.read(name))].join('\n');
}

function expectNoKey(text: string): void {
  for (const key of Object.values(KEYS)) expect(text).not.toContain(key);
}

const TABLE = 'id,text\na,good one\nb,bad one\n';

/** The commands, and whether they show a quote of the other side. */
const COMMANDS: readonly [line: string, isQuoted: boolean][] = [
  ['bad -o a.wav', true],
  ['bad -o a.wav -v', true],
  ['bad -o a.wav --json', true],
  ['good -o a.wav --subtitles a.srt --json', false],
  ['batch t.csv -o {id}.wav --report r.html --json', true],
  ['speakers --json', true],
  ['doctor --yes --json', true],
  ['config --json', false],
  [`cache --service HTTP://me:${KEYS.login}@127.0.0.1:1`, false],
];

describe('a service that quotes keys gets none of them into what is left by', () => {
  it.each(COMMANDS)('tts %s', async (line, isQuoted) => {
    const { url } = await serveBytes(quoting);
    const box = new Sandbox();
    box.file('t.csv', TABLE);
    writeUserConfig(box, { engines: { mine: { url: 'http://127.0.0.1:9', key: KEYS.engine } } });
    const run = await box.run(line.split(' '), {
      env: {
        ...named(url),
        TTS_API_KEY: KEYS.api,
        HTTP_PROXY: `http://me:${KEYS.proxy}@127.0.0.1:9`,
        NO_PROXY: '*',
      },
    });
    const left = leftBy(box, run);
    expectNoKey(left);
    if (isQuoted) expect(left).toContain('***');
  });

  it.each([['-v'], ['--json']])('a proxy that quotes its password: %j', async (...flags) => {
    const proxy = await serveBytes(answer(407, quote(KEYS.proxy)));
    const address = proxy.url.replace('//', `//me:${KEYS.proxy}@`);
    const box = new Sandbox();
    const env = { ...named('http://tts.example.com'), TTS_API_KEY: KEYS.api, HTTP_PROXY: address };
    const run = await box.run(['hi', '-o', 'a.wav', '--allow-insecure-http', ...flags], { env });
    expect(run.status).not.toBe(0);
    expectNoKey(leftBy(box, run));
  });
});

describe('an engine that quotes its key gets it into nothing that is left by', () => {
  const refusing = (key = KEYS.engine) => serveSpeech(answer(401, quote(key)), { voices: ['anna', key] });

  it.each(['hi -o a.wav', 'batch t.csv -o {id}.wav --report r.html --json', 'speakers', 'doctor --yes'])(
    'tts %s',
    async (line) => {
      const { url } = await refusing();
      const box = new Sandbox();
      box.file('t.csv', TABLE);
      writeUserConfig(box, { engines: { mine: { url, key: KEYS.engine } } });
      const run = await box.run([...line.split(' '), '--engine', 'mine']);
      expect(leftBy(box, run)).toContain('***');
      expectNoKey(leftBy(box, run));
    },
  );

  it('tts with the password in an address', async () => {
    const { url } = await refusing(KEYS.login);
    const box = new Sandbox();
    const address = url.replace('//', `//me:${KEYS.login}@`);
    const run = await box.run(['hi', '-o', 'a.wav', '-v', '--engine', address]);
    expect(leftBy(box, run)).toContain('***');
    expectNoKey(leftBy(box, run));
  });

  it.each(['text', 'json'])('tts serve: answers, callbacks and a log in %s', async (form) => {
    const { url } = await refusing();
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { url, key: KEYS.engine } } });
    const receiver = await serveBytes(answer(204));
    const service = await startServe(box, ['--engine', 'mine', '--log', form, '--callbacks', receiver.url]);
    const ask = (more: object = {}) =>
      fetch(`${service.url}/tts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ text: 'hi', speaker_no: 1001, ...more }),
      }).then((response) => response.text());
    const answers = [
      await ask(),
      await ask({ config: { use_streaming_response: true } }),
      await ask({ callback_url: receiver.url }),
      await (await fetch(`${service.url}/speakers`)).text(),
      await (await fetch(`${service.url}/`)).text(),
      await (await fetch(`${service.url}/metrics`)).text(),
    ];
    await expect.poll(() => receiver.requests.length).toBe(1);
    const called = receiver.requests.map(({ body }) => body.toString());
    const { ended } = await service.run.endBy('SIGTERM');
    expect(ended.stderr).toContain('***');
    if (form === 'json')
      for (const entry of ended.stderr.split('\n').filter((text) => text.startsWith('{'))) JSON.parse(entry);
    expectNoKey([...answers, ...called, leftBy(box, ended)].join('\n'));
  });
});

it('Names that the user gave stay as they are, though the key is a word of them.', async () => {
  const { url } = await serveBytes(quoting);
  for (const key of ['word', 'everyword']) {
    const box = new Sandbox();
    const env = { ...named(url), TTS_API_KEY: key };
    const run = await box.run(['good', '-o', `${key}.wav`, '--json'], { env });
    expect(JSON.parse(run.stdout.toString()).output).toBe(`${key}.wav`);
    const again = await box.run(['good', '-o', `no/${key}.wav`], { env });
    expect(again.stderr).toContain(`cannot write no/${key}.wav`);
    box.file('t.csv', `id,text\n${key},good\n`);
    const rows = await box.run(['batch', 't.csv', '-o', 'rows/{id}.wav', '--json'], { env });
    expect(JSON.parse(rows.stdout.toString().split('\n')[0] ?? '')).toMatchObject({
      id: key,
      out: `rows/${key}.wav`,
    });
  }
});
