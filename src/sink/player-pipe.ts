import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where POSIX programs are, whatever the user's own PATH says. */
const SYSTEM = '/usr/bin:/bin:/run/current-system/sw/bin';

/** A pipe of the system. What Node makes for a child is a socket, which nobody can open by the name `/dev/stdin`. */
export interface Pipe {
  /** File descriptors of the two ends. */
  readonly read: number;
  readonly write: number;
  /** Lets go of a reader that opens the pipe by its name when the writer has left: it waits for another writer. */
  readonly wake: () => void;
  readonly remove: () => void;
}

/** @throws what the system says when it has no such pipes */
export async function makePipe(): Promise<Pipe> {
  const folder = await mkdtemp(join(tmpdir(), 'tts-'));
  const name = join(folder, 'pipe');
  const open = () => openSync(name, constants.O_WRONLY | constants.O_NONBLOCK);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await run('mkfifo', [name], { env: { PATH: SYSTEM } });
    // Each end waits for the other to be opened, unless both are there already.
    const both = openSync(name, 'r+');
    const read = openSync(name, constants.O_RDONLY);
    const write = open();
    closeSync(both);
    return { read, write, wake: () => touch(open), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Opens and closes. Where that fails nobody is there to be woken: the reader has left, or the pipe is gone. */
function touch(open: () => number): void {
  try {
    closeSync(open());
  } catch {}
}
