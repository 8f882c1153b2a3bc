import { accessSync, closeSync, constants } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { Host } from '../host.ts';
import { pathOf } from '../path-of.ts';
import { assertWritable } from './assert-writable.ts';
import { openDevice } from './device.ts';
import { behindLinks } from './links.ts';
import { isStdout, lookAt, type OutputOptions } from './open.ts';
import type { Writer } from './part.ts';
import type { FileOptions } from './part-file.ts';
import { stdoutSink } from './stdout.ts';
import { unwritable } from './unwritable.ts';

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
