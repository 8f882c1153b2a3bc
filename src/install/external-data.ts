import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { usageError } from '../error.ts';

/** The key `location` of an entry of `external_data`, as it stands in an ONNX file: the value follows. */
const LOCATION = Buffer.from('\x0a\x08location\x12', 'latin1');

/**
 * A model may name other files that hold its numbers. A stranger's could name any file of this machine.
 * @throws TtsError (usage)
 */
export async function assertSelfContained(model: string): Promise<void> {
  let held = Buffer.alloc(0);
  for await (const piece of createReadStream(model, { highWaterMark: 1 << 20 })) {
    const bytes = Buffer.concat([held, piece as Buffer]);
    if (bytes.includes(LOCATION))
      throw usageError(
        `${basename(model)} is refused: it names other files that hold a part of it`,
        'use a model in one file',
      );
    held = bytes.subarray(Math.max(0, bytes.length - LOCATION.length + 1));
  }
}
