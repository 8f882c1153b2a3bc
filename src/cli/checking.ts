import { leftOver, type Outcome } from '../batch/closing.ts';
import type { ManifestEntry } from '../batch/manifest.ts';
import type { BatchRow } from '../batch/plan.ts';
import type { Survey } from '../batch/survey.ts';
import { ExitCode, TtsError } from '../error.ts';
import type { Context } from './context.ts';
import { readerReady } from './terminal/print.ts';
import { countOf } from './terminal/style.ts';

interface Checking extends Pick<Context, 'host'> {
  readonly allowEmpty: boolean;
  /** What is wrong with a file that is as a run would leave it. */
  readonly faultOf?: (row: BatchRow, entry: ManifestEntry | undefined) => string | undefined;
}

/**
 * Finds the files that are not as a run would leave them.
 * @param tell gets no row for a file that is left over
 * @returns how many there are
 */
export async function tellFaults(
  { plan, known, survey, folder, shard }: Outcome,
  { host, allowEmpty, faultOf }: Checking,
  tell: (state: string, file: string, row?: BatchRow) => void,
): Promise<number> {
  let faults = 0;
  for (const number of plan.mine()) {
    const state = survey.stateOf(number);
    if (state === undefined || (state === 'empty' && allowEmpty)) continue;
    const row = plan.rows.at(number);
    const fault = state === 'unchanged' ? faultOf?.(row, known.at(survey.entryOf(number))) : state;
    if (fault === undefined) continue;
    tell(fault, row.file, row);
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

/**
 * @param unapproved how many of the faults are that nobody has approved a sound
 * @throws TtsError (partial) unless there are none
 */
export function assertNoFaults(faults: number, survey: Survey, unapproved = 0): void {
  if (faults === 0) return;
  const isOnlyApproval = unapproved === faults;
  const more = unapproved > 0 ? ', left over or not approved' : ' or left over';
  const what = isOnlyApproval ? 'not approved' : `missing, stale, damaged${more}`;
  throw new TtsError(`${countOf(faults, 'file is', 'files are')} ${what}`, {
    exitCode: ExitCode.partial,
    hint: isOnlyApproval
      ? OF_APPROVAL
      : (otherOptions(survey) ?? (survey.counts.empty === faults ? OF_EMPTY : REMEDY)),
  });
}

const REMEDY = 'the same command without --check makes what is missing; --prune deletes what is left over';
const OF_EMPTY = 'give each row a text, or let --allow-empty skip those without one';
const OF_APPROVAL = 'listen to them on the page of --report, tick them, and save approved.jsonl there';

/** The options that shape a sound, as people know them. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['service', 'another service or engine (--base-url, --engine)'],
  ['speaker', 'another speaker (-s)'],
  ['sampleRate', 'another sample rate (-r)'],
  ['instructions', 'other instructions (-i)'],
  ['speed', 'another speed (--speed)'],
  ['pauses', 'other pauses (--pauses)'],
  ['loudness', 'another loudness (--loudness)'],
  ['format', 'another format (--encode, --bitrate)'],
]);

/** Where every file is stale, the options are likely other ones, and all would be paid for again. */
function otherOptions({ differing }: Survey): string | undefined {
  const names = differing.flatMap((name) => OPTIONS.get(name) ?? []);
  if (names.length === 0) return undefined;
  return `all were made with ${names.join(' and ')}: give --check the options of that run; without --check, all are made again`;
}
