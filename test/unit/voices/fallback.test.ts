import { expect, test } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import type { PcmFormat, Speech } from '../../../src/sound/pcm.ts';
import { Fallback, type FellBack, Patience } from '../../../src/voices/fallback.ts';
import { deliverTo, MemorySink } from '../../support/memory-sink.ts';
import { speakerThat } from '../../support/speaker.ts';
import { turns } from '../../support/turns.ts';
import { segmentOf } from '../run/segment-of.ts';

const format: PcmFormat = { encoding: 'integer', sampleRate: 8000, channels: 1, bitsPerSample: 16 };
const down = new TtsError('nothing listens', { exitCode: ExitCode.connection });

/** What happens to the service at the segments with these numbers. */
type Faults = Readonly<Record<number, (signal: AbortSignal) => AsyncGenerator<Uint8Array> | TtsError>>;

/** A service says the number of the segment four times, and the other voice says it plus 100. */
async function heard(faults: Faults, { seconds = 5, count = 6 } = {}) {
  const spoken = (no: number): Speech => ({ format, bytes: undefined, pcm: saying(no, 4) });
  const service = speakerThat(async ({ index }, signal) => {
    const fault = faults[index]?.(signal);
    if (fault instanceof TtsError) throw fault;
    return fault ? { format, bytes: undefined, pcm: fault } : spoken(index);
  });
  const other = speakerThat(async ({ index }) => spoken(index + 100), { kind: 'built-in' });
  const fallback = new Fallback(other, 'slt');
  const told: FellBack[] = [];
  const sink = new MemorySink(true);
  const error = await deliverTo(sink, {
    segments: async function* () {
      for (let index = 0; index < count; index++) yield segmentOf(`number ${index}`, index);
    },
    speakerOf: (segment) => (fallback.speaks(segment) ? other : service),
    lead: service,
    listeners: [{ on: (event) => void (event.type === 'fallback' && told.push(event.how)) }],
    fallback,
    patience: new Patience(seconds, true),
  }).then(
    () => undefined,
    (failure) => failure,
  );
  const { buffer, byteOffset, length } = sink.pcm;
  const numbers = [...new Int16Array(buffer, byteOffset, length / 2)];
  return { numbers, told: told[0], error };
}

async function* saying(no: number, times: number, end?: () => Promise<void>) {
  for (let time = 0; time < times; time++) yield Buffer.from(new Int16Array([no]).buffer);
  await end?.();
}

const four = (...numbers: number[]) => numbers.flatMap((no) => [no, no, no, no]);

test('A voice that fails leaves its segment and all behind it to the other one, whatever was asked for ahead.', async () => {
  const { numbers, told, error } = await heard({ 2: () => down });
  expect({ numbers, error }).toEqual({ numbers: four(0, 1, 102, 103, 104, 105), error: undefined });
  expect(told).toMatchObject({ voice: 'slt', error: down, from: { index: 2 }, broken: undefined });
});

test('The earliest failure counts, in whatever order they come.', async () => {
  const { numbers } = await heard({ 1: () => down, 3: () => down });
  expect(numbers).toEqual(four(0, 101, 102, 103, 104, 105));
});

test('A sentence that was begun is not said again: the other voice speaks from the next one on.', async () => {
  const breaks = () => turns().then(() => Promise.reject(down));
  const { numbers, told, error } = await heard({ 0: () => saying(0, 2, breaks) }, { count: 3 });
  expect({ numbers, error }).toEqual({ numbers: [0, 0, ...four(101, 102)], error: undefined });
  expect(told).toMatchObject({ from: { index: 1 }, broken: { index: 0 } });
});

test('A sentence that broke off before its turn is said by the other voice from its start.', async () => {
  const breaks = () => Promise.reject(down);
  const { numbers } = await heard({ 2: () => saying(2, 2, breaks) }, { count: 4 });
  expect(numbers).toEqual(four(0, 1, 102, 103));
});

test('Where the last sentence breaks off, no other voice speaks, and the run fails.', async () => {
  const breaks = () => turns().then(() => Promise.reject(down));
  const { numbers, told, error } = await heard({ 0: () => saying(0, 1, breaks) }, { count: 1 });
  expect({ numbers, told }).toEqual({ numbers: [], told: undefined });
  expect(error).toBe(down);
});

test('Silence that outlasts the patience counts as a failure, before the first sound and inside a sentence.', async () => {
  const hangs = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const before = await heard(
    { 1: (signal) => saying(1, 0, () => hangs(signal)) },
    { seconds: 0.1, count: 3 },
  );
  expect(before.numbers).toEqual(four(0, 101, 102));
  expect(before.told?.error).toMatchObject({ message: 'no sound came within 0.1 s', exitCode: 5 });
  const inside = await heard(
    { 0: (signal) => saying(0, 2, () => hangs(signal)) },
    { seconds: 0.1, count: 3 },
  );
  expect(inside.numbers).toEqual([0, 0, ...four(101, 102)]);
  const last = await heard({ 0: (signal) => saying(0, 2, () => hangs(signal)) }, { seconds: 0.1, count: 1 });
  expect(last.error).toMatchObject({ exitCode: 5, hint: 'wait longer with --patience' });
});

test.each([
  ['a text that is refused', new TtsError('no', { exitCode: ExitCode.service, concernsThisTextOnly: true })],
  ['a key that is refused', new TtsError('no', { exitCode: ExitCode.key })],
  ['an answer that is not sound', new TtsError('no', { exitCode: ExitCode.service })],
])('No other voice speaks after %s.', async (_, error) => {
  const run = await heard({ 1: () => error });
  expect(run).toMatchObject({ told: undefined, error: { exitCode: error.exitCode } });
});
