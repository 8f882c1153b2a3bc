import { setImmediate as turn } from 'node:timers/promises';

/** More turns than any work takes that waits neither for a clock nor for another process. */
const MANY = 100;

/** Lets all pending work finish. Counts turns of the event loop, so that it does not depend on the load of the machine. */
export async function turns(): Promise<void> {
  for (let i = 0; i < MANY; i++) await turn();
}
