import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import type { Outcome } from '../../batch/closing.ts';
import { isBatchFile } from '../../batch/manifest.ts';
import { assertTextWritable, writeText } from '../../batch/write-lines.ts';
import { usageError } from '../../error.ts';
import { assertUnlinked, realOf } from '../../files/own-file.ts';
import { unwritable } from '../../files/writable.ts';
import type { Context } from '../context.ts';
import { countOf } from '../terminal/style.ts';
import { type Approvals, approvalOf } from './approvals.ts';
import type { BatchOutput, RowResult } from './output.ts';
import { PAGE_START, type ReportRow, reportPage } from './report-page.ts';
import { waveForm } from './wave-form.ts';

const STATES: readonly RowResult[] = ['failed', 'made', 'unchanged', 'skipped'];

/**
 * This is checked before anything is sent.
 * @throws TtsError (output), (usage) for a link, for a file that the batch reads or writes, and for one that is not a report
 */
export function assertReportPlace(
  name: string,
  { plan, folder, tables }: Pick<Outcome, 'plan' | 'folder'> & { readonly tables: readonly string[] },
  host: Context['host'],
): void {
  const { cwd } = host;
  assertUnlinked(name, cwd);
  const path = resolve(cwd, name);
  const old = oldReport(path, name);
  const inFolder = relative(realOf(folder.path) ?? folder.path, realOf(path) ?? path)
    .split(sep)
    .join('/');
  const isWritten = isBatchFile(inFolder) || plan.hasFile(inFolder);
  const isOld = (read: string) => {
    const stats = statSync(resolve(cwd, read), { throwIfNoEntry: false });
    return stats !== undefined && stats.ino === old?.ino && stats.dev === old.dev;
  };
  if (isWritten || (old && (tables.some(isOld) || [...plan.textFiles()].some(isOld))))
    throw usageError(`--report ${name}: this batch reads or writes that file`, 'choose another name');
  if (old && !old.isReport)
    throw usageError(`--report ${name}: that file is not a report`, 'choose another name, or remove it');
  assertTextWritable({ path, name, writer: host });
}

function oldReport(path: string, name: string): { ino: number; dev: number; isReport: boolean } | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return (
      stats && {
        ino: stats.ino,
        dev: stats.dev,
        isReport: !stats.isFile() || stats.size === 0 || isPage(path),
      }
    );
  } catch (error) {
    throw unwritable(name, error);
  }
}

/** A report replaces an older one, and never a lexicon, a config file or a WAV. */
function isPage(path: string): boolean {
  const start = Buffer.alloc(PAGE_START.length);
  const fd = openSync(path, 'r');
  try {
    return readSync(fd, start) === start.length && start.toString('latin1') === PAGE_START;
  } finally {
    closeSync(fd);
  }
}

/**
 * Failed rows come first.
 * @throws TtsError (output)
 */
export async function writeReport(
  name: string,
  {
    outcome,
    output,
    approvals,
  }: { readonly outcome: Outcome; readonly output: BatchOutput; readonly approvals: Approvals | undefined },
  { host, notices, signal }: Context,
): Promise<void> {
  const path = resolve(host.cwd, name);
  const { plan, folder, known, survey } = outcome;
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
    const sound = folder.pathOf(file);
    const error = output.messageOf(number);
    const isThere = statSync(sound, { throwIfNoEntry: false })?.isFile();
    // Only a WAV shows its form.
    const wave = isThere && (await waveForm(sound, signal).catch(() => undefined));
    const state = output.resultOf(number) ?? '';
    const isCurrent = isThere && (state === 'made' || state === 'unchanged');
    const entry = isCurrent ? known.at(survey.entryOf(number)) : undefined;
    const approval = entry && approvalOf({ ...entry, id });
    // The page is made to be passed on: a table or a service may quote the key.
    return {
      id: notices.redactOwn(id),
      text: notices.redactOwn(text ?? relative(host.cwd, textFile ?? '')),
      speaker: String(voice.speaker),
      state,
      approval: approval && { ...approval, id: notices.redactOwn(id) },
      isApproved: approval && approvals && !approvals.faultOf(approval),
      error: error && notices.redact(error),
      ...(isThere && { file: relative(dirname(path), sound).split(sep).join('/'), ...wave }),
    };
  }
  const head = { title: table, summary: `${countOf(count, 'row')}: ${counts}.`, states: STATES };
  await writeText({ path, name, writer: host }, reportPage(head, rows()), signal);
}
