import { endWith, interruption } from './exit.ts';
import { hostOf } from './host.ts';
import { runCommand } from './run.ts';

/** Runs the command line; Node ends by itself with its status. */
export async function main(process: NodeJS.Process): Promise<void> {
  // Such as that a module is experimental.
  process.removeAllListeners('warning');
  const host = hostOf(process);
  const { signal, stop } = interruption(host);
  const status = await runCommand(host, signal);
  stop();
  endWith(status, process);
}
