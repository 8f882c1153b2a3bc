import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { processHost } from '../../../src/kit/host.ts';
import { withVoicesLock } from '../../../src/voices/install/store.ts';
import { emptyFolder } from '../../support/folder.ts';

function contextOf(changes: object = {}, signal = new AbortController().signal) {
  const notes: string[] = [];
  const host = { ...processHost(process), ...changes };
  return {
    notes,
    context: { host, signal, notices: { note: (text: string) => void notes.push(text) } as never },
  };
}

describe('the lock of the voices', () => {
  it('lets one run after the other, and tells the second why it waits', async () => {
    const data = emptyFolder();
    const order: string[] = [];
    const { notes, context } = contextOf();
    const first = withVoicesLock(data, context, async () => {
      order.push('first begins');
      await sleep(150);
      order.push('first ends');
    });
    await withVoicesLock(data, context, async () => void order.push('second'));
    await first;
    expect(order).toEqual(['first begins', 'first ends', 'second']);
    expect(notes).toEqual([`another run changes the voices in ${data}: waiting for it`]);
    expect(existsSync(join(data, '.lock'))).toBe(false);
  });

  it('is not waited for any longer when the user ends the run', async () => {
    const data = emptyFolder();
    const control = new AbortController();
    const { context } = contextOf({ isRunning: () => true }, control.signal);
    writeFileSync(join(data, '.lock'), JSON.stringify({ pid: 1, realm: context.host.realm }));
    const waiting = withVoicesLock(data, context, async () => 'done');
    const reason = new Error('interrupted');
    control.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    expect(existsSync(join(data, '.lock'))).toBe(true);
  });
});
