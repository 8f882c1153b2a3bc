import { AtomicFile } from '../files/atomic-file.ts';
import { FileWriter } from '../files/batch-writer.ts';
import type { Writer } from '../files/part-name.ts';
import { unwritable } from '../files/writable.ts';
import { lookAt } from '../sink/open.ts';

/**
 * Writes a text file that appears in one step.
 * @param name as messages call it
 * @throws TtsError (output)
 */
export async function writeText(
  { path, name, writer }: { readonly path: string; readonly name: string; readonly writer: Writer },
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

function openPart(options: { path: string; name: string; writer: Writer }): AtomicFile {
  try {
    return AtomicFile.forOutput({ ...options, old: lookAt(options.path, options.name), clobber: true });
  } catch (error) {
    throw unwritable(options.name, error);
  }
}
