import { expect, test } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { buildWorker, samplesOf, startEngine } from '../support/engine.ts';
import { complete } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { plainWav } from '../unit/sound/wav-builder.ts';

const FIRST =
  'She had been waiting for almost an hour, and nobody had come to the door of the house at the end of the lane.';
const SECOND = 'He opened the letter slowly, read it through, and put it back into his pocket.';
const TEXT = `${FIRST} ${SECOND}`;

const engine = await startEngine({ worker: await buildWorker(), workers: 1 });

async function pcmOf(text: string): Promise<Buffer> {
  const { buffer, byteOffset, byteLength } = await samplesOf(engine, { text, speaker: 2 });
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A service that says a text, or leaves the last third of it out. */
async function serveLossy(isLost: (text: string) => boolean) {
  const asked: string[] = [];
  const script: Script = async (wire, request, number) => {
    const { text } = request.json as { readonly text: string };
    asked.push(text);
    const pcm = await pcmOf(text);
    const kept = isLost(text) ? 2 * Math.round(pcm.length / 3) : pcm.length;
    return complete(plainWav(pcm.subarray(0, kept)))(wire, request, number);
  };
  const { url } = await serveBytes(script);
  return { asked, env: named(url, { TTS_CACHE: '1' }) };
}

const SPEAK = ['-f', 'text.txt', '-o', 'out.wav'];

function boxOf(text: string): Sandbox {
  const box = new Sandbox();
  box.file('text.txt', `${text}\n`);
  return box;
}

test('A service that leaves out a third of a text is asked again in halves, and the file has all of it.', async () => {
  const service = await serveLossy((text) => text === TEXT);
  const box = boxOf(TEXT);
  const { status, stderr } = await box.run(SPEAK, service);
  expect(service.asked).toEqual([TEXT, FIRST, SECOND]);
  expect(stderr).toMatch(
    /^tts: warning: 127\.0\.0\.1:\d+ sent \d+\.\d s of sound for "She had been.*", in which about \d\.\d s of the text seem to be missing; the text was spoken in smaller parts\n$/,
  );
  expect(status).toBe(0);
  const halves = Buffer.concat([await pcmOf(FIRST), await pcmOf(SECOND)]);
  expect(box.read('out.wav').subarray(44).equals(halves)).toBe(true);
  expect(await box.run(SPEAK, service)).toMatchObject({ status: 0 });
  expect(service.asked.length).toBe(3);
});

test('What a service leaves out for good is listed with status 9, and is not kept.', async () => {
  const service = await serveLossy((text) => text.includes('letter'));
  const box = boxOf(TEXT);
  const { status, stderr } = await box.run(SPEAK, service);
  expect(stderr).toMatch(/^tts: warning: .*; the text was spoken in smaller parts$/m);
  expect(stderr).toMatch(
    /^tts: warning: line 1: .* for "He opened the letter.*", in which about \d\.\d s of the text seem to be missing; listen to it$/m,
  );
  expect(stderr).toMatch(/^tts: 1 passage may not have been spoken as written$/m);
  expect(status).toBe(9);
  const { length } = service.asked;
  expect(box.read('out.wav').length).toBeGreaterThan((await pcmOf(FIRST)).length);
  expect(await box.run(SPEAK, service)).toMatchObject({ status: 9 });
  expect(service.asked.length).toBe(2 * length);
});

test('A batch makes the row, lists what is doubtful, and ends with 9.', async () => {
  const service = await serveLossy((text) => text.includes('letter'));
  const box = new Sandbox();
  box.file('rows.csv', `id,text\na,"${FIRST}"\nb,"${SECOND}"\n`);
  const { status, stderr } = await box.run(['batch', 'rows.csv', '-o', 'out/{id}.wav'], service);
  expect(stderr).toMatch(
    /^tts: warning: rows\.csv, line 3 \(b\): .*of the text seem to be missing; listen to it$/m,
  );
  expect(stderr).toMatch(
    /^hint: .*delete its file and run the same command again; add --no-cache if it sounds the same$/m,
  );
  expect(status).toBe(9);
  expect(box.read('out/b.wav').length).toBeGreaterThan(44);
});

test('A batch lists a row that came before the voice was heard to say a text.', async () => {
  const { url } = await serveBytes(async (wire, request, number) => {
    const { text } = request.json as { readonly text: string };
    const pcm = await pcmOf(text);
    return complete(plainWav(text === FIRST ? pcm.subarray(0, 8000) : pcm))(wire, request, number);
  });
  const box = new Sandbox();
  box.file('rows.csv', `id,text\na,"${FIRST}"\nb,"${SECOND}"\n`);
  const { status, stderr } = await box.run('batch rows.csv --concurrency 1', { env: named(url) });
  expect(stderr).toMatch(
    /^tts: warning: rows\.csv, line 2 \(a\): .*whose length does not fit the text; listen to it$/m,
  );
  expect(status).toBe(9);
});

test.each([
  ['A stream', TEXT, [...SPEAK, '--stream']],
  ['Sound for a pipe', TEXT, ['-f', 'text.txt', '-o', '-']],
  ['A single sentence', FIRST, SPEAK],
])('%s is not compared.', async (_, text, args) => {
  const service = await serveLossy(() => true);
  const { status, stderr } = await boxOf(text).run([...args, '--quiet'], service);
  expect({ status, stderr, asked: service.asked.join(' ') }).toEqual({ status: 0, stderr: '', asked: text });
});

test.runIf(isThere('espeak-ng'))(
  'The sound of a program is compared as well (skipped without espeak-ng).',
  async () => {
    const said = (words: string) => `sed 's/${words}//' | espeak-ng --stdin --stdout`;
    const engineOf = (line: string) => ({ command: ['bash', '-c', line], language: 'en' });
    const engines = {
      whole: engineOf(said('no such words')),
      lossy: engineOf(said(' slowly, read it through,')),
    };
    const spoken = async (engine: string) => {
      const box = boxOf(TEXT);
      writeUserConfig(box, { engines });
      const { status, stderr } = await box.run([...SPEAK, '--engine', engine]);
      return { status, stderr };
    };
    expect(await spoken('whole')).toEqual({ status: 0, stderr: '' });
    const { status, stderr } = await spoken('lossy');
    expect(stderr).toMatch(
      /line 1: .* for "He opened the letter.*", in which about .* missing; listen to it$/m,
    );
    expect(status).toBe(9);
  },
);
