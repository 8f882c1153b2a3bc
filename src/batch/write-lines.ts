import { AtomicFile } from '../files/atomic-file.ts';
import { FileWriter } from '../files/block-writer.ts';
import { assertRegular } from '../files/own-file.ts';
import type { Writer } from '../files/part-name.ts';
import { unwritable } from '../files/writable.ts';
import { checkFile, lookAt } from '../sink/open.ts';

interface TextFile {
  readonly path: string;
  /** Messages use this name. */
  readonly name: string;
  readonly writer: Writer;
}

/**
 * Writes a file that appears in one step, and never through a link.
 * @throws TtsError (output), (usage) for a link
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
 * Finds before any writing what will make it fail.
 * @throws TtsError (output), (usage) for a link
 */
export function assertTextWritable(file: TextFile): void {
  const { name } = file;
  try {
    const old = lookAt(file.path, name);
    assertRegular(file.path);
    checkFile({ ...file, old, clobber: true });
  } catch (error) {
    throw unwritable(name, error);
  }
}

function openPart(file: TextFile): AtomicFile {
  try {
    const old = lookAt(file.path, file.name);
    assertRegular(file.path);
    return AtomicFile.forOutput({ ...file, old, clobber: true });
  } catch (error) {
    throw unwritable(file.name, error);
  }
}
