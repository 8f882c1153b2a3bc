import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { answer, complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { Sandbox } from '../support/run.ts';
import { startServe } from '../support/serve.ts';
import { serveSpeech } from '../support/speech-server.ts';
import { textOf, wavOf } from '../support/text-audio.ts';
import { writeUserConfig } from '../support/user-config.ts';

const RATE = 8000;

const KEY = 'an-engine-key-5217';

/** `tts serve --engine` in front of a server that speaks texts byte by byte. */
async function serveEngine(delay: number, ...args: string[]) {
  const open = { now: 0, most: 0 };
  const server = await serveSpeech(async (wire, request, number) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    const { input } = request.json as { input: string };
    await sleep(delay);
    open.now -= 1;
    await complete(wavOf(input, { sampleRate: RATE, framesPerByte: 200 }))(wire, request, number);
  });
  const box = new Sandbox();
  const { url } = await startServe(box, ['--engine', server.url, ...args]);
  return { url, box, server, open };
}

function bodyOf(text: string, isStreamed = false): string {
  const config = { sample_rate: RATE, use_streaming_response: isStreamed };
  return JSON.stringify({ text, speaker_no: 1001, config });
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('a voice of an engine over POST /tts, %s', (_, isStreamed) => {
  it.runIf(isThere('curl'))('speaks to curl', async () => {
    const { url, box } = await serveEngine(5);
    const text = 'From an engine to curl.';
    const options = `-sS --fail -H 'Content-Type: application/json' -o out.wav`;
    const run = await box.shell(`curl ${options} -d '${bodyOf(text, isStreamed)}' ${url}/tts`);
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(textOf(parseWav(box.read('out.wav')).pcm, 200)).toBe(text);
  });

  it("speaks to Python's requests", async ({ skip }) => {
    const { url, box } = await serveEngine(5);
    if ((await box.shell('python3 -c "import requests"')).status !== 0) skip('Python has no requests');
    const text = 'From an engine to Python.';
    box.file(
      'ask.py',
      [
        'import requests, sys',
        `with requests.post(sys.argv[1] + "/tts", json=${bodyOf(text, isStreamed).replace('true', 'True').replace('false', 'False')}, stream=True) as answer:`,
        '    answer.raise_for_status()',
        '    with open("out.wav", "wb") as file:',
        '        for piece in answer.iter_content(1000): file.write(piece)',
      ].join('\n'),
    );
    expect(await box.shell(`python3 ask.py ${url}`)).toMatchObject({ status: 0, stderr: '' });
    expect(textOf(parseWav(box.read('out.wav')).pcm, 200)).toBe(text);
  });
});

async function ask(url: string, text: string, isStreamed = false) {
  const answer = await fetch(`${url}/tts`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: bodyOf(text, isStreamed),
  });
  return {
    status: answer.status,
    retryAfter: answer.headers.get('Retry-After'),
    body: Buffer.from(await answer.arrayBuffer()),
  };
}

describe.each([
  ['whole', false],
  ['streamed', true],
])('the refusal of an engine, %s', (_, isStreamed) => {
  it.each([
    { upstream: 429, status: 429, retryAfter: '7', code: 'busy' },
    { upstream: 503, status: 503, retryAfter: '7', code: 'busy' },
    { upstream: 500, status: 502, retryAfter: null, code: 'engine_failed' },
    { upstream: 401, status: 502, retryAfter: null, code: 'engine_failed' },
  ])('$upstream becomes $status, and its words go to the log without the key', async (expected) => {
    const { upstream, status, retryAfter, code } = expected;
    const words = `{"detail":"no memory for ${KEY}"}`;
    const server = await serveSpeech(answer(upstream, words, { 'Retry-After': 7 }));
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { url: server.url, key: KEY } } });
    const { url, run } = await startServe(box, ['--engine', 'mine']);
    const refused = await ask(url, 'Hello there.', isStreamed);
    expect(refused).toMatchObject({ status, retryAfter });
    const message =
      code === 'busy'
        ? 'too many requests wait already'
        : 'The voice failed; the log of the service says why';
    expect(JSON.parse(refused.body.toString())).toEqual({ error: { code, message } });
    const { ended } = await run.endBy('SIGTERM');
    expect(ended.stderr).toContain(` engine failed: mine answers ${upstream}: no memory for ***\n`);
  });

  it('passes a date on as seconds', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const server = await serveSpeech(answer(503, 'busy', { 'Retry-After': date }));
    const { url } = await startServe(new Sandbox(), ['--engine', server.url]);
    const { retryAfter } = await ask(url, 'Hello there.', isStreamed);
    expect(Number(retryAfter)).toBeGreaterThan(20);
    expect(Number(retryAfter)).toBeLessThanOrEqual(60);
  });
});

