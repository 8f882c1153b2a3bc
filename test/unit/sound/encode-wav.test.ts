import { execFile } from 'node:child_process';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { type FileHandle, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  headerBytes,
  padding,
  RF64_EXTRA_BYTES,
  shiftRight,
  wav,
  wavHeader,
} from '../../../src/sound/encode/wav.ts';
import { frameBytes, type PcmFormat, untagged } from '../../../src/sound/pcm.ts';
import { readWav } from '../../../src/sound/wav.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isThere } from '../../support/programs.ts';
import { inPieces } from './body.ts';
import { plainWav, sound, speechFormat } from './wav-builder.ts';

const { signal } = new AbortController();
const run = promisify(execFile);
const float: PcmFormat = { ...speechFormat, encoding: 'float', bitsPerSample: 32 };
const formats: readonly PcmFormat[] = [
  ...[8, 16, 24, 32].flatMap((bitsPerSample) =>
    [1, 2].map((channels) => ({ ...speechFormat, channels, bitsPerSample })),
  ),
  float,
  { ...float, channels: 2 },
];

const ffprobe = isThere('ffprobe');

describe('wavHeader', () => {
  it('writes the canonical 44 bytes for integers', () => {
    const pcm = sound(1000);
    expect(Buffer.concat([wavHeader(speechFormat, 1000), pcm]).equals(plainWav(pcm))).toBe(true);
  });

  it('writes 0xFFFFFFFF for both sizes while they are not known', () => {
    const header = Buffer.from(wavHeader(speechFormat, undefined));
    expect(header.length).toBe(44);
    expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([0xffff_ffff, 0xffff_ffff]);
  });

  it('writes 58 bytes with the number of frames for floats', () => {
    const header = Buffer.from(wavHeader({ ...float, channels: 2 }, 8000));
    expect([header.length, header.readUInt32LE(4), header.readUInt32LE(16)]).toEqual([58, 8050, 18]);
    expect([header.toString('latin1', 38, 42), header.readUInt32LE(46)]).toEqual(['fact', 1000]);
    expect(Buffer.from(wavHeader(float, undefined)).readUInt32LE(46)).toBe(0xffff_ffff);
  });

  it('counts the padding in the RIFF size only', () => {
    const header = Buffer.from(wavHeader({ ...speechFormat, bitsPerSample: 8 }, 999));
    expect([padding(999), padding(1000), padding(undefined)]).toEqual([1, 0, 0]);
    expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([36 + 1000, 999]);
  });

  it('becomes RF64, longer by a known number of bytes, where 32 bits are not enough', () => {
    const most = 0xffff_fffe - 36;
    expect(headerBytes(speechFormat, most)).toBe(44);
    expect(headerBytes(speechFormat, most + 2)).toBe(44 + RF64_EXTRA_BYTES);
    const header = Buffer.from(wavHeader(speechFormat, 5e9));
    expect(header.toString('latin1', 0, 4) + header.toString('latin1', 8, 16)).toBe('RF64WAVEds64');
    expect([20, 28, 36].map((at) => header.readBigUInt64LE(at))).toEqual([
      5_000_000_072n,
      5_000_000_000n,
      2_500_000_000n,
    ]);
    expect([header.readUInt32LE(4), header.readUInt32LE(header.length - 4)]).toEqual([
      0xffff_ffff, 0xffff_ffff,
    ]);
  });

  it.each(formats)(
    'tells its own length, and is read back, for $bitsPerSample-bit $encoding, $channels channels',
    async (format) => {
      for (const bytes of [undefined, 0, frameBytes(format) * 1000, frameBytes(format) * 2.5e9]) {
        const header = wavHeader(format, bytes);
        expect(header.length).toBe(headerBytes(format, bytes));
        const speech = await readWav(inPieces(header), { bodyBytes: header.length + (bytes ?? 0) });
        expect([speech.format, speech.bytes]).toEqual([format, bytes || undefined]);
      }
    },
  );
});

