import type { Host } from '../host.ts';
import { Child } from './child.ts';

/** The shell waits until its input ends, which it does even if this program is killed. */
const SCRIPT = 'read -r _; kill -s KILL -- "-$1"; if [ -n "$2" ]; then rm -rf -- "$2"; fi';

/**
 * Sees to it that the group of a child and a folder go with this program, even if a SIGKILL ends it. Windows has no groups.
 * @param child leads a group of its own
 */
export function guard(
  child: Child,
  folder: string | undefined,
  { env, platform, endGroup }: Pick<Host, 'env' | 'platform' | 'endGroup'>,
): void {
  if (platform === 'win32' || child.pid === undefined) return;
  const options = { env, endGroup, stdin: 'pipe', stdout: 'ignore' } as const;
  const shell = new Child('/bin/sh', ['-c', SCRIPT, 'sh', String(child.pid), folder ?? ''], options);
  shell.started.catch(() => {});
  shell.keepAlive('unref');
  void child.exited.then(() => shell.end());
}
