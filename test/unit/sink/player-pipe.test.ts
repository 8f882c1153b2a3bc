import { closeSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makePipe } from '../../../src/sink/player-pipe.ts';
import { isThere } from '../../support/programs.ts';

it.runIf(isThere('mkfifo'))(
  'A reader is woken without harm, also when the pipe is gone (skipped without mkfifo).',
  async () => {
    const { read, write, wake, remove } = await makePipe();
    expect(wake).not.toThrow();
    remove();
    expect(wake).not.toThrow();
    for (const end of [read, write]) closeSync(end);
  },
);
