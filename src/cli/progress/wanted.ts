import type { Host } from '../../host.ts';
import type { Notices } from '../notices.ts';

/** Whether a person looks at stderr and wants to see how it goes: a terminal that can move its cursor, with a width. */
export function isProgressWanted(
  { env, stderr }: Pick<Host, 'env' | 'stderr'>,
  { quiet, verbose, json }: Pick<Notices, 'quiet' | 'verbose' | 'json'>,
): boolean {
  if (quiet || verbose || json || env.TERM === 'dumb') return false;
  if (env.CI && env.CI !== 'false') return false;
  return stderr.isTTY && (stderr.columns ?? 0) > 0;
}
