import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { serveBytes } from '../support/byte-server.ts';
import { complete, streamed } from '../support/http-bytes.ts';
import { isThere } from '../support/programs.ts';
import { named, Sandbox } from '../support/run.ts';
import { plainWav } from '../unit/sound/wav-builder.ts';

/** One second of a tone, so that all programs have something to read. */
const tone = Buffer.alloc(44_100);
for (let at = 0; at < 22_050; at += 1) tone.writeInt16LE(Math.round(8000 * Math.sin(at / 8)), at * 2);

/** How long a file is, in seconds, says a program. */
const durations: readonly (readonly [string, (path: string) => string])[] = [
  [
    'ffprobe',
    (path) =>
      execFileSync('ffprobe', [
        '-v',
        'error',
        '-show_entries',
        'format=duration',
        '-of',
        'csv=p=0',
        path,
      ]).toString(),
  ],
  ['soxi', (path) => execFileSync('soxi', ['-D', path]).toString()],
  [
    'python3',
    (path) =>
      execFileSync('python3', [
        '-c',
        'import sys, wave\nw = wave.open(sys.argv[1])\nprint(w.getnframes() / w.getframerate())',
        path,
      ]).toString(),
  ],
];

/** Commands that read a WAV from a pipe without sound. */
const pipes: readonly (readonly [string, string])[] = [
  ['ffmpeg', 'ffmpeg -v error -i - -f null -'],
  ['sox', 'sox -V1 -t wav - -n'],
  ['aplay', 'aplay -q -D null -'],
];

describe.each(durations)('%s', (program, durationOf) => {
  it.runIf(isThere(program))('reads every file for as long as it is', async () => {
    const whole = await serveBytes(complete(plainWav(tone)));
    const open = await serveBytes(streamed(plainWav(tone, 0xffffffff), 4000));
    const box = new Sandbox();
    await box.run(['hi', '-o', 'whole.wav'], { env: named(whole.url) });
    await box.run(['hi', '--stream', '-o', 'open.wav'], { env: named(open.url) });
    await box.shell('tts hi --stream > redirected.wav', { env: named(open.url) });
    await box.run(['hello', '-s', '3', '-q', '-o', 'built-in.wav']);
    for (const name of ['whole.wav', 'open.wav', 'redirected.wav'])
      expect(Number(durationOf(box.path(name)))).toBeCloseTo(1, 3);
    const samples = (box.read('built-in.wav').length - 44) / 2;
    expect(Number(durationOf(box.path('built-in.wav')))).toBeCloseTo(samples / 22_050, 3);
  });
});

describe.each(pipes)('%s', (program, command) => {
  it.runIf(isThere(program))('reads every pipe to its end', async () => {
    const whole = await serveBytes(complete(plainWav(tone)));
    const open = await serveBytes(streamed(plainWav(tone, 0), 4000));
    const line = (words: string) => `set -o pipefail; tts ${words} | ${command}`;
    expect(await new Sandbox().shell(line('hi'), { env: named(whole.url) })).toMatchObject({ status: 0 });
    expect(await new Sandbox().shell(line('hi --stream'), { env: named(open.url) })).toMatchObject({
      status: 0,
    });
    expect(await new Sandbox().shell(line('-q --stream hello'))).toMatchObject({ status: 0 });
  });
});

it.runIf(isThere('sox'))(
  'sox finds out by itself that a WAV comes, where it is not made meanwhile.',
  async () => {
    const { url } = await serveBytes(complete(plainWav(tone)));
    for (let run = 0; run < 2; run += 1)
      expect(
        await new Sandbox().shell('set -o pipefail; tts hi | sox -V1 - -n', { env: named(url) }),
      ).toMatchObject({ status: 0 });
  },
);
