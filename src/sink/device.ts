import { closeSync, constants, openSync } from 'node:fs';
import { ExitCode, TtsError } from '../error.ts';

/**
 * Opens a device to write to it.
 * @throws TtsError (output) for a terminal, under whatever name; what the system says
 */
export async function openDevice(path: string): Promise<number> {
  // Without becoming the terminal of this process, whose Ctrl-C it would hear.
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  // Loaded only now: it brings the whole network stack with it.
  const { isatty } = await import('node:tty');
  if (!isatty(fd)) return fd;
  closeSync(fd);
  throw onTerminal();
}

/** The error for sound that would go to a screen. */
export function onTerminal(): TtsError {
  return new TtsError('audio is not written to a terminal', {
    exitCode: ExitCode.output,
    hint: 'name a file with -o out.wav, or send it through a pipe: tts … | aplay',
  });
}
