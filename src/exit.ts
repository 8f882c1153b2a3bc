import { ExitCode, TtsError } from './error.ts';
import type { Host, Signal } from './host.ts';

const meanings: Record<Signal, { what: string; exitCode: ExitCode }> = {
  SIGINT: { what: 'interrupted', exitCode: ExitCode.interrupted },
  SIGTERM: { what: 'terminated', exitCode: ExitCode.terminated },
  SIGHUP: { what: 'the terminal is gone', exitCode: ExitCode.hangup },
};

/** One signal for everything that waits: it aborts, with the error to end with, when the process is told to stop. */
export function interruption(host: Host): { readonly signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const listeners = Object.entries(meanings).map(([name, { what, exitCode }]) => {
    const listener = () => controller.abort(new TtsError(what, { exitCode }));
    host.on(name as Signal, listener);
    return () => host.off(name as Signal, listener);
  });
  return { signal: controller.signal, stop: () => listeners.forEach((off) => void off()) };
}
