import { execFileSync } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { deviceSink, pipeSink } from '../../../src/sink/stream.ts';
import { speechFormat } from '../audio/wav-builder.ts';

/** The end of a pipe to write to, with somebody at the other one. */
function pipe(): number {
  const folder = mkdtempSync(join(tmpdir(), 'tts-stream-'));
  const path = join(folder, 'fifo');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => {
    closeSync(reader);
    rmSync(folder, { recursive: true });
  });
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
    const sink = create(fd, 'it');
    await sink.discard();
    expect(() => fstatSync(fd)).toThrow('EBADF');
    const other = openSync('/dev/null', 'r');
    onTestFinished(() => closeSync(other));
    await sink.discard();
    expect(fstatSync(other).isCharacterDevice()).toBe(true);
  });

  it('is closed when it is written, and is not closed again', async () => {
    const { create, fd } = open();
    const sink = create(fd, 'it');
    await sink.write({ format: speechFormat, bytes: 4, pcm: samples() }, new AbortController().signal);
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
