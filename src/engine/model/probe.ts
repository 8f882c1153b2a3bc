import { Child } from '../../files/child.ts';
import { printable } from '../../printable.ts';
import { type Report, readFrames, writeFrame } from './frames.ts';

export interface ProbeOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execPath: string;
  /** The program that loads models. */
  readonly program: string;
  readonly runtimes: readonly string[];
  /** False looks in the given folders only. */
  readonly isBeside: boolean;
}

/** Loads the runtime in a child: a library that does not fit may end its process at once, without a word. */
export async function probeRuntime(
  { env, execPath, program, runtimes, isBeside }: ProbeOptions,
  signal: AbortSignal,
): Promise<
  { readonly name: string; readonly fault?: never } | { readonly name?: never; readonly fault: string }
> {
  const child = new Child(execPath, [program], { env, stdin: 'ignore', stdout: 'ignore', pipes: 2, signal });
  const orders = child.pipe(3).on('error', () => {});
  writeFrame(orders, { type: 'probe', runtimes, isBeside });
  let fault = '';
  for await (const report of readFrames<Report>(child.pipe(4))) {
    if (report.type === 'found') {
      child.end();
      return { name: report.runtime };
    }
    if (report.type === 'error') fault = report.message;
    orders.end();
  }
  const { status, signal: ended } = await child.spoken();
  signal.throwIfAborted();
  const last =
    fault.split('\n')[0] || child.lastWords || `its process ended with ${ended ?? `status ${status}`}`;
  return { fault: printable(last) };
}
