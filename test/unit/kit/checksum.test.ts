import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checksumOf } from '../../../src/kit/checksum.ts';
import { emptyFolder } from '../../support/folder.ts';

const MIB = 2 ** 20;

it.each([0, 1, 4 * MIB, 4 * MIB + 1, 5 * MIB, 6.5 * MIB])(
  'The checksum of %d bytes is right.',
  async (length) => {
    const bytes = Buffer.from(Uint32Array.from({ length: Math.ceil(length / 4) }, (_, at) => at).buffer);
    const path = join(emptyFolder(), 'a');
    writeFileSync(path, bytes.subarray(0, length));
    for (const algorithm of ['sha256', 'md5'] as const) {
      const right = createHash(algorithm).update(bytes.subarray(0, length)).digest('hex');
      expect(await checksumOf(path, { algorithm })).toBe(right);
    }
  },
);

it('The checksum of a large file is given up when the signal aborts.', async () => {
  const path = join(emptyFolder(), 'a');
  writeFileSync(path, Buffer.alloc(5 * MIB));
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(checksumOf(path, { signal })).rejects.toThrow('enough');
});
