import { execFileSync } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deviceSink, noProgress, pipeSink, writeTrack } from '../../../src/out/pipe.ts';
import { wav } from '../../../src/sound/encode/wav.ts';
import { untagged } from '../../../src/sound/pcm.ts';
import { emptyFolder } from '../../support/folder.ts';
import { speechFormat } from '../sound/wav-builder.ts';

/** The end of a pipe to write to, with somebody at the other one. */
function pipe(): number {
  const path = join(emptyFolder(), 'fifo');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
}

async function* samples() {
  yield new Uint8Array(4);
}

describe.each([
  ['a pipe', () => ({ create: pipeSink, fd: pipe() })],
  ['a device', () => ({ create: deviceSink, fd: openSync('/dev/null', 'w') })],
] as const)('%s', (_, open) => {
  it('is closed when it is discarded, and only once', async () => {
    const { create, fd } = open();
    const sink = create(fd, 'it', wav);
    await sink.discard();
    expect(() => fstatSync(fd)).toThrow('EBADF');
    const other = openSync('/dev/null', 'r');
    onTestFinished(() => closeSync(other));
    await sink.discard();
    expect(fstatSync(other).isCharacterDevice()).toBe(true);
  });

  it('is closed when it is written, and is not closed again', async () => {
    const { create, fd } = open();
    const sink = create(fd, 'it', wav);
    await sink.write(
      untagged({ format: speechFormat, bytes: 4, pcm: samples() }),
      new AbortController().signal,
    );
    await expect.poll(() => isOpen(fd)).toBe(false);
    const other = openSync('/dev/null', 'r');
    onTestFinished(() => closeSync(other));
    await sink.discard();
    expect(isOpen(other)).toBe(true);
  });
});

function isOpen(fd: number): boolean {
  try {
    return fstatSync(fd).mode > 0;
  } catch {
    return false;
  }
}

it.each([
  ['comes in one piece with sound that is there at once', [600, 2], 0, [644, 2]],
  ['does not wait for sound that is not', [600, 2], 50, [44, 600, 2]],
  ['comes alone where there is none', [], 0, [44]],
  ['comes alone where there is none, which takes a while to tell', [], 50, [44]],
])('A header %s.', async (_, pieces, milliseconds, expected) => {
  const pcm = async function* () {
    if (milliseconds > 0) await sleep(milliseconds);
    for (const length of pieces) yield new Uint8Array(length);
  };
  const written: number[] = [];
  const reader = new Writable({
    write(piece, _encoding, done) {
      written.push(piece.length);
      done();
    },
  });
  const { signal } = new AbortController();
  const pouring = { name: 'it', encoding: wav, signal, progress: noProgress() };
  await writeTrack(untagged({ format: speechFormat, bytes: undefined, pcm: pcm() }), reader, pouring);
  expect(written).toEqual(expected);
});
