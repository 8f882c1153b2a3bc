import type { BatchPlan } from '../../batch/plan.ts';
import { KnownFiles, Survey } from '../../batch/survey.ts';
import { ExitCode } from '../../error.ts';
import { costOf } from '../../speech/job.ts';
import type { Context } from '../context.ts';
import { Estimate } from '../estimate.ts';
import { tellAbsent } from '../speak/notes.ts';
import { duration } from '../terminal/progress-line.ts';
import { countOf, grouped, priceInWords } from '../terminal/style.ts';
import type { BatchJob } from './job.ts';
import type { RowTexts } from './row-text.ts';

/** Sends nothing, and needs no key. */
export async function dryRun(job: BatchJob, plan: BatchPlan, context: Context): Promise<number> {
  await using _voices = job.voices;
  using known = new KnownFiles(job.folder.path, context.host.uid);
  const texts = await job.openTexts();
  const { signal, notices } = context;
  const survey = await Survey.take(plan, known, { folder: job.folder, texts, signal });
  tellAbsent(texts.named, notices);
  const estimate = await estimated(job, { plan, survey, texts }, signal);
  const { missing, stale, damaged, unchanged, empty } = survey.counts;
  const changed = stale + damaged;
  const rows = missing + changed + unchanged + empty;
  const { characters } = survey;
  const { charactersToSend, duration: seconds } = estimate.result;
  const price = job.pricing && costOf(estimate.paidCharacters, job.pricing);
  if (job.json) {
    const counts = { rows, new: missing, changed, unchanged, empty };
    notices.result({ dryRun: true, ...counts, characters, charactersToSend, duration: seconds, ...price });
    return ExitCode.ok;
  }
  const states = `${missing} new, ${changed} changed, ${unchanged} unchanged, ${empty} empty`;
  const sent = `${grouped(characters)} characters, ${grouped(charactersToSend)} to send`;
  const cost = price ? `, price ${priceInWords(price)}` : '';
  const length = `${estimate.isGuessed ? 'about ' : ''}${duration(seconds)} of sound`;
  notices.result(`${countOf(rows, 'row')}: ${states}; ${sent}${cost}; ${length}`);
  return ExitCode.ok;
}

interface Rows {
  readonly plan: BatchPlan;
  readonly survey: Survey;
  readonly texts: RowTexts;
}

async function estimated(
  { mix, voices }: BatchJob,
  { plan, survey, texts }: Rows,
  signal: AbortSignal,
): Promise<Estimate> {
  const estimate = new Estimate(mix);
  for (const number of survey.toDo()) {
    signal.throwIfAborted();
    const row = plan.rows.at(number);
    const voice = voices.as(row.voice);
    const kept = await voices.keptFor(voice);
    const written = kept ? undefined : texts.asWritten(row);
    if (written !== undefined) {
      // Only a cache asks for the single segments, and cutting a million rows takes a minute.
      estimate.addText(written, voice);
      continue;
    }
    let isFirst = true;
    for await (const segment of texts.read(row, voice, signal).segments) {
      await estimate.add(segment, isFirst, voice, kept);
      isFirst &&= segment.kind === 'rest';
    }
  }
  return estimate;
}