describe('ffprobe reads what wavHeader wrote', () => {
  async function written(format: PcmFormat, frames: number): Promise<string> {
    const pcm = sound(frames * frameBytes(format));
    const file = join(emptyFolder(), 'sound.wav');
    await writeFile(
      file,
      Buffer.concat([wavHeader(format, pcm.length), pcm, Buffer.alloc(padding(pcm.length))]),
    );
    return file;
  }

  const kinds = [speechFormat, { ...speechFormat, channels: 2, bitsPerSample: 24 }];

  it.for([...kinds, float])(
    'ffprobe, $bitsPerSample-bit $encoding, $channels channels',
    async (format, { skip }) => {
      skip(!ffprobe, 'no ffprobe here');
      const shown = ['-show_entries', 'stream=sample_rate,channels,duration_ts', '-of', 'csv=p=0'];
      const args = ['-v', 'warning', ...shown, await written(format, 4411)];
      const { stdout, stderr } = await run('ffprobe', args);
      expect([stdout.trim(), stderr]).toEqual([`22050,${format.channels},4411`, '']);
    },
  );

  it('ffprobe, RF64 of 5 GB (a file with a hole)', async ({ skip }) => {
    skip(!ffprobe, 'no ffprobe here');
    const file = join(emptyFolder(), 'large.wav');
    const handle = await open(file, 'w');
    await handle.write(wavHeader(speechFormat, 5e9));
    await handle.truncate(headerBytes(speechFormat, 5e9) + 5e9);
    await handle.close();
    const args = ['-v', 'warning', '-show_entries', 'stream=duration_ts', '-of', 'csv=p=0', file];
    expect(await run('ffprobe', args)).toEqual({ stdout: '2500000000\n', stderr: '' });
  });
});

/** A file that is open for writing. */
function file() {
  const path = join(emptyFolder(), 'out');
  const fd = openSync(path, 'wx+');
  onTestFinished(() => closeSync(fd));
  return { fd, path, name: 'out' };
}

function read(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, 0));
}

describe('a recording', () => {
  it('has exact sizes at the end, after what the file holds already, whatever was known before', async () => {
    const pcm = sound(1001);
    for (const bytes of [undefined, 1001]) {
      const out = file();
      writeSync(out.fd, 'before');
      const track = untagged({ format: speechFormat, bytes, pcm: inPieces(pcm, 400) });
      const written = await wav.record({ ...out, start: 6 }, track, signal);
      expect(written).toEqual({ bytes: 1001, writtenBytes: 1046 });
      expect(read(out.fd, 2000)).toEqual(Buffer.concat([Buffer.from('before'), plainWav(pcm)]));
    }
  });

  it('that cannot be put right later says at its beginning what is known by then', async () => {
    const pcm = sound(1000);
    for (const bytes of [undefined, 1000]) {
      const out = file();
      const track = untagged({ format: speechFormat, bytes, pcm: inPieces(pcm, 400) });
      await wav.record({ ...out, start: undefined }, track, signal);
      expect(read(out.fd, 2000)).toEqual(Buffer.concat([wavHeader(speechFormat, bytes), pcm]));
    }
  });
});

const MiB = 1024 * 1024;

describe('shiftRight', () => {
  let path: string;
  let file: FileHandle;

  beforeEach(async () => {
    path = join(emptyFolder(), 'wav');
    file = await open(path, 'wx+');
  });
  afterEach(() => file.close());

  it.each([
    ['nothing', 44, 36],
    ['several blocks', 44 + MiB + 17, 36],
    ['blocks by more than their own length', 44 + 2 * MiB + 1, 2 * MiB + 5],
  ])('moves %s', async (_, length, by) => {
    const before = sound(length);
    await file.write(before, 0, length, 0);
    await shiftRight(file, 44, by);
    const after = await readFile(path);
    expect(after.subarray(0, 44).equals(before.subarray(0, 44))).toBe(true);
    expect(after.subarray(44 + by).equals(before.subarray(44))).toBe(true);
  });

  it('stops when it is told to', async () => {
    await file.write(sound(1000), 0, 1000, 0);
    await expect(shiftRight(file, 44, 36, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
    expect((await file.stat()).size).toBe(1000);
  });
});
