import { AtomicFile } from '../files/atomic-file.ts';
import { FileWriter } from '../files/batch-writer.ts';
import type { Writer } from '../files/part-name.ts';
import { unwritable } from '../files/writable.ts';
import { checkFile, lookAt } from '../sink/open.ts';

interface TextFile {
  readonly path: string;
  /** For messages. */
  readonly name: string;
  readonly writer: Writer;
}

/**
 * Appears in one step.
 * @throws TtsError (output)
 */
export async function writeText(
  { path, name, writer }: TextFile,
  pieces: Iterable<string> | AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const part = openPart({ path, name, writer });
  try {
    const file = new FileWriter(part.fd, name);
    for await (const piece of pieces) file.write(Buffer.from(piece));
    file.flush();
    await part.publish(signal);
  } finally {
    part.discard();
  }
}

/**
 * Tests what can be known before.
 * @throws TtsError (output)
 */
export function assertTextWritable(file: TextFile): void {
  const { name } = file;
  try {
    checkFile({ ...file, old: lookAt(file.path, name), clobber: true });
  } catch (error) {
    throw unwritable(name, error);
  }
}

function openPart(file: TextFile): AtomicFile {
  try {
    return AtomicFile.forOutput({ ...file, old: lookAt(file.path, file.name), clobber: true });
  } catch (error) {
    throw unwritable(file.name, error);
  }
}
