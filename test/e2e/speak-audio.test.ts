import { describe, expect, it } from 'vitest';
import type { PcmFormat } from '../../src/sound/pcm.ts';
import { serveBytes } from '../support/byte-server.ts';
import { complete, streamed } from '../support/http-bytes.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { named, Sandbox } from '../support/run.ts';
import { chunk, fmt, fmtChunk, plainWav, riff, sound, speechFormat } from '../unit/sound/wav-builder.ts';

const pcm = sound(6000);
const list = chunk('LIST', Buffer.from('INFOISFT\x0e\0\0\0Lavf58.76.100\0'));
const format = (fields: Partial<PcmFormat>): PcmFormat => ({ ...speechFormat, ...fields });
const data = (size?: number) => chunk('data', pcm, size === undefined ? {} : { size, pad: false });

function rf64(dataBytes: number): Buffer {
  const ds64 = Buffer.alloc(28);
  ds64.writeBigUInt64LE(BigInt(dataBytes + 72), 0);
  ds64.writeBigUInt64LE(BigInt(dataBytes), 8);
  return riff([chunk('ds64', ds64), fmtChunk, data(0xffffffff)], 'RF64', 0xffffffff);
}

/** Some of what services send, and all of it means the same sound. */
const variations: readonly (readonly [string, Buffer])[] = [
  ['exact sizes', plainWav(pcm)],
  ['a size of 0xFFFFFFFF', plainWav(pcm, 0xffffffff)],
  ['the samples before the format', riff([data(), fmtChunk])],
  ['chunks after the samples', riff([fmtChunk, data(), chunk('C2PA', sound(15_043)), list])],
  ['RF64', rf64(pcm.length)],
  [
    'further headers without sizes',
    Buffer.concat([plainWav(pcm.subarray(0, 2000), 0xffffffff), plainWav(pcm.subarray(2000), 0xffffffff)]),
  ],
];

const formats: readonly PcmFormat[] = [
  format({ bitsPerSample: 16, channels: 2, sampleRate: 48_000 }),
  format({ bitsPerSample: 32, encoding: 'float', sampleRate: 44_100 }),
];

