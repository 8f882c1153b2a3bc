import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PcmFormat } from '../../src/sound/pcm.ts';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { complete, head, httpChunk, streamed } from '../support/http-bytes.ts';
import { machineWith } from '../support/machine.ts';
import { isThere } from '../support/programs.ts';
import { parseWav, wholePcm } from '../support/read-wav.ts';
import { named, node, Sandbox } from '../support/run.ts';
import { chunk, fmtChunk, plainWav, riff, sound, speechFormat } from '../unit/sound/wav-builder.ts';

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

  it.each(variations)('is the same whatever the service sent: %s', async (_, wav) => {
    const box = new Sandbox();
    const whole = await serveBytes(complete(wav));
    const pieces = await serveBytes(streamed(wav, 777));
    const runs = [
      await box.run('hi -o complete.wav', { env: named(whole.url) }),
      await box.run('hi -o streamed.wav --stream', { env: named(pieces.url) }),
      await box.run('hi --stream', { env: named(pieces.url) }),
      await box.run('hi', { env: named(whole.url) }),
    ];
    expect(runs.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      runs.map(() => ({ status: 0, stderr: '' })),
    );
    const expected = plainWav(pcm);
    expect(box.read('complete.wav')).toEqual(expected);
    expect(box.read('streamed.wav')).toEqual(expected);
    for (const { stdout } of runs.slice(2)) {
      const piped = parseWav(stdout);
      expect(piped.pcm).toEqual(pcm);
      expect([0xffffffff, pcm.length]).toContain(piped.dataSize);
    }
  });

  it.each(formats)('keeps the format of the service: %o', async (expected) => {
    const server = await serveBytes(complete(plainWav(pcm, undefined, expected)));
    const box = new Sandbox();
    const run = await box.run('hi -o out.wav -r 16000', { env: named(server.url) });
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

  it('keeps samples aligned where a stream without a size ends within a frame', async () => {
    const server = await serveBytes(streamed(plainWav(sound(1001), 0xffffffff), 333));
    const box = new Sandbox();
    expect(await box.run('hi --stream -o out.wav', { env: named(server.url) })).toMatchObject({
      status: 0,
    });
    expect(wholePcm(box.read('out.wav'))).toEqual(sound(1000));
  });

  it('has exact sizes in a pipe where the service tells them, and 0xFFFFFFFF where not', async () => {
    const known = await serveBytes(complete(plainWav(pcm)));
    const exact = await new Sandbox().run('hi', { env: named(known.url) });
    expect(exact.stdout).toEqual(plainWav(pcm));
    const unknown = await serveBytes(streamed(plainWav(pcm, 0), 500));
    const open = await new Sandbox().run('hi --stream', { env: named(unknown.url) });
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
    const { stdout, child } = new Sandbox().start('hi --stream', { env: named(server.url) });
    const got: Buffer[] = [];
    for await (const piece of stdout) {
      got.push(piece);
      if (Buffer.concat(got).length >= 44 + 640) break;
    }
    expect(Buffer.concat(got).subarray(44)).toEqual(pcm.subarray(0, 640));
    expect(child.exitCode).toBeNull();
  });
});

/** One second of a tone, so that all programs have something to read. */
const tone = Buffer.alloc(44_100);
for (let at = 0; at < 22_050; at += 1) tone.writeInt16LE(Math.round(8000 * Math.sin(at / 8)), at * 2);

/** How long a file is, in seconds, says a program. */
const durations: readonly (readonly [string, (path: string) => string])[] = [
  [
    'ffprobe',
    (path) => said('ffprobe', '-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', path),
  ],
  ['soxi', (path) => said('soxi', '-D', path)],
  ['python3', (path) => said('python3', '-c', FRAMES_BY_RATE, path)],
];
const FRAMES_BY_RATE =
  'import sys, wave; w = wave.open(sys.argv[1]); print(w.getnframes() / w.getframerate())';
const said = (program: string, ...args: string[]) => execFileSync(program, args).toString();

/** Commands that read a WAV from a pipe without sound. */
const pipes: readonly (readonly [string, string])[] = [
  ['ffmpeg', 'ffmpeg -v error -i - -f null -'],
  ['sox', 'sox -V1 -t wav - -n'],
  ['aplay', 'aplay -q -D null -'],
];

it('Programs read every file for as long as it is.', async ({ skip }) => {
  const programs = durations.filter(([program]) => isThere(program));
  skip(programs.length === 0, 'no program that reads sound is there');
  const whole = await machineWith(complete(plainWav(tone)));
  const open = await machineWith(streamed(plainWav(tone, 0xffffffff), 4000));
  await whole.run('hi -o whole.wav');
  await open.run('hi --stream -o open.wav');
  await open.shell('tts hi --stream > redirected.wav');
  const paths = [
    whole.box.path('whole.wav'),
    ...['open.wav', 'redirected.wav'].map((name) => open.box.path(name)),
  ];
  for (const [program, durationOf] of programs)
    for (const path of paths) expect(Number(durationOf(path)), `${program} ${path}`).toBeCloseTo(1, 3);
});

