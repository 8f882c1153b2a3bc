import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PcmFormat, Speech } from '../audio/pcm.ts';
import { PartFile } from '../files/atomic-file.ts';
import type { Writer } from '../files/part-name.ts';
import { unwritable } from '../files/writable.ts';
import { lookAt } from '../sink/open.ts';
import { record } from '../sink/recording.ts';
import type { Delivery, Sink } from '../sink/sink.ts';
import { hashFile } from './row-state.ts';

/** A file that is complete and has not got its name yet. */
export interface FinishedFile {
  readonly format: PcmFormat;
  /** Of sound. */
  readonly bytes: number;
  /** Of the whole file, as hex digits. */
  readonly sha256: string;
}

export interface RowFileOptions {
  /** Absolute. */
  readonly path: string;
  /** As messages call it. */
  readonly name: string;
  readonly writer: Writer;
  /**
   * Called when the file is on its disk, before it gets its name: a run that is killed in between knows a file that is
   * not there, and makes it again; it never takes an unknown file for its own.
   */
  readonly onFinished: (file: FinishedFile) => Promise<void>;
}

/** The file of one row. It appears in one step, and its folders are made. */
export function rowFile({ path, name, writer, onFinished }: RowFileOptions): Sink {
  return {
    isLive: false,
    async write(speech: Speech, signal: AbortSignal): Promise<Delivery> {
      const part = openPart({ path, name, writer });
      try {
        const delivery = await record({ fd: part.fd, name, start: 0, path: part.path }, speech, signal);
        await part.settle();
        const sha256 = await hashFile(part.path, signal);
        await onFinished({ format: speech.format, bytes: delivery.bytes, sha256 });
        await part.publish(signal);
        return delivery;
      } finally {
        part.discard();
      }
    },
    discard: async () => {},
  };
}

function openPart({ path, name, writer }: Omit<RowFileOptions, 'onFinished'>): PartFile {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return new PartFile({ path, name, writer, old: lookAt(path, name), clobber: true });
  } catch (error) {
    throw unwritable(name, error);
  }
}