describe('the WAV that comes out', () => {
  it.each([
    [
      'are no chunk',
      Buffer.alloc(3000, 7),
      /^tts: warning: the service sent 3000 bytes after the samples of a WAV [^\n]*\n$/,
    ],
    ['are a chunk', chunk('C2PA', sound(3000)), /^$/],
  ])('warns once of kilobytes behind the samples that %s', async (_, behind, stderr) => {
    const box = new Sandbox();
    const { url } = await serveBytes(complete(riff([fmtChunk, data(), behind])));
    const words = ['One sentence. Another one.', '--max-chars', '15', '--no-cache', '-o', 'out.wav'];
    const run = await box.run(words, { env: named(url) });
    expect(run).toMatchObject({ status: 0, stderr: expect.stringMatching(stderr) });
    expect(wholePcm(box.read('out.wav'))).toEqual(Buffer.concat([pcm, pcm]));
  });

  it('refuses a header with two formats that differ', async () => {
    const box = new Sandbox();
    const other = chunk('fmt ', fmt({ ...speechFormat, sampleRate: 8000 }));
    const { url } = await serveBytes(complete(riff([fmtChunk, other, data()])));
    const run = await box.run(['hi', '-o', 'out.wav'], { env: named(url) });
    expect(run).toMatchObject({ status: 7, stderr: expect.stringContaining('two fmt chunks that differ') });
    expect(box.list()).toEqual([]);
  });

  it.each(variations)('is the same whatever the service sent: %s', async (_, wav) => {
    const box = new Sandbox();
    const whole = await serveBytes(complete(wav));
    const pieces = await serveBytes(streamed(wav, 777));
    const runs = [
      await box.run(['hi', '-o', 'complete.wav'], { env: named(whole.url) }),
      await box.run(['hi', '-o', 'streamed.wav', '--stream'], { env: named(pieces.url) }),
      await box.run(['hi', '--stream'], { env: named(pieces.url) }),
      await box.run(['hi'], { env: named(whole.url) }),
      await box.shell('tts hi > redirected.wav', { env: named(whole.url) }),
    ];
    expect(runs.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      runs.map(() => ({ status: 0, stderr: '' })),
    );
    const expected = plainWav(pcm);
    expect(box.read('complete.wav')).toEqual(expected);
    expect(box.read('streamed.wav')).toEqual(expected);
    expect(box.read('redirected.wav')).toEqual(expected);
    for (const { stdout } of runs.slice(2, 4)) {
      const piped = parseWav(stdout);
      expect(piped.pcm).toEqual(pcm);
      expect([0xffffffff, pcm.length]).toContain(piped.dataSize);
    }
  });

  it.each(formats)('keeps the format of the service: %o', async (expected) => {
    const server = await serveBytes(complete(plainWav(pcm, undefined, expected)));
    const box = new Sandbox();
    const run = await box.run(['hi', '-o', 'out.wav', '-r', '16000'], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const { tag, channels, sampleRate, byteRate, blockAlign, bits } = parseWav(box.read('out.wav'));
    const frame = (expected.channels * expected.bitsPerSample) / 8;
    expect({ tag, channels, sampleRate, byteRate, blockAlign, bits }).toEqual({
      tag: expected.encoding === 'float' ? 3 : 1,
      channels: expected.channels,
      sampleRate: expected.sampleRate,
      byteRate: expected.sampleRate * frame,
      blockAlign: frame,
      bits: expected.bitsPerSample,
    });
    expect(wholePcm(box.read('out.wav'))).toEqual(pcm);
  });

  it('is the same however the body is cut, even into single bytes', async () => {
    const wav = riff([list, fmtChunk, chunk('data', pcm.subarray(0, 300))]);
    const server = await serveBytes(streamed(wav, 1));
    const box = new Sandbox();
    await box.run(['hi', '--stream', '-o', 'out.wav'], { env: named(server.url) });
    expect(wholePcm(box.read('out.wav'))).toEqual(pcm.subarray(0, 300));
  });

  it('keeps samples aligned where a stream without a size ends within a frame', async () => {
    const server = await serveBytes(streamed(plainWav(sound(1001), 0xffffffff), 333));
    const box = new Sandbox();
    expect(await box.run(['hi', '--stream', '-o', 'out.wav'], { env: named(server.url) })).toMatchObject({
      status: 0,
    });
    expect(wholePcm(box.read('out.wav'))).toEqual(sound(1000));
  });

  it('is padded to an even length where the sound has an odd one', async () => {
    const mono8 = format({ bitsPerSample: 8 });
    const server = await serveBytes(complete(plainWav(sound(1001), undefined, mono8)));
    const box = new Sandbox();
    await box.run(['hi', '-o', 'out.wav'], { env: named(server.url) });
    expect(box.read('out.wav')).toHaveLength(44 + 1002);
    expect(wholePcm(box.read('out.wav'))).toEqual(sound(1001));
  });

  it.each([
    ['8 bits', format({ bitsPerSample: 8 }), 1001],
    ['24 bits', format({ bitsPerSample: 24 }), 1005],
  ])('has nothing after its samples in a pipe where its size is unknown: %s', async (_, odd, bytes) => {
    const server = await serveBytes(streamed(plainWav(sound(bytes), 0xffffffff, odd), 300));
    const box = new Sandbox();
    const run = await box.run(['hi', '--stream'], { env: named(server.url) });
    expect(run.stdout.subarray(44)).toEqual(sound(bytes));
    await box.shell('tts hi --stream >> all.wav', { env: named(server.url) });
    expect(box.read('all.wav').subarray(44)).toEqual(sound(bytes));
  });

  it('has exact sizes in a pipe where the service tells them, and 0xFFFFFFFF where not', async () => {
    const known = await serveBytes(complete(plainWav(pcm)));
    const exact = await new Sandbox().run(['hi'], { env: named(known.url) });
    expect(exact.stdout).toEqual(plainWav(pcm));
    const unknown = await serveBytes(streamed(plainWav(pcm, 0), 500));
    const open = await new Sandbox().run(['hi', '--stream'], { env: named(unknown.url) });
    expect(parseWav(open.stdout)).toMatchObject({ riffSize: 0xffffffff, dataSize: 0xffffffff, pcm });
  });

  it('leaves from the first byte that the service sends', async () => {
    const server = await serveBytes(async (wire) => {
      await wire.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const begin = plainWav(pcm.subarray(0, 640), 0xffffffff);
      await wire.write(
        Buffer.concat([Buffer.from(`${begin.length.toString(16)}\r\n`), begin, Buffer.from('\r\n')]),
      );
    });
    const { stdout, child } = new Sandbox().start(['hi', '--stream'], { env: named(server.url) });
    const got: Buffer[] = [];
    for await (const piece of stdout) {
      got.push(piece);
      if (Buffer.concat(got).length >= 44 + 640) break;
    }
    expect(Buffer.concat(got).subarray(44)).toEqual(pcm.subarray(0, 640));
    expect(child.exitCode).toBeNull();
  });
});
