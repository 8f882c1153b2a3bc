import { setImmediate as turn } from 'node:timers/promises';

/** More than any of what waits for no clock and no other process needs to come to its end. */
const MANY = 100;

/** Lets everything happen that can. Counted in turns of the event loop, so that a busy machine gets as far as any. */
export async function turns(): Promise<void> {
  for (let i = 0; i < MANY; i++) await turn();
}
