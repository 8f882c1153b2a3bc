import { closeSync, fstatSync } from 'node:fs';
import { ExitCode, TtsError } from './error.ts';
import { type EndSignal, type Host, isTerminal } from './host.ts';

const MEANINGS: Record<EndSignal, { what: string; exitCode: ExitCode }> = {
  SIGINT: { what: 'interrupted', exitCode: ExitCode.interrupted },
  SIGTERM: { what: 'terminated', exitCode: ExitCode.terminated },
  SIGHUP: { what: 'the terminal is gone', exitCode: ExitCode.hangup },
};

/** Its signal aborts, with the error of the run, when the process is asked to stop. */
export function interruption(host: Host): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const listeners = Object.entries(MEANINGS).map(([name, { what, exitCode }]) => {
    const listener = () => controller.abort(new TtsError(what, { exitCode }));
    host.on(name as EndSignal, listener);
    return () => host.off(name as EndSignal, listener);
  });
  return { signal: controller.signal, stop: () => listeners.forEach((off) => void off()) };
}

/** A message may come before a run listens to it, or after its end. It would end the process, or open it to a debugger. */
export function outliveMessages(host: Host): void {
  if (host.platform === 'win32') return;
  for (const message of ['SIGUSR1', 'SIGUSR2'] as const) host.on(message, () => {});
}

/** The status of a process that a signal ended is 128 and the number of the signal. */
const SIGNALS = 128;

/** Milliseconds, in which an interrupted process may end by itself. */
const GRACE_MS = 50;

const STANDARD_STREAMS = [0, 1, 2];

type Process = Pick<NodeJS.Process, 'exit' | 'kill' | 'once' | 'pid' | 'platform' | 'getBuiltinModule'> & {
  exitCode?: number | string | null | undefined;
};

/** @param isAsked true if a signal has asked the process to end, whatever its status */
export function endWith(status: number, process: Process, isAsked = false): void {
  process.exitCode = status;
  const dieOfSignal = () => process.kill(process.pid, status - SIGNALS);
  process.once('exit', () => {
    const isTyped = status === ExitCode.interrupted && isOnTerminal(process);
    closeLostTerminals(process);
    // bash goes on with its loop after a child that returned 130: the signal has to end it.
    if (isTyped) dieOfSignal();
  });
  // Work such as the lookup of a host name cannot be cancelled.
  if (status > SIGNALS) setTimeout(dieOfSignal, GRACE_MS).unref();
  else if (isAsked) setTimeout(() => process.exit(), GRACE_MS).unref();
}

function isOnTerminal(process: Process): boolean {
  return process.platform !== 'win32' && STANDARD_STREAMS.some((fd) => isTerminal(process, fd));
}

/** Closes such descriptors: Node 20 aborts at its end if a terminal that it was started on is gone. */
function closeLostTerminals(process: Process): void {
  for (const fd of STANDARD_STREAMS) if (isLostTerminal(process, fd)) closeSync(fd);
}

/** Devices with major number 1, such as /dev/null, never were a terminal. */
function isLostTerminal(process: Process, fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev >> 8 !== 1 && !isTerminal(process, fd);
  } catch {
    return false;
  }
}
