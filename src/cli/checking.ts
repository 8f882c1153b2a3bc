import { leftOver, type Outcome } from '../batch/closing.ts';
import type { BatchRow } from '../batch/plan.ts';
import { ExitCode, TtsError } from '../error.ts';
import type { Context } from './context.ts';
import { readerReady } from './terminal/print.ts';
import { countOf } from './terminal/style.ts';

/**
 * Finds the files that are not as a run would leave them.
 * @param tell gets no row for a file that is left over
 * @returns how many there are
 */
export async function tellFaults(
  { plan, known, survey, folder, shard }: Outcome,
  { host }: Pick<Context, 'host'>,
  tell: (state: string, file: string, row?: BatchRow) => void,
): Promise<number> {
  let faults = 0;
  for (const number of plan.mine()) {
    const state = survey.stateOf(number);
    if (state === undefined || state === 'unchanged' || state === 'empty') continue;
    const row = plan.rows.at(number);
    tell(state, row.file, row);
    faults += 1;
    if (faults % 1000 === 0) await readerReady(host.stdout);
  }
  if (shard) return faults;
  for (const { file } of leftOver({ folder, plan, known })) {
    tell('left over', file);
    faults += 1;
  }
  return faults;
}

/** @throws TtsError (partial) unless there are none */
export function assertNoFaults(faults: number): void {
  if (faults === 0) return;
  throw new TtsError(`${countOf(faults, 'file is', 'files are')} missing, stale, damaged or left over`, {
    exitCode: ExitCode.partial,
    hint: 'the same command without --check makes what is missing; --prune deletes what is left over',
  });
}
