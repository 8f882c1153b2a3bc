/**
 * A time in the future is as old: the clock was set back.
 * @param time in milliseconds since 1970, as `now`
 * @returns milliseconds
 */
export function ageOf(time: number, now = Date.now()): number {
  return Math.abs(now - time);
}
