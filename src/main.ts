import { endWith, interruption } from './exit.ts';
import { hostOf } from './host.ts';
import { runCommand } from './run.ts';

/** Runs the command line of a process of Node, which then ends by itself with the status of the run. */
export async function main(process: NodeJS.Process): Promise<void> {
  // Node's own warnings, such as that a module is experimental, are of no use to a user of this program.
  process.removeAllListeners('warning');
  const host = hostOf(process);
  const { signal, stop } = interruption(host);
  const status = await runCommand(host, signal);
  stop();
  endWith(status, process);
}
