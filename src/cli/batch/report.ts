import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Outcome } from '../../batch/closing.ts';
import { writeText } from '../../batch/write-lines.ts';
import type { Context } from '../context.ts';
import { countOf } from '../terminal/style.ts';
import type { BatchOutput, RowResult } from './output.ts';
import { type ReportRow, reportPage } from './report-page.ts';
import { waveForm } from './wave-form.ts';

const STATES: readonly RowResult[] = ['failed', 'made', 'unchanged', 'skipped'];

/**
 * Failed rows come first.
 * @throws TtsError (output)
 */
export async function writeReport(
  name: string,
  { outcome, output }: { readonly outcome: Outcome; readonly output: BatchOutput },
  { host, signal }: Context,
): Promise<void> {
  const path = resolve(host.cwd, name);
  const { plan, folder } = outcome;
  const counts = STATES.map((state) => `${output.counts[state]} ${state}`).join(', ');
  const count = STATES.reduce((sum, state) => sum + output.counts[state], 0);
  const table = plan.rows.at(0).table;
  async function* rows(): AsyncGenerator<ReportRow> {
    for (const isFailed of [true, false])
      for (const number of plan.mine())
        if ((output.resultOf(number) === 'failed') === isFailed) yield reportRow(number);
  }
  async function reportRow(number: number): Promise<ReportRow> {
    const { id, text, textFile, voice, file } = plan.rows.at(number);
    const sound = join(folder, file);
    const wave = await waveForm(sound, signal).catch(() => undefined);
    return {
      id,
      text: text ?? relative(host.cwd, textFile ?? ''),
      speaker: String(voice.speaker),
      state: output.resultOf(number) ?? '',
      error: output.messageOf(number),
      ...(wave && { file: relative(dirname(path), sound).split(sep).join('/'), ...wave }),
    };
  }
  const head = { title: table, summary: `${countOf(count, 'row')}: ${counts}.`, states: STATES };
  await writeText({ path, name, writer: host }, reportPage(head, rows()), signal);
}
