import { expect, test, vi } from 'vitest';
import { ConcurrencyLimiter, Preempted, type Slot } from '../../../src/kit/limit.ts';
import { useMovedClock } from '../../support/clock.ts';
import { turns } from '../../support/turns.ts';

/** Asks for admission and remembers who was admitted. */
function entering(limiter: ConcurrencyLimiter) {
  const slots = new Map<number, Slot>();
  return {
    slots,
    admitted: () => [...slots.keys()],
    enter(order: number, signal = new AbortController().signal) {
      const entered = limiter.enter(order, signal).then((slot) => void slots.set(order, slot));
      entered.catch(() => {});
      return entered;
    },
  };
}

test('No more requests are open at once than allowed, and the first in the text goes first.', async () => {
  const { enter, admitted, slots } = entering(new ConcurrencyLimiter(2));
  for (const order of [5, 3, 9, 4]) void enter(order);
  await turns();
  expect(admitted()).toEqual([5, 3]);
  slots.get(5)?.leave();
  await turns();
  expect(admitted()).toEqual([5, 3, 4]);
});

test('Refusals lower the number to what was accepted, and it rises again with success.', async () => {
  const limiter = new ConcurrencyLimiter(4);
  const { enter, admitted, slots } = entering(limiter);
  for (let order = 0; order < 40; order++) void enter(order);
  await turns();
  for (const order of [2, 3]) {
    limiter.refused();
    slots.get(order)?.leave();
  }
  slots.get(0)?.leave();
  await turns();
  expect(admitted()).toEqual([0, 1, 2, 3, 4]);
  for (let accepted = 0; accepted < 64; accepted++) limiter.accepted();
  await turns();
  expect(admitted()).toEqual([0, 1, 2, 3, 4, 5]);
});

test('A service that wants to be left alone for an hour holds all requests until then.', async () => {
  useMovedClock();
  const limiter = new ConcurrencyLimiter(2);
  const { enter, admitted, slots } = entering(limiter);
  await enter(0);
  limiter.refused(3600);
  slots.get(0)?.leave();
  void enter(1);
  await vi.advanceTimersByTimeAsync(3_599_999);
  expect(admitted()).toEqual([0]);
  await vi.advanceTimersByTimeAsync(3);
  expect(admitted()).toEqual([0, 1]);
});

test('A wait of more than an hour that a service asks for holds up no request.', async () => {
  const limiter = new ConcurrencyLimiter(2);
  const { enter, admitted, slots } = entering(limiter);
  await enter(0);
  limiter.refused(3601);
  slots.get(0)?.leave();
  void enter(1);
  await turns();
  expect(admitted()).toEqual([0, 1]);
});

test('A waiting request ends at once with the run, and takes no slot later.', async () => {
  const { enter, admitted, slots } = entering(new ConcurrencyLimiter(1));
  await enter(0);
  const controller = new AbortController();
  const waiting = enter(1, controller.signal);
  void enter(2);
  controller.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  slots.get(0)?.leave();
  await turns();
  expect(admitted()).toEqual([0, 2]);
});

test('The last of the stuck answers is preempted by a request that is heard before all of them.', async () => {
  useMovedClock();
  const { enter, admitted, slots } = entering(new ConcurrencyLimiter(2));
  await enter(1);
  await enter(2);
  for (const order of [1, 2]) slots.get(order)?.rest();
  void enter(0);
  void enter(3);
  await turns();
  expect(admitted()).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(2500);
  expect(admitted()).toEqual([1, 2, 0]);
  expect(slots.get(2)?.signal.reason).toBeInstanceOf(Preempted);
  expect(slots.get(1)?.signal.aborted).toBe(false);
});

test('No slot is preempted while an answer is being read.', async () => {
  useMovedClock();
  const { enter, admitted, slots } = entering(new ConcurrencyLimiter(2));
  await enter(1);
  await enter(2);
  slots.get(2)?.rest();
  void enter(0);
  for (let read = 0; read < 20; read++) {
    slots.get(1)?.goOn();
    slots.get(1)?.rest();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(admitted()).toEqual([1, 2]);
});

test('After a request that failed as all others would, no more are sent; those before it are.', async () => {
  const limiter = new ConcurrencyLimiter(1);
  const { enter, admitted, slots } = entering(limiter);
  const [open, behind, before] = [enter(3), enter(4), enter(2)];
  await open;
  limiter.close(3, new Error('no key'));
  await expect(behind).rejects.toThrow('no key');
  await expect(enter(5)).rejects.toThrow('no key');
  slots.get(3)?.leave();
  await before;
  expect(admitted()).toEqual([3, 2]);
});

test('Of several such failures, the first in the text is the one that counts.', async () => {
  for (const orders of [
    [1, 3],
    [3, 1],
  ]) {
    const limiter = new ConcurrencyLimiter(1);
    for (const order of orders) limiter.close(order, new Error(`no key ${order}`));
    await expect(limiter.enter(2, new AbortController().signal)).rejects.toThrow('no key 1');
  }
});