it('A config file that is named at the start brings the engine.', async () => {
  const box = new Sandbox();
  box.file('good.wav', wavOf('The program.', { sampleRate: RATE, framesPerByte: 200 }));
  const config = box.file('e.json', JSON.stringify({ engines: { mine: { command: ['cat', 'good.wav'] } } }));
  const { url } = await startServe(box, ['--engine', 'mine', '--config', config]);
  expect((await ask(url, 'The program.')).status).toBe(200);
});

it('A voice of an engine keeps its rate in the interface of OpenAI, and is then listed with it.', async () => {
  const { url } = await serveEngine(1);
  const rateListed = async () => {
    const { speakers } = JSON.parse(await (await fetch(`${url}/speakers`)).text());
    return speakers.find((each: { speaker_no: number }) => each.speaker_no === 1001).sample_rate;
  };
  expect(await rateListed()).toBeNull();
  const body = JSON.stringify({ model: 'x', voice: 'anna', input: 'At its rate.', response_format: 'wav' });
  const headers = { 'Content-Type': 'application/json' };
  const answered = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body });
  const { sampleRate, pcm } = parseWav(Buffer.from(await answered.arrayBuffer()));
  expect([sampleRate, textOf(pcm, 200)]).toEqual([RATE, 'At its rate.']);
  expect(await rateListed()).toBe(RATE);
});

it('A client of tts serve hears nothing of a temporary folder that takes no long sound, and the log does.', async () => {
  const box = new Sandbox();
  const { url, run } = await startServe(box, [], { TMPDIR: box.path('missing') });
  const text = 'We saw the moon rise over the mountains while the wolves howled. '.repeat(60);
  const body = JSON.stringify({ text, speaker_no: 1 });
  const headers = { 'Content-Type': 'application/json' };
  const answered = await fetch(`${url}/tts`, { method: 'POST', headers, body });
  expect(answered.status).toBe(507);
  const message = 'The voice failed; the log of the service says why';
  expect(await answered.json()).toEqual({ error: { code: 'storage_failed', message } });
  const { ended } = await run.endBy('SIGTERM');
  expect(ended.stderr).toMatch(/cannot write \S+missing\S*: the folder does not exist/);
});

describe('fifty clients of an engine at once', () => {
  const texts = Array.from({ length: 50 }, (_, index) => `Client ${index} says this.`);

  it('wait for their turn, four of them in work', async () => {
    const { url, open } = await serveEngine(20);
    const answers = await Promise.all(texts.map((text) => ask(url, text)));
    expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200));
    expect(answers.map(({ body }) => textOf(parseWav(body).pcm, 200))).toEqual(texts);
    expect(open.most).toBe(4);
  });

  it('get 503 with Retry-After beyond the queue, and the others their sound', async () => {
    const { url } = await serveEngine(20, '--max-queue', '10');
    const answers = await Promise.all(texts.map((text) => ask(url, text)));
    const refused = answers.filter(({ status }) => status === 503);
    const spoken = answers.filter(({ status }) => status === 200);
    expect(refused.length + spoken.length).toBe(50);
    expect(spoken.length).toBeGreaterThanOrEqual(14);
    expect(refused.length).toBeGreaterThan(0);
    for (const { retryAfter } of refused) expect(Number(retryAfter)).toBeGreaterThanOrEqual(1);
  });

  it('wait for their turn behind a program, one of them in work', async () => {
    const box = new Sandbox();
    const wav = wavOf('The program.', { sampleRate: RATE, framesPerByte: 200 });
    const lock = 'mkdir lock || exit 9; sleep 0.02; cat good.wav; cat >> heard; rmdir lock';
    box.file('good.wav', wav);
    writeUserConfig(box, { engines: { mine: { command: ['bash', '-c', lock] } } });
    const { url } = await startServe(box, ['--engine', 'mine']);
    const answers = await Promise.all(texts.map((text) => ask(url, text)));
    expect(answers.map(({ status, body }) => [status, body.equals(wav)])).toEqual(
      texts.map(() => [200, true]),
    );
    expect(box.read('heard').toString().split('\n').sort()).toEqual(['', ...texts].sort());
  });

  it('do not wait for one with a long text', async () => {
    const { url, server } = await serveEngine(20);
    const long = ask(url, 'A sentence of a long text. '.repeat(400));
    await expect.poll(() => server.asked.length).toBeGreaterThan(4);
    const ends: string[] = [];
    await Promise.all([
      long.then(() => ends.push('long')),
      ...texts.slice(0, 10).map((text) => ask(url, text).then(() => ends.push('short'))),
    ]);
    expect(ends.at(-1)).toBe('long');
  });
});
