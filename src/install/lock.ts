import { join } from 'node:path';
import { isDeadOrUnwritten, Lease } from '../files/lease.ts';
import { unwritable } from '../files/writable.ts';
import type { RunContext } from '../host.ts';
import { ELSEWHERE } from '../installed/manifest.ts';

/**
 * Runs the action while no other run changes the voices. A second run waits and says so.
 * @throws TtsError (output), and what the action throws
 */
export async function withVoicesLock<T>(
  data: string,
  { host, notices, signal }: RunContext,
  action: () => Promise<T>,
): Promise<T> {
  const path = join(data, '.lock');
  const onWait = () => notices.note(`another run changes the voices in ${data}: waiting for it`);
  const rules = { isOver: isDeadOrUnwritten, signal, onWait };
  using _lease = (
    await Lease.wait(path, host, rules).catch((error) => {
      signal.throwIfAborted();
      throw unwritable(path, error, ELSEWHERE);
    })
  ).beating();
  return await action();
}
