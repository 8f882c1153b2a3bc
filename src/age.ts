/**
 * Gives the age of a time. A time in the future, after a change of the clock, counts as old, too.
 * @param time in milliseconds since 1970, as `now`
 * @returns milliseconds
 */
export function ageOf(time: number, now = Date.now()): number {
  return Math.abs(now - time);
}
