import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Script, serveBytes } from '../support/byte-server.ts';
import { head, httpChunk, streamed } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { named, node, program, Sandbox } from '../support/run.ts';
import { chunk, fmtChunk, plainWav, riff, sound } from '../unit/sound/wav-builder.ts';

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

/** Runs a line of bash; `kilobytes` is the largest resident set of any process in it. */
async function measured(box: Sandbox, line: string, env: Record<string, string>) {
  box.file('measure.py', MEASURE);
  const run = await box.shell(`python3 measure.py "$LINE"`, {
    env: { ...env, LINE: line },
    patience: 290_000,
  });
  return { run, kilobytes: Number(box.read('peak')) };
}

describe.runIf(isThere('python3'))('memory stays below its limit', () => {
  it('for 256 MiB that go into a file', async () => {
    const server = await serveBytes(large(256));
    const box = new Sandbox();
    const { run, kilobytes } = await measured(box, 'tts hi -o out.wav', named(server.url));
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(statSync(box.path('out.wav')).size).toBe(44 + 256 * MIB);
    expect(kilobytes).toBeGreaterThan(20_000);
    expect(kilobytes).toBeLessThan(LIMIT);
  });

  it('for 256 MiB that go to a reader who is slow', async () => {
    const server = await serveBytes(large(256));
    const box = new Sandbox();
    const reader = '(head -c 1000000 > part; sleep 1; cat part - | wc -c > count)';
    const { run, kilobytes } = await measured(box, `set -o pipefail; tts hi | ${reader}`, named(server.url));
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(box.read('count').toString().trim()).toBe(String(44 + 256 * MIB));
    expect(kilobytes).toBeLessThan(LIMIT);
  });
});

const slowReader = `| python3 -c 'import os,time
while b := os.read(0, 65536): time.sleep(len(b) / 40e6)'`;

describe.runIf(isThere('python3'))('memory stays below its limit, too', () => {
  it.each([
    [300, 'a file', '-o out.wav'],
    [16_384, 'a reader who is slow', slowReader],
  ])(
    'for 200 MiB in chunks of %i bytes that go to %s',
    async (bytes, _, to) => {
      const some = Buffer.concat(Array.from({ length: MIB / bytes }, () => httpChunk(sound(bytes))));
      const server = await serveBytes(async (wire) => {
        await wire.write(head(200, { 'Transfer-Encoding': 'chunked' }));
        await wire.write(httpChunk(plainWav(Buffer.alloc(0), 0xffffffff)));
        for (let sent = 0; sent < 200; sent++) await wire.write(some);
        await wire.write(httpChunk(''));
      });
      const box = new Sandbox();
      const { run, kilobytes } = await measured(
        box,
        `set -o pipefail; tts hi --stream ${to}`,
        named(server.url),
      );
      expect(run).toMatchObject({ status: 0, stderr: '' });
      expect(kilobytes).toBeLessThan(LIMIT);
    },
    60_000,
  );
});

describe('speed', () => {
  it('does not fall with the number of chunks: 50 MiB in pieces of 16 KiB', async () => {
    const server = await serveBytes(streamed(plainWav(Buffer.alloc(50 * MIB, 1)), 16_384));
    const box = new Sandbox();
    const begun = performance.now();
    const run = await box.tts(['hi', '--stream', '-o', 'out.wav'], { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(performance.now() - begun).toBeLessThan(60_000);
  });

  it('is not spent on optimising the HTTP parser for a short answer', async ({ skip }) => {
    const server = await serveBytes(streamed(plainWav(Buffer.alloc(MIB, 1)), 16_384));
    const box = new Sandbox();
    // V8 tells which WebAssembly functions it compiles, and by which compiler.
    const line = `'${node}' --trace-wasm-compilation-times '${program}' hi -o out.wav`;
    const run = await box.shell(line, { env: named(server.url) });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    const compiled = run.stdout.toString();
    if (!isNode20 || !compiled.includes('using Liftoff')) skip('only Node 20 needs it');
    expect(compiled).not.toContain('using TurboFan');
  });
});

describe.runIf(process.env.TTS_TEST_HUGE)('past 4 GiB', () => {
  it('a file is RF64, with the sizes in 64 bits', async () => {
    const server = await serveBytes(large(4100));
    const box = new Sandbox();
    const line =
      'tts hi -o out.wav && tts hi > direct.wav && cmp out.wav direct.wav && head -c 100 out.wav > head';
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
