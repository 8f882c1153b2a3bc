import { execFile } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { headerBytes, padding, RF64_EXTRA_BYTES, wavHeader } from '../../../src/sound/encode/wav.ts';
import { frameBytes, type PcmFormat } from '../../../src/sound/pcm.ts';
import { readWav } from '../../../src/sound/wav.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isThere } from '../../support/programs.ts';
import { inPieces } from './body.ts';
import { plainWav, sound, speechFormat } from './wav-builder.ts';

const run = promisify(execFile);
const float: PcmFormat = { ...speechFormat, encoding: 'float', bitsPerSample: 32 };
const formats: readonly PcmFormat[] = [
  ...[8, 16, 24, 32].flatMap((bitsPerSample) =>
    [1, 2].map((channels) => ({ ...speechFormat, channels, bitsPerSample })),
  ),
  float,
  { ...float, channels: 2 },
];

const python = isThere('python3');
const ffprobe = isThere('ffprobe');
const sox = isThere('sox');

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

describe('other programs read what wavHeader wrote', () => {
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

  it.for(kinds)("Python's wave, $bitsPerSample bits, $channels channels", async (format, { skip }) => {
    skip(!python, 'no python3 here');
    const script = 'import sys, wave; print(*wave.open(sys.argv[1]).getparams()[:4])';
    const { stdout } = await run('python3', ['-c', script, await written(format, 4411)]);
    expect(stdout.trim()).toBe(`${format.channels} ${format.bitsPerSample / 8} 22050 4411`);
  });

  it.for([...kinds, float])(
    'ffprobe, $bitsPerSample-bit $encoding, $channels channels',
    async (format, { skip }) => {
      skip(!ffprobe, 'no ffprobe here');
      const args = [
        '-v',
        'warning',
        '-show_entries',
        'stream=sample_rate,channels,duration_ts',
        '-of',
        'csv=p=0',
      ];
      const { stdout, stderr } = await run('ffprobe', [...args, await written(format, 4411)]);
      expect([stdout.trim(), stderr]).toEqual([`22050,${format.channels},4411`, '']);
    },
  );

  it.for([...kinds, float])(
    'sox, $bitsPerSample-bit $encoding, $channels channels',
    async (format, { skip }) => {
      skip(!sox, 'no sox here');
      const { stdout, stderr } = await run('sox', ['--info', '-s', await written(format, 4411)]);
      expect([stdout.trim(), stderr]).toEqual(['4411', '']);
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
