import { expect, it } from 'vitest';
import { ExitCode, TtsError } from '../../src/kit/error.ts';
import { HttpClient } from '../../src/kit/http/client.ts';
import { ConcurrencyLimiter } from '../../src/kit/limit.ts';
import { createSynthesizer } from '../../src/voices/service.ts';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';
import { complete, head, streamed } from '../support/http-bytes.ts';
import { randomFrom, SEED } from '../support/random.ts';
import { wholePcm } from '../support/read-wav.ts';
import { named, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/sound/wav-builder.ts';

/** The faults of a run follow from the seed. Their timing does not. */
const RUNS = 500;
const RUNS_AT_ONCE = 50;
const WHOLE_RUNS = 20;

const RETRIES = 3;
const EXPECTED_ERRORS: readonly unknown[] = [ExitCode.timeout, ExitCode.connection, ExitCode.service];

const ALL_SOUND = sound(100_000);

/** The sound of a text: up to 40,000 samples. */
function soundOf(text: string): Buffer {
  const hash = [...text].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 1e9, 7);
  const begin = 2 * (hash % 10_000);
  return ALL_SOUND.subarray(begin, begin + 2 * (1 + (hash % 40_000)));
}

/** A WAV of known length, in chunks, or up to the end of the connection. */
const speaking: Script = (wire, request, number) => {
  const { text } = request.json as { readonly text: string };
  const wav = plainWav(soundOf(text));
  if (text.includes('known')) return complete(wav)(wire, request, number);
  if (text.includes('chunked'))
    return streamed(plainWav(soundOf(text), 0xffffffff), 5000)(wire, request, number);
  return wire.write(Buffer.concat([Buffer.from(head(200)), wav])).then(() => wire.end());
};

async function heard(pcm: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of pcm) pieces.push(piece);
  return Buffer.concat(pieces);
}

it(`The client has the right sound or the right error through a faulty network (seed ${SEED}).`, async () => {
  const server = await serveBytes(speaking);
  let sounds = 0;
  const oneRun = async (run: number) => {
    const random = randomFrom(SEED + run);
    const proxy = await startFaultyProxy(server.port, random);
    const connections = 1 + Math.floor(random() * 4);
    const url = new URL(`${proxy.url}/tts`);
    const timeoutMs = 5000;
    await using http = new HttpClient({ connections, timeoutMs });
    let sent = 0;
    const retried: string[] = [];
    const synthesize = createSynthesizer({
      http,
      url,
      timeoutMs,
      key: 'key',
      keyOrigin: 'the test',
      fields: { speaker: 1 },
      limiter: new ConcurrencyLimiter(connections),
      retries: RETRIES,
      onEvent: (event) => {
        if (event.type === 'request') sent += 1;
        if (event.type === 'retry') retried.push(event.error.message);
      },
      checksum: undefined,
    });
    const texts = ['known', 'chunked', 'closed', 'known too'].map((kind) => `${kind} ${run}`);
    const { signal } = new AbortController();
    const outcomes = await Promise.allSettled(
      texts.map(async (text, index) => {
        const speech = await synthesize({ text, index }, signal);
        return speech && (await heard(speech.pcm)).equals(soundOf(text));
      }),
    );
    const told = `run ${run} of seed ${SEED}, retried: ${retried.join(', ')}`;
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') {
        expect(outcome.value, told).toBe(true);
        sounds += 1;
      } else {
        expect(outcome.reason, told).toBeInstanceOf(TtsError);
        expect(EXPECTED_ERRORS, told).toContain(outcome.reason.exitCode);
        // An error comes after all tries only.
        expect(proxy.broken, told).toBeGreaterThan(RETRIES);
      }
    }
    // A busy machine may fall silent as well.
    const silent = retried.filter((message) => message.startsWith('no byte from')).length;
    expect(sent - texts.length, told).toBeLessThanOrEqual(proxy.broken + silent);
  };
  const runs = Array.from({ length: RUNS }, (_, run) => run);
  const workers = Array.from({ length: RUNS_AT_ONCE }, async () => {
    for (let run = runs.pop(); run !== undefined; run = runs.pop()) await oneRun(run);
  });
  await Promise.all(workers);
  expect(sounds).toBeGreaterThan(RUNS);
}, 300_000);

it(`The whole tool writes the right file or none through a faulty network (seed ${SEED}).`, async () => {
  const server = await serveBytes(speaking);
  for (let run = 0; run < WHOLE_RUNS; run++) {
    const proxy = await startFaultyProxy(server.port, randomFrom(SEED - run - 1));
    const text = `${['known', 'chunked', 'closed'][run % 3]} ${run}`;
    const box = new Sandbox();
    const env = named(proxy.url, { TTS_RETRIES: '1', TTS_TIMEOUT: '3' });
    const { status, stderr } = await box.tts([text, '-o', 'out.wav'], { env });
    const told = `run ${run} of seed ${SEED}: ${stderr}`;
    if (status === 0) expect(wholePcm(box.read('out.wav')), told).toEqual(soundOf(text));
    else {
      expect(EXPECTED_ERRORS, told).toContain(status);
      expect(proxy.broken, told).toBe(2);
      expect(box.list(), told).toEqual([]);
    }
  }
}, 120_000);
