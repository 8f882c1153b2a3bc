import { constants, openSync, type Stats, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from '../host.ts';
import { pathOf } from '../path-of.ts';
import { openDevice } from './device.ts';
import { fileSink } from './file.ts';
import type { Sink } from './sink.ts';
import { stdoutSink } from './stdout.ts';
import { deviceSink, pipeSink } from './stream.ts';
import { unwritable } from './unwritable.ts';

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
