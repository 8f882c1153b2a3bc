import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { makePipe } from '../../../src/out/player.ts';
import { isThere } from '../../support/programs.ts';

/** Reads what was written until then, and opens the pipe once more by its name. */
const READS_TWICE = 'cat; echo again; cat < /dev/stdin; echo woken';

it.runIf(isThere('mkfifo'))(
  'A reader that opens the pipe once more is woken, and none is needed for that (skipped without mkfifo).',
  async () => {
    const { read, write, wake, remove } = await makePipe();
    const reader = spawn('sh', ['-c', READS_TWICE], {
      stdio: [read, 'pipe', 'inherit'],
    }) as ChildProcessByStdio<null, Readable, null>;
    onTestFinished(() => void reader.kill('SIGKILL'));
    let said = '';
    reader.stdout.on('data', (piece) => {
      said += piece;
    });
    closeSync(read);
    closeSync(write);
    await expect.poll(() => said).toBe('again\n');
    await expect
      .poll(() => {
        wake();
        return said;
      })
      .toBe('again\nwoken\n');
    expect(wake).not.toThrow();
    remove();
    expect(wake).not.toThrow();
  },
);
