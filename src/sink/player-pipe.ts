import { execFile } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where POSIX programs are, whatever the user's own PATH says. */
const SYSTEM = '/usr/bin:/bin:/run/current-system/sw/bin';

/** The two ends of a pipe. */
export interface Pipe {
  readonly read: number;
  readonly write: number;
}

/**
 * A pipe of the system. What Node makes for a child's stdin is a socket, which nobody can open by the name
 * `/dev/stdin`. The pipe has a name in the file system only as long as it takes to open it.
 */
export async function makePipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), 'tts-'));
  const name = join(folder, 'pipe');
  try {
    await run('mkfifo', [name], { env: { PATH: SYSTEM } });
    // Each end waits for the other to be opened, unless both are there already.
    const both = openSync(name, 'r+');
    const read = openSync(name, constants.O_RDONLY);
    const write = openSync(name, constants.O_WRONLY | constants.O_NONBLOCK);
    closeSync(both);
    return { read, write };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
