import { expect, test, vi } from 'vitest';
import { GaveWay, Pace, type Slot } from '../../../src/client/limiter.ts';
import { useMovedClock } from '../../support/clock.ts';
import { turns } from '../../support/turns.ts';

/** Asks for admission and remembers who was admitted. */
function entering(pace: Pace) {
  const slots = new Map<number, Slot>();
  return {
    slots,
    admitted: () => [...slots.keys()],
    enter(order: number, signal = new AbortController().signal) {
      const entered = pace.enter(order, signal).then((slot) => void slots.set(order, slot));
      entered.catch(() => {});
      return entered;
    },
  };
}

async function* endless() {
  for (;;) yield new Uint8Array(2);
}

test('No more requests are open at once than allowed, and the first in the text goes first.', async () => {
  const { enter, admitted, slots } = entering(new Pace(2));
  for (const order of [5, 3, 9, 4]) void enter(order);
  await turns();
  expect(admitted()).toEqual([5, 3]);
  slots.get(5)?.leave();
  await turns();
  expect(admitted()).toEqual([5, 3, 4]);
});

test('A slot that is left twice is free once.', async () => {
  const { enter, admitted, slots } = entering(new Pace(1));
  for (const order of [0, 1, 2]) void enter(order);
  await turns();
  slots.get(0)?.leave();
  slots.get(0)?.leave();
  await turns();
  expect(admitted()).toEqual([0, 1]);
});

test('Refusals lower the number to what was accepted, and it rises again with success.', async () => {
  const pace = new Pace(4);
  const { enter, admitted, slots } = entering(pace);
  for (let order = 0; order < 40; order++) void enter(order);
  await turns();
  for (const order of [2, 3]) {
    pace.refused();
    slots.get(order)?.leave();
  }
  slots.get(0)?.leave();
  await turns();
  expect(admitted()).toEqual([0, 1, 2, 3, 4]);
  for (let accepted = 0; accepted < 64; accepted++) pace.accepted();
  await turns();
  expect(admitted()).toEqual([0, 1, 2, 3, 4, 5]);
});

test('A service that wants to be left alone holds all requests until then.', async () => {
  useMovedClock();
  const pace = new Pace(2);
  const { enter, admitted, slots } = entering(pace);
  await enter(0);
  pace.refused(0.3);
  slots.get(0)?.leave();
  void enter(1);
  await vi.advanceTimersByTimeAsync(299);
  expect(admitted()).toEqual([0]);
  await vi.advanceTimersByTimeAsync(3);
  expect(admitted()).toEqual([0, 1]);
});

test('A service that wants to be left alone for longer than anybody waits holds nobody up.', async () => {
  const pace = new Pace(2);
  const { enter, admitted, slots } = entering(pace);
  await enter(0);
  pace.refused(3601);
  slots.get(0)?.leave();
  void enter(1);
  await turns();
  expect(admitted()).toEqual([0, 1]);
});

test('Who waits is told at once that the run ends, and takes no slot later.', async () => {
  const { enter, admitted, slots } = entering(new Pace(1));
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

test('The last of the answers that nobody reads gives way to one that is heard before all of them.', async () => {
  useMovedClock();
  const { enter, admitted, slots } = entering(new Pace(2));
  await enter(1);
  await enter(2);
  const [first, last] = [1, 2].map((order) => slots.get(order)?.hold(endless()));
  await first?.next();
  await last?.next();
  void enter(0);
  void enter(3);
  await turns();
  expect(admitted()).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(2500);
  expect(admitted()).toEqual([1, 2, 0]);
  await expect(last?.next()).rejects.toThrow(GaveWay);
  await expect(first?.next()).resolves.toMatchObject({ done: false });
});

test('Nobody gives way while an answer is being read.', async () => {
  useMovedClock();
  const { enter, admitted, slots } = entering(new Pace(2));
  await enter(1);
  await enter(2);
  const [first, last] = [1, 2].map((order) => slots.get(order)?.hold(endless()));
  await last?.next();
  void enter(0);
  for (let read = 0; read < 20; read++) {
    await first?.next();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(admitted()).toEqual([1, 2]);
});

test('Nobody gives way while somebody waits for more of an answer.', async () => {
  useMovedClock();
  const { enter, admitted, slots } = entering(new Pace(2));
  await enter(1);
  await enter(2);
  async function* slow() {
    yield new Uint8Array(2);
    await new Promise(() => {});
  }
  const [first, last] = [slots.get(1)?.hold(slow()), slots.get(2)?.hold(endless())];
  await first?.next();
  void first?.next();
  await last?.next();
  void enter(0);
  await vi.advanceTimersByTimeAsync(2500);
  expect(admitted()).toEqual([1, 2]);
});

test('Behind a request that failed as all others would, no more are sent; those before it are.', async () => {
  const pace = new Pace(1);
  const { enter, admitted, slots } = entering(pace);
  const [open, behind, before] = [enter(3), enter(4), enter(2)];
  await open;
  pace.close(3, new Error('no key'));
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
    const pace = new Pace(1);
    for (const order of orders) pace.close(order, new Error(`no key ${order}`));
    await expect(pace.enter(2, new AbortController().signal)).rejects.toThrow('no key 1');
  }
});
