import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assertSelfContained } from '../../../src/voices/install/from.ts';
import { emptyFolder } from '../../support/folder.ts';

/** The middle of the entry lies at the border of two pieces that are read. */
const PIECE = 2 ** 20;

describe('a model of a stranger', () => {
  it.each([0, 100, PIECE - 5])('that names another file is refused: at byte %i', async (at) => {
    const file = join(emptyFolder(), 'a.onnx');
    const entry = Buffer.from('\x0a\x08location\x12\x0b/etc/passwd', 'latin1');
    writeFileSync(file, Buffer.concat([Buffer.alloc(at), entry, Buffer.alloc(PIECE)]));
    await expect(assertSelfContained(file)).rejects.toThrow('a.onnx is refused: it names other files');
  });

  it('that holds all of itself is not', async () => {
    const file = join(emptyFolder(), 'a.onnx');
    writeFileSync(file, 'the location of a voice');
    await expect(assertSelfContained(file)).resolves.toBeUndefined();
  });
});
