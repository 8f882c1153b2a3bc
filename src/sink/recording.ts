import type { Speech } from '../audio/pcm.ts';
import { headerBytes, overheadBytes, padding, wavHeader } from '../audio/wav-header.ts';
import { FileWriter, writeAt } from '../files/batch-writer.ts';
import { unwritable } from '../files/writable.ts';
import { assertAsPromised, type Delivery } from './sink.ts';

export interface OpenWav {
  readonly fd: number;
  /** For messages. */
  readonly name: string;
  /** Offset of the WAV; `undefined` where every write appends. */
  readonly start: number | undefined;
  /** A reader watches the file grow: nothing waits for a larger batch. */
  readonly isWatched?: boolean;
  readonly path: string;
}

/**
 * Past 4 GiB a WAV becomes an RF64 with a longer header, and the samples move. A file without a path keeps the sizes of a stream.
 * @throws TtsError (output), (service) for sizes that cannot be put right; what the speech throws
 */
export async function record(wav: OpenWav, speech: Speech, signal: AbortSignal): Promise<Delivery> {
  const { fd, name, start, isWatched } = wav;
  const { format, pcm } = speech;
  const writer = new FileWriter(fd, name);
  const header = wavHeader(format, start === undefined ? speech.bytes : undefined);
  writer.write(header);
  let bytes = 0;
  for await (const piece of pcm) {
    signal.throwIfAborted();
    bytes += piece.length;
    writer.write(piece);
    if (isWatched) writer.flush();
  }
  writer.write(new Uint8Array(padding(start === undefined ? speech.bytes : bytes)));
  writer.flush();
  if (start === undefined) {
    assertAsPromised(bytes, speech.bytes);
    return { bytes, overheadBytes: overheadBytes(format, speech.bytes), readerLeft: false };
  }
  const headerSize = await writeSizes({ ...wav, start }, { ...speech, bytes }, signal);
  return { bytes, overheadBytes: headerSize + padding(bytes), readerLeft: false };
}

/** @returns the length of the header */
async function writeSizes(
  { fd, name, start, path }: OpenWav & { start: number },
  { format, bytes }: Pick<Speech, 'format'> & { bytes: number },
  signal: AbortSignal,
): Promise<number> {
  const [old, exact] = [headerBytes(format, undefined), headerBytes(format, bytes)];
  try {
    if (exact > old) {
      const { makeRoom } = await import('./make-room.ts');
      if (!(await makeRoom(path, { from: start + old, bytes: exact - old }, signal))) return old;
    }
    writeAt(fd, wavHeader(format, bytes), start);
    return exact;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unwritable(name, error);
  }
}
