import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ask as request } from '../support/ask.ts';
import { answer, complete, silent } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { parseWav } from '../support/read-wav.ts';
import { Sandbox } from '../support/run.ts';
import { serve } from '../support/serve.ts';
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
  const { url } = await serve(['--no-auth', '--engine', server.url, ...args], { box });
  return { url, box, server, open };
}

function bodyOf(text: string, isStreamed = false): string {
  const config = { sample_rate: RATE, use_streaming_response: isStreamed };
  return JSON.stringify({ text, speaker_no: 1001, config });
}

it("A voice of an engine over POST /tts speaks to curl and to Python's requests, whole and streamed.", async () => {
  const { url, box } = await serveEngine(5);
  const text = 'From an engine to a client.';
  const isHeard = () => expect(textOf(parseWav(box.read('out.wav')).pcm, 200)).toBe(text);
  const script = `import requests, sys
with requests.post(sys.argv[1] + "/tts", data=sys.argv[2], headers={"Content-Type": "application/json"}, stream=True) as answer:
    answer.raise_for_status()
    with open("out.wav", "wb") as file:
        for piece in answer.iter_content(1000): file.write(piece)
`;
  box.file('ask.py', script);
  const hasRequests = (await box.shell('python3 -c "import requests"')).status === 0;
  for (const isStreamed of [false, true]) {
    const body = bodyOf(text, isStreamed);
    const curl = `curl -sS --fail -H 'Content-Type: application/json' -o out.wav -d '${body}' ${url}/tts`;
    for (const line of [isThere('curl') && curl, hasRequests && `python3 ask.py ${url} '${body}'`])
      if (line) {
        expect(await box.shell(line)).toMatchObject({ status: 0, stderr: '' });
        isHeard();
      }
  }
});

async function ask(url: string, text: string, isStreamed = false) {
  const headers = { 'content-type': 'application/json' };
  return request(`${url}/tts`, { method: 'POST', headers, body: bodyOf(text, isStreamed) });
}

it('An engine that is silent is given up after --timeout.', async () => {
  const server = await serveSpeech(silent);
  const { url } = await serve(['--no-auth', '--engine', server.url, '--timeout=0.3'], { box: new Sandbox() });
  const { status, json } = await ask(url, 'hello');
  expect([status, json.error.code]).toEqual([504, 'engine_late']);
});

describe('the refusal of an engine', () => {
  it.each([
    { upstream: 429, status: 429, retryAfter: '7', code: 'busy', isStreamed: true },
    { upstream: 503, status: 503, retryAfter: '7', code: 'busy', isStreamed: false },
    { upstream: 401, status: 502, retryAfter: undefined, code: 'engine_failed', isStreamed: true },
  ])('$upstream becomes $status, and its words go to the log without the key', async (expected) => {
    const { upstream, status, retryAfter, code, isStreamed } = expected;
    const words = `{"detail":"no memory for ${KEY}"}`;
    const server = await serveSpeech(answer(upstream, words, { 'Retry-After': 7 }));
    const box = new Sandbox();
    writeUserConfig(box, { engines: { mine: { url: server.url, key: KEY } } });
    const { url, endBy } = await serve('--no-auth --engine mine', { box });
    const refused = await ask(url, 'Hello there.', isStreamed);
    expect([refused.status, refused.headers['retry-after']]).toEqual([status, retryAfter]);
    const message =
      code === 'busy'
        ? 'too many requests wait already'
        : 'The voice failed; the log of the service says why';
    expect(refused.json).toEqual({ error: { code, message } });
    const { ended } = await endBy('SIGTERM');
    expect(ended.stderr).toContain(` engine failed: mine answers ${upstream}: no memory for ***\n`);
  });
});

it('A config file that is named at the start brings the engine.', async () => {
  const box = new Sandbox();
  box.file('good.wav', wavOf('The program.', { sampleRate: RATE, framesPerByte: 200 }));
  const config = box.file('e.json', JSON.stringify({ engines: { mine: { command: ['cat', 'good.wav'] } } }));
  const { url } = await serve(['--no-auth', '--engine', 'mine', '--config', config], { box });
  expect((await ask(url, 'The program.')).status).toBe(200);
});

it('Instructions to a voice of an engine have no effect, and the answer says so.', async () => {
  const { url } = await serveEngine(1);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ input: 'Hello.', instructions: 'slower, deep', response_format: 'wav' });
  const answered = await request(`${url}/v1/audio/speech`, { method: 'POST', headers, body });
  expect([answered.status, answered.headers['x-instructions-ignored']]).toEqual([200, 'slower%2C%20deep']);
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

describe('twenty clients of an engine at once', () => {
  const texts = Array.from({ length: 20 }, (_, index) => `Client ${index} says this.`);

  it('wait for their turn, four of them in work, and not for one with a long text', async () => {
    const { url, server, open } = await serveEngine(20);
    const long = ask(url, 'A sentence of a long text. '.repeat(400));
    await expect.poll(() => server.asked.length).toBeGreaterThan(4);
    const ends: string[] = [];
    const answers = texts.map((text) => ask(url, text).finally(() => ends.push('short')));
    await Promise.all([long.then(() => ends.push('long')), ...answers]);
    for (const [at, { status, bytes }] of (await Promise.all(answers)).entries())
      expect([status, textOf(parseWav(bytes).pcm, 200)]).toEqual([200, texts[at]]);
    expect([open.most, ends.at(-1)]).toEqual([4, 'long']);
  });

  it('get 503 with Retry-After beyond the queue, and the others their sound', async () => {
    const { url } = await serveEngine(200, '--max-queue', '5');
    const answers = await Promise.all(texts.map((text) => ask(url, text)));
    const refused = answers.filter(({ status }) => status === 503);
    const spoken = answers.filter(({ status }) => status === 200);
    expect(refused.length + spoken.length).toBe(20);
    expect(spoken.length).toBeGreaterThanOrEqual(9);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
  });

  it('wait for their turn behind a program, one of them in work', async () => {
    const box = new Sandbox();
    const wav = wavOf('The program.', { sampleRate: RATE, framesPerByte: 200 });
    const lock = 'mkdir lock || exit 9; sleep 0.02; cat good.wav; cat >> heard; rmdir lock';
    box.file('good.wav', wav);
    writeUserConfig(box, { engines: { mine: { command: ['bash', '-c', lock] } } });
    const { url } = await serve('--no-auth --engine mine', { box });
    const answers = await Promise.all(texts.map((text) => ask(url, text)));
    const heard = answers.map(({ status, bytes }) => [status, bytes.equals(wav)]);
    expect(heard).toEqual(texts.map(() => [200, true]));
    expect(box.read('heard').toString().split('\n').sort()).toEqual(['', ...texts].sort());
  });
});
