import { accessSync, closeSync, constants, openSync, type Stats, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../kit/error.ts';
import { assertWritable, type FileOptions, type Writer } from '../kit/file.ts';
import { linkTarget, pathOf, systemError, unwritable, writing } from '../kit/folders.ts';
import type { Host } from '../kit/host.ts';
import type { Encoding } from '../sound/encode/encoding.ts';
import { assertEncodable, type RequestedEncoding, streamingOf } from '../sound/encode/encodings.ts';
import { fileSink } from './file.ts';
import { deviceSink, isLiveStdout, openDevice, pipeSink, stdoutSink } from './pipe.ts';
import type { Sink } from './sink.ts';

const STDOUT = new Set(['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']);

export interface OutputOptions {
  /** A file, or "-" for stdout. */
  readonly output: string;
  readonly clobber: boolean;
}

export interface SinkOptions extends OutputOptions {
  readonly encoding: Encoding;
  readonly keepsPartial?: boolean;
}

export function isStdout(output: string): boolean {
  return STDOUT.has(output);
}

/**
 * Asserts that a file's extension matches a format that is written. Pipes and devices may have any name.
 * @throws TtsError (usage) for a file with the extension of another format
 */
export function assertFormatKnown(output: string, asked: RequestedEncoding, cwd: string): void {
  if (isFileOrNew(output, cwd)) assertEncodable(output, asked);
}

/** True for an existing file, and for a name that does not exist yet, even in a missing folder. */
function isFileOrNew(output: string, cwd: string): boolean {
  if (/[/\\]$/.test(output)) return false;
  try {
    return statSync(pathOf(cwd, output), { throwIfNoEntry: false })?.isFile() ?? true;
  } catch {
    return true;
  }
}

/** @throws TtsError (output) */
export async function openSink(
  { output, clobber, encoding, keepsPartial = false }: SinkOptions,
  host: Host,
  signal: AbortSignal,
): Promise<Sink> {
  if (isStdout(output)) return stdoutSink(host.stdout, encoding);
  try {
    const path = pathOf(host.cwd, output);
    const old = outputStats(path, output);
    if (!old || old.isFile()) {
      const file = { name: output, path, old, clobber, writer: host };
      return fileSink(file, encoding, keepsPartial);
    }
    const streaming = streamingOf(encoding, output);
    if (old.isFIFO()) return pipeSink(await openPipe(path, signal), output, streaming);
    return deviceSink(await openDevice(path), output, streaming);
  } catch (error) {
    throw unwritable(output, error);
  }
}

/** @throws an error with the code EISDIR for a folder, or the system's error */
export function outputStats(path: string, name: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() || /[/\\]$/.test(name)) throw systemError('EISDIR');
  return stats;
}

/** Opens a pipe as soon as a reader has opened it. The signal cancels the wait. */
export async function openPipe(path: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (codeOf(error) !== 'ENXIO') throw error;
      await sleep(20);
    }
  }
}

/**
 * Checks that `openSink` would succeed.
 * @returns true for a sink that is heard live
 * @throws TtsError (output) as `openSink` would
 */
export async function checkSink(
  { output, clobber }: OutputOptions,
  host: Pick<Host, 'stdout' | 'cwd'> & Writer,
): Promise<boolean> {
  if (isStdout(output)) return isLiveStdout(host.stdout);
  try {
    const path = pathOf(host.cwd, output);
    const old = outputStats(path, output);
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

/** @throws TtsError (output) */
export function checkFile(options: FileOptions): void {
  writing(options.name, () => {
    const target = linkTarget(options.path);
    assertWritable(target, options);
    // The path `folder/.` exists only if `folder` is a folder.
    accessSync(`${dirname(target)}${sep}.`, constants.W_OK | constants.X_OK);
  });
}
