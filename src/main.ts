import { runCommand } from './cli/run.ts';
import { endWith, type Host, interruption, outliveUserSignals, processHost } from './kit/host.ts';

/** Runs the command line and sets the exit status; Node exits by itself when nothing is left to do. */
export async function main(process: NodeJS.Process, host: Host = processHost(process)): Promise<void> {
  // Hides Node's own warnings, such as ExperimentalWarning.
  process.removeAllListeners('warning');
  outliveUserSignals(host);
  const { signal, stop } = interruption(host);
  const status = await runCommand(host, signal);
  stop();
  endWith(status, process, signal.aborted);
}