it.each(pipes.filter(([program]) => isThere(program)))(
  '%s reads every pipe to its end.',
  async (_, command) => {
    const whole = await machineWith(complete(plainWav(tone)));
    const open = await machineWith(streamed(plainWav(tone, 0), 4000));
    const line = (words: string) => `set -o pipefail; tts ${words} | ${command}`;
    expect(await whole.shell(line('hi'))).toMatchObject({ status: 0 });
    expect(await open.shell(line('hi --stream'))).toMatchObject({ status: 0 });
    expect(await new Sandbox().shell(line('-q --stream hello'))).toMatchObject({ status: 0 });
  },
);

const MIB = 2 ** 20;
const isNode20 = execFileSync(node, ['--version']).toString().startsWith('v20.');
/** KiB: 140 MB on Node 20, 170 MB on newer ones. */
const LIMIT = isNode20 ? 136_000 : 166_000;
const block = sound(MIB);

/** A body of this many MiB, whose size both the WAV and the answer tell, if 32 bits can. */
function large(mebibytes: number): Script {
  return async (wire) => {
    const bytes = mebibytes * MIB;
    const data = chunk('data', Buffer.alloc(0), { size: Math.min(bytes, 0xffffffff) });
    const header = riff([fmtChunk, data], 'RIFF', 0xffffffff);
    await wire.write(head(200, { 'Content-Length': header.length + bytes }));
    await wire.write(header);
    for (let sent = 0; sent < mebibytes; sent += 1) await wire.write(block);
  };
}

const MEASURE = [
  'import resource, subprocess, sys',
  "status = subprocess.run(['bash', '-c', sys.argv[1]]).returncode",
  "open('peak', 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))",
  'sys.exit(status)',
].join('\n');

/**
 * Runs a line of bash; `kilobytes` is the largest resident set of any process in it. On a busy machine the garbage collector comes
 * later in some runs: a run that took too much is made again, twice at most.
 */
async function measured(box: Sandbox, line: string, env: Record<string, string>) {
  box.file('measure.py', MEASURE);
  const once = async () => {
    const options = { env: { ...env, LINE: line }, patience: 290_000 };
    const run = await box.shell(`python3 measure.py "$LINE"`, options);
    return { run, kilobytes: Number(box.read('peak')) };
  };
  let measure = await once();
  for (let tries = 0; tries < 2 && measure.run.status === 0 && measure.kilobytes >= LIMIT; tries += 1)
    measure = await once();
  return measure;
}

describe.runIf(isThere('python3'))('memory stays below its limit', () => {
  it('for 200 MiB that go into a file', async () => {
    const server = await serveBytes(large(200));
    const box = new Sandbox();
    const { run, kilobytes } = await measured(box, 'tts hi -o out.wav', named(server.url));
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(statSync(box.path('out.wav')).size).toBe(44 + 200 * MIB);
    expect(kilobytes).toBeGreaterThan(20_000);
    expect(kilobytes).toBeLessThan(LIMIT);
  });

  it('for 200 MiB that go to a reader who is slow', async () => {
    const server = await serveBytes(large(200));
    const box = new Sandbox();
    const reader = '(head -c 1000000 > part; sleep 1; cat part - | wc -c > count)';
    const { run, kilobytes } = await measured(box, `set -o pipefail; tts hi | ${reader}`, named(server.url));
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('count').toString().trim()).toBe(String(44 + 200 * MIB));
    expect(kilobytes).toBeLessThan(LIMIT);
  });
});

describe.runIf(isThere('python3'))('memory stays below its limit, too', () => {
  it('for 30 MiB in small chunks', async () => {
    const some = Buffer.concat(Array.from({ length: MIB / 300 }, () => httpChunk(sound(300))));
    const server = await serveBytes(async (wire) => {
      await wire.write(head(200, { 'Transfer-Encoding': 'chunked' }));
      await wire.write(httpChunk(plainWav(Buffer.alloc(0), 0xffffffff)));
      for (let sent = 0; sent < 30; sent++) await wire.write(some);
      await wire.write(httpChunk(''));
    });
    const { run, kilobytes } = await measured(new Sandbox(), 'tts hi --stream -o out.wav', named(server.url));
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(kilobytes).toBeLessThan(LIMIT);
  }, 60_000);
});

describe.runIf(process.env.TTS_TEST_HUGE)('past 4 GiB', () => {
  it('a file is RF64, with the sizes in 64 bits', async () => {
    const server = await serveBytes(large(4100));
    const box = new Sandbox();
    // A text that may sound as long, with figures, so that it is not compared with its sound.
    box.file('long.txt', 'one 1 '.repeat(17_000));
    const speak = 'tts -f long.txt --max-chars 110000';
    const line = `${speak} -o out.wav && ${speak} > direct.wav && cmp out.wav direct.wav && head -c 100 out.wav > head`;
    const { run, kilobytes } = await measured(box, line, named(server.url));
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const header = box.read('head');
    expect(header.toString('latin1', 0, 4)).toBe('RF64');
    expect(header.toString('latin1', 12, 16)).toBe('ds64');
    expect(header.readBigUInt64LE(20)).toBe(BigInt(statSync(box.path('out.wav')).size - 8));
    expect(header.readBigUInt64LE(28)).toBe(BigInt(4100 * MIB));
    expect(kilobytes).toBeLessThan(LIMIT);
  }, 300_000);
});
