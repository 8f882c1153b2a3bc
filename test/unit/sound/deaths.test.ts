import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isThere } from '../../support/programs.ts';
import { fakeFfmpeg, list, tone, write, writeInto } from './encoded.ts';

const ffmpeg = isThere('ffmpeg');

/** Each would leave a file that looks whole, or wait for ever. */
const deaths: readonly (readonly [how: string, script: string, words: string])[] = [
  [
    'ends with words',
    'head -c 9000 >/dev/null; echo "no room on the moon" >&2; exit 3',
    'no room on the moon',
  ],
  ['ends with 0 in the middle', 'head -c 9000 >/dev/null; exit 0', 'before'],
  ['takes all and makes nothing', 'cat >/dev/null; exit 0', 'before it was done'],
  ['is killed', 'head -c 9000 >/dev/null; kill -9 $$', 'SIGKILL'],
  ['hangs at the end', 'cat >/dev/null; exec sleep 30', 'did nothing for'],
  ['dies in the second pass', 'case "$*" in *"-c copy"*) exit 4;; esac; exec "$FFMPEG" "$@"', 'status 4'],
  [
    'finds no room for the end of its file, and ends with 0',
    'case "$*" in *"-c copy"*) "$FFMPEG" "$@"; echo "Error closing file x: No space left on device" >&2; exit 0;; esac; exec "$FFMPEG" "$@"',
    'No space left',
  ],
  [
    'writes a part of it in the second pass',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell reads it
    'case "$*" in *"-c copy"*) for last; do :; done; cat >/dev/null; printf x >"${last#file:}"; echo progress=end >&3; exit 0;; esac; exec "$FFMPEG" "$@"',
    'a part of the sound',
  ],
];

describe.skipIf(!ffmpeg)('a file by an ffmpeg that', () => {
  it.each(deaths)('%s is not there', async (_, script, words) => {
    const folder = emptyFolder();
    const path = fakeFfmpeg(script);
    // More than what pipes hold.
    const timeoutMs = words === 'did nothing for' ? 1500 : 20_000;
    const written = writeInto(folder, 'a.m4b', { pcm: tone(400_000) }, { path, timeoutMs });
    await expect(written).rejects.toMatchObject({
      exitCode: ExitCode.output,
      message: expect.stringMatching(`^ffmpeg failed: .*${words}`),
    });
    expect(list(folder)).toEqual([]);
    // The system takes a moment to end what was killed, and less than it takes to end by itself.
    await expect.poll(() => childrenNamed('sleep 30'), { timeout: 10_000 }).toBe(0);
  });

  it('takes only a part of a sound that pipes hold is not there', async () => {
    const folder = emptyFolder();
    const path = fakeFfmpeg(
      'head -c 100 >/dev/null; echo out_time_us=2000 >&3; echo progress=end >&3; exit 0',
    );
    const written = writeInto(folder, 'a.flac', { pcm: tone(20_000) }, { path });
    await expect(written).rejects.toMatchObject({ exitCode: ExitCode.output });
    expect(list(folder)).toEqual([]);
  });

  it('says much on stderr is whole', async () => {
    const path = fakeFfmpeg('head -c 10000000 /dev/zero | tr "\\0" x >&2; exec "$FFMPEG" "$@"');
    expect(list(await write('a.m4b', {}, { path }))).toEqual(['a.m4b']);
  });

  it('lacks the encoder is found out before there is sound', async () => {
    const folder = emptyFolder();
    const path = fakeFfmpeg('exit 1', `echo ' A..... aac  AAC'; exit 0`);
    await expect(writeInto(folder, 'a.opus', {}, { path })).rejects.toMatchObject({
      exitCode: ExitCode.output,
      message: expect.stringContaining('libopus'),
    });
  });
});

function childrenNamed(command: string): number {
  const all = execFileSync('ps', ['-o', 'args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.trim() === command).length;
}
