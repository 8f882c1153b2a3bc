import { fstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageError } from '../error.ts';
import { cacheFolder, makeFolder, noSegmentFolder } from '../files/folders.ts';
import { readOwn } from '../files/own-file.ts';
import type { Host } from '../host.ts';

/** One speaker at a time: a new run stops the others, or waits for its turn. */
export interface ChannelPlan {
  readonly name: string | undefined;
  readonly interrupts: boolean;
}

type ChannelHost = Pick<
  Host,
  'env' | 'home' | 'platform' | 'pid' | 'realm' | 'uid' | 'isRunning' | 'askToEnd'
>;

/** Milliseconds between two looks at the others. */
const LOOK_MS = 20;
const NAME = /^[\w.-]{1,64}$/u;

/** A run of a channel. The oldest one that is alive speaks. */
interface Ticket {
  readonly path: string;
  readonly pid: number;
}

/**
 * Waits until no other run speaks on the channel.
 * @throws TtsError (usage) for a name that is not allowed; the signal's reason
 */
export async function takeChannel(
  { name, interrupts }: ChannelPlan,
  host: ChannelHost,
  signal: AbortSignal,
): Promise<Disposable> {
  const folder = folderOf(name, host);
  makeFolder(folder);
  const number = `${String(Date.now()).padStart(15, '0')}-${String(host.pid).padStart(10, '0')}`;
  const [draft, mine] = [join(folder, `new-${host.pid}`), join(folder, number)];
  writeFileSync(draft, JSON.stringify([host.pid, host.realm]), { mode: 0o600 });
  renameSync(draft, mine);
  const ticket: Disposable = { [Symbol.dispose]: () => rmSync(mine, { force: true }) };
  try {
    const earlier = () => ticketsIn(folder, host).filter(({ path }) => path < mine);
    if (interrupts) for (const { pid } of earlier()) end(pid, host);
    while (earlier().length > 0) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
    return ticket;
  } catch (error) {
    ticket[Symbol.dispose]();
    throw error;
  }
}

/** @returns the number of runs that were asked to end */
export function stopChannel(name: string | undefined, host: ChannelHost): number {
  const tickets = ticketsIn(folderOf(name, host), host);
  for (const { pid } of tickets) end(pid, host);
  return tickets.length;
}

/** Those of dead runs are removed. */
function ticketsIn(folder: string, host: ChannelHost): Ticket[] {
  const tickets: Ticket[] = [];
  for (const file of namesIn(folder).sort()) {
    const path = join(folder, file);
    const owner = ownerOf(path, host);
    if (owner?.realm !== host.realm) continue;
    if (host.isRunning(owner.pid)) tickets.push({ path, pid: owner.pid });
    else rmSync(path, { force: true });
  }
  return tickets;
}

function ownerOf(path: string, { uid }: ChannelHost): Pick<Host, 'pid' | 'realm'> | undefined {
  try {
    const [pid, realm] = JSON.parse(readOwn(path, uid)) as [number, string];
    return Number.isInteger(pid) && pid > 1 ? { pid, realm } : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d/u.test(name));
  } catch {
    return [];
  }
}

function end(pid: number, host: ChannelHost): void {
  try {
    host.askToEnd(pid);
  } catch {
    // It has ended by itself.
  }
}

/** Without a name, each terminal is a channel. */
function folderOf(name: string | undefined, { env, home, platform }: ChannelHost): string {
  if (name !== undefined && !NAME.test(name))
    throw usageError(
      `--channel: "${name}" is not allowed`,
      'name it with letters, digits, dots, hyphens and underscores',
    );
  const runtime = env.XDG_RUNTIME_DIR;
  const folder = runtime && isAbsolute(runtime) ? join(runtime, 'tts') : cacheFolder({ env, home, platform });
  if (folder === undefined) throw noSegmentFolder();
  return join(folder, 'run', name ?? terminal());
}

function terminal(): string {
  for (const fd of [2, 1, 0]) {
    try {
      const stats = fstatSync(fd);
      // Devices with major number 1, such as /dev/null, are no terminals.
      if (stats.isCharacterDevice() && stats.rdev >> 8 !== 1) return `terminal-${stats.rdev}`;
    } catch {}
  }
  return 'default';
}
