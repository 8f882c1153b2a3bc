import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import { processHost } from '../../../src/kit/host.ts';
import { checkSink, openSink } from '../../../src/out/open.ts';
import { wav } from '../../../src/sound/encode/wav.ts';
import { emptyFolder } from '../../support/folder.ts';

/** A folder with all kinds of things in it. */
function setUp() {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(join(cwd, 'file'), 'old');
  symlinkSync('file', join(cwd, 'link'));
  symlinkSync('folder/new', join(cwd, 'link-to-nothing'));
  symlinkSync('none/new', join(cwd, 'link-to-nowhere'));
  symlinkSync('circle', join(cwd, 'circle'));
  symlinkSync('/dev/null', join(cwd, 'null'));
  return { ...processHost(process), cwd };
}

const { signal } = new AbortController();

/** What it comes to, in words. */
async function outcome(open: () => Promise<boolean>): Promise<string> {
  try {
    return (await open()) ? 'live' : 'a file';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('a look at an output finds what opening it does, and leaves everything as it is', () => {
  it.each([
    ['file', true, 'a file'],
    ['file', false, 'file exists'],
    ['new', false, 'a file'],
    ['folder/new', true, 'a file'],
    ['link', true, 'a file'],
    ['link', false, 'link exists'],
    ['link-to-nothing', true, 'a file'],
    ['null', true, 'live'],
    ['/dev/full', true, 'live'],
    ['folder', true, 'cannot write folder: it is a folder'],
    ['new/', true, 'cannot write new/: it is a folder'],
    ['none/new', true, 'cannot write none/new: the folder does not exist'],
    ['link-to-nowhere', true, 'cannot write link-to-nowhere: the folder does not exist'],
    ['file/new', true, 'cannot write file/new: a part of its path is not a folder'],
    ['circle', true, 'cannot write circle: its symbolic links form a loop'],
    ['x'.repeat(256), true, `cannot write ${'x'.repeat(256)}: the name is too long`],
  ])('%s (may be replaced: %s): %s', async (output, clobber, found) => {
    const host = setUp();
    const before = readdirSync(host.cwd, { recursive: true });
    expect(await outcome(() => checkSink({ output, clobber }, host))).toBe(found);
    expect(readdirSync(host.cwd, { recursive: true })).toEqual(before);
    const opened = async () => {
      const sink = await openSink({ output, clobber, encoding: wav }, host, signal);
      await sink.discard();
      return sink.isLive;
    };
    expect(await outcome(opened)).toBe(found);
    expect(readdirSync(host.cwd, { recursive: true })).toEqual(before);
  });

  it('waits for no reader of a pipe', async () => {
    const host = setUp();
    execFileSync('mkfifo', [join(host.cwd, 'fifo')]);
    expect(await checkSink({ output: 'fifo', clobber: true }, host)).toBe(true);
  });
});

describe('an encoding that needs a file', () => {
  const { stream: _, ...encoding } = { ...wav, name: 'm4b' };

  it.each(['fifo', 'null'])(
    'is refused where there is none, before a reader is waited for: %s',
    async (output) => {
      const host = setUp();
      execFileSync('mkfifo', [join(host.cwd, 'fifo')]);
      await expect(openSink({ output, clobber: true, encoding }, host, signal)).rejects.toMatchObject({
        exitCode: ExitCode.usage,
        message: `${output} is not a file, and m4b can only be written to a file`,
      });
    },
  );

  it('is taken for a new file', async () => {
    const sink = await openSink({ output: 'new', clobber: true, encoding }, setUp(), signal);
    await sink.discard();
    expect(sink.isLive).toBe(false);
  });
});
