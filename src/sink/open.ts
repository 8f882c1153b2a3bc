import { accessSync, closeSync, constants, openSync, type Stats, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AtomicFile } from '../files/atomic-file.ts';
import type { Writer } from '../files/part-name.ts';
import { behindLinks, pathOf } from '../files/paths.ts';
import { assertWritable, type FileOptions, unwritable } from '../files/writable.ts';
import type { Host } from '../host.ts';
import { deviceSink, pipeSink } from './pipe.ts';
import { record } from './recording.ts';
import type { Sink } from './sink.ts';
import { openDevice, stdoutSink } from './stdout.ts';

const STDOUT = new Set(['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

export interface OutputOptions {
  /** A file's name, or "-" for stdout. */
  readonly output: string;
  /** Whether a file that exists may be replaced. */
  readonly clobber: boolean;
}

/** Whether `-o` says standard output. */
export function isStdout(output: string): boolean {
  return STDOUT.has(output);
}

/**
 * The sink for what `-o` says: a file, standard output, or a named pipe or a device other than a terminal, which is just
 * written.
 * @throws TtsError (output) when it cannot be written
 */
export async function openSink(
  { output, clobber }: OutputOptions,
  host: Host,
  signal: AbortSignal,
): Promise<Sink> {
  if (isStdout(output)) return stdoutSink(host.stdout);
  try {
    const path = pathOf(host.cwd, output);
    const old = lookAt(path, output);
    if (old?.isFIFO()) return pipeSink(await openPipe(path, signal), output);
    if (old && !old.isFile() && !old.isDirectory()) return deviceSink(await openDevice(path), output);
    return fileSink({ name: output, path, old, clobber, writer: host });
  } catch (error) {
    throw unwritable(output, error);
  }
}

/** What is there now; a folder is an error. */
export function lookAt(path: string, name: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() || (!stats && /[/\\]$/.test(name)))
    throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
  return stats;
}

/** Opening a pipe to write waits for its reader; without blocking a thread, so that Ctrl-C still ends the wait. */
async function openPipe(path: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
      await sleep(20);
    }
  }
}

/**
 * Whether the sink for what `-o` says would be live. Nothing is made, and no reader is waited for.
 * @throws TtsError (output) where opening it would
 */
export async function checkSink(
  { output, clobber }: OutputOptions,
  host: Pick<Host, 'stdout' | 'cwd'> & Writer,
): Promise<boolean> {
  if (isStdout(output)) return stdoutSink(host.stdout).isLive;
  try {
    const path = pathOf(host.cwd, output);
    const old = lookAt(path, output);
    if (!old || old.isFile()) {
      checkFile({ name: output, path, old, clobber, writer: host });
      return false;
    }
    if (old.isFIFO()) accessSync(path, constants.W_OK);
    else closeSync(await openDevice(path));
    return true;
  } catch (error) {
    throw unwritable(output, error);
  }
}

/** @throws TtsError (output) where a part could not be made, or not take the file's name */
export function checkFile(options: FileOptions): void {
  try {
    const target = behindLinks(options.path);
    assertWritable(target, options);
    // The dot is there in folders only.
    accessSync(`${dirname(target)}${sep}.`, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(options.name, error);
  }
}

/**
 * A file that appears when all of the sound is in it.
 * @throws TtsError (output) when it could not be written
 */
function fileSink(options: FileOptions): Sink {
  const part = AtomicFile.forOutput(options);
  const { fd, path } = part;
  return {
    isLive: false,
    async write(speech, signal) {
      try {
        const delivery = await record({ fd, name: options.name, start: 0, path }, speech, signal);
        await part.publish(signal);
        return delivery;
      } finally {
        part.discard();
      }
    },
    discard: async () => part.discard(),
  };
}
