import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { type Report, readFrames, writeFrame } from '../../../src/engines/model-frames.ts';

const REPORTS: readonly Report[] = [
  { type: 'loaded', sampleRate: 16_000, voices: 3 },
  { type: 'samples', id: 70_000, samples: Int16Array.of(1, -2, 32_767, -32_768) },
  { type: 'samples', id: 2, samples: new Int16Array() },
  { type: 'error', id: 2, message: 'Straße 🙂' },
  { type: 'end', id: 70_000 },
];

async function bytesOf(reports: readonly Report[]): Promise<Buffer> {
  const stream = new PassThrough();
  for (const report of reports) writeFrame(stream, report);
  const all = stream.toArray();
  stream.end();
  return Buffer.concat(await all);
}

/** What is read of bytes that come in pieces of one size. */
async function read(bytes: Buffer, size: number): Promise<Report[]> {
  const stream = new PassThrough();
  for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size));
  stream.end();
  const reports: Report[] = [];
  for await (const report of readFrames<Report>(stream)) reports.push(report);
  return reports;
}

it.each([1, 2, 3, 7, 1000])('Frames are read as they were written, in pieces of %i bytes.', async (size) => {
  expect(await read(await bytesOf(REPORTS), size)).toEqual(REPORTS);
});

it('A frame that the end cuts off is dropped.', async () => {
  const bytes = await bytesOf(REPORTS);
  for (let cut = 1; cut < 20; cut += 1)
    expect(await read(bytes.subarray(0, -cut), 1000)).toEqual(REPORTS.slice(0, -1));
});

it('A frame that is too long is an error before it is read.', async () => {
  const stream = new PassThrough();
  const head = Buffer.alloc(5);
  head.writeUInt32LE(2 ** 30);
  stream.write(head);
  await expect(readFrames(stream).next()).rejects.toThrow(`a frame of ${2 ** 30} bytes`);
  if (!stream.closed) await once(stream, 'close');
});
