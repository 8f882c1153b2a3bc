import { join } from 'node:path';
import { ExitCode, TtsError } from '../error.ts';
import { DEAD_MS, type Holder, holderOf, isDead, Lease, type LeaseHost } from '../files/lease.ts';
import { unwritable } from '../files/writable.ts';
import { findBatchFiles, lockName } from './manifest.ts';
import type { Shard } from './shard.ts';

/**
 * Keeps other runs away from a folder. Shards of one division may share it.
 * @param machine its name, for the message of another run
 * @throws TtsError (output) that names the other run, (usage) for a lock that is a link or not a file
 */
export function lockFolder(
  folder: string,
  shard: Shard | undefined,
  host: LeaseHost,
  machine: string,
): Disposable {
  const path = join(folder, lockName(shard));
  const lease = known(path, () => Lease.take(path, host, { machine }));
  if (!(lease instanceof Lease)) throw atWork(path, lease);
  try {
    for (const other of findBatchFiles(folder).locks)
      if (excludes(other, shard)) assertDead(join(folder, other), host);
  } catch (error) {
    lease[Symbol.dispose]();
    throw error;
  }
  return lease.beating();
}

function excludes(name: string, shard: Shard | undefined): boolean {
  if (name === lockName(shard)) return false;
  return !(shard && name.endsWith(`-of-${shard.count}.lock`));
}

function assertDead(path: string, host: LeaseHost): void {
  const holder = known(path, () => holderOf(path, host));
  if (holder && !isDead(holder, host)) throw atWork(path, holder);
}

/** Puts errors of the system into words. */
function known<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw unwritable(path, error);
  }
}

function atWork(path: string, { owner }: Holder): TtsError {
  const who = owner ? `process ${owner.pid} on ${owner.machine}` : 'another run';
  return new TtsError(`${who} is at work in this folder (${path})`, {
    exitCode: ExitCode.output,
    hint: `wait for it, or end it; a machine that is gone is forgotten after ${DEAD_MS / 1000} s`,
  });
}
