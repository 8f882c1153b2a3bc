import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openEventLog } from '../../../src/run/events.ts';
import { emptyFolder } from '../../support/folder.ts';

const { signal } = new AbortController();

test.each(['1', '999'])('Descriptor %s is refused, with what to do.', async (where) => {
  await expect(openEventLog(where, '/', signal)).rejects.toMatchObject({
    exitCode: 2,
    hint: expect.stringMatching(/\d>events\.jsonl/),
  });
});

test('A descriptor that can only be read is refused.', async () => {
  const fd = openSync('/dev/null', 'r');
  try {
    await expect(openEventLog(String(fd), '/', signal)).rejects.toMatchObject({ exitCode: 2 });
  } finally {
    closeSync(fd);
  }
});

test('A file that cannot be written is an error of the output.', async () => {
  await expect(openEventLog('no/such', emptyFolder(), signal)).rejects.toMatchObject({ exitCode: 8 });
});
