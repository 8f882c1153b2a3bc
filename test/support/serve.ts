import { expect } from 'vitest';
import type { Running, Sandbox } from './run.ts';

/** `tts serve` without a key, until the test has ended. */
export async function startServe(
  box: Sandbox,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly run: Running }> {
  const run = box.start(['serve', '--port', '0', '--no-auth', ...args], { patience: 60_000, env });
  let said = '';
  run.child.stderr?.on('data', (piece) => {
    said += piece;
  });
  await expect.poll(() => said).toMatch(/listening on .*\n/);
  return { url: /listening on ([^\s"]+)/.exec(said)?.[1] ?? '', run };
}
