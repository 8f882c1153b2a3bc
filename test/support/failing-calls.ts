import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Sandbox } from './run.ts';

const PRELOAD = fileURLToPath(new URL('./failing-fs.cjs', import.meta.url));

/** `once`: one call fails; `onwards`: all from it on; `kill`: the process is killed at it. */
export const MODES = ['once', 'onwards', 'kill'] as const;

export type Mode = (typeof MODES)[number];

/** Makes the call number `at` that changes a file fail in the runs with this environment. */
export function failingCall(box: Sandbox, at: number, mode: Mode) {
  const mark = box.path('hit');
  const env = { FAULT_AT: `${at}`, FAULT_MODE: mode, FAULT_MARK: mark, NODE_OPTIONS: `--require=${PRELOAD}` };
  /** The name of the call that failed; `undefined` if there were fewer calls. */
  const hit = () => {
    const name = existsSync(mark) ? readFileSync(mark, 'utf8') : undefined;
    rmSync(mark, { force: true });
    return name;
  };
  return { env, hit };
}
