import { ExitCode } from '../../error.ts';
import { printable, visible } from '../../printable.ts';
import { roleIn } from '../../speech/cast/cast.ts';
import { costOf, type Resolved } from '../../speech/job.ts';
import { checkOutput } from '../../speech/outputs.ts';
import { RunText } from '../../speech/text.ts';
import type { Rest, Segment } from '../../text/segment.ts';
import type { Voice } from '../../voices/voice.ts';
import type { Context } from '../context.ts';
import { Estimate, type Estimated } from '../estimate.ts';
import { duration } from '../terminal/progress-line.ts';
import { priceInWords } from '../terminal/style.ts';
import { warnOfRoom } from './cache-room.ts';
import { ChapterCosts, chapterLines } from './chapter-costs.ts';
import { checkLanguage } from './language-check.ts';
import { tellAbsent, tellNamesBefore } from './notes.ts';

/** `--verbose` shows this many bodies. */
const SHOWN_BODIES = 3;

type DryRun = Pick<Extract<Resolved, { mode: 'dry-run' }>, 'job' | 'pricing'>;

/**
 * Sends nothing; removes damaged entries of the cache.
 * @throws TtsError as the run does before it sends anything, but not for its key
 */
export async function dryRun({ job, pricing }: DryRun, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  await using _voices = job.voices;
  if (job.subtitles) (await import('../../speech/subtitles.ts')).checkSubtitles(job.subtitles);
  const isLive = job.split ? false : await checkOutput(job.output, host);
  const estimate = new Estimate(job.mix);
  const bodies: string[] = [];
  const runText = await RunText.open(job.text, signal);
  const languageWarning = await checkLanguage(job, runText, context);
  await tellNamesBefore(job, runText, context);
  await openCache(job);
  const chapters = new ChapterCosts(estimate, pricing);
  let isFirst = true;
  for await (const segment of runText.segments(isLive, signal)) {
    if (segment.kind === 'segment') chapters.enter(segment.chapter);
    const voice = speakerOf(segment, job);
    await estimate.add(segment, isFirst, voice, await job.voices.keptFor(voice));
    if (segment.kind === 'rest') continue;
    isFirst = false;
    if (notices.verbose && bodies.length < SHOWN_BODIES) bodies.push(voice.request(segment.text));
  }
  chapters.enter(undefined);
  if (isFirst) throw runText.blank();
  tellAbsent(job, notices);
  warnOfRoom(job, estimate.result.duration, context);
  const cost = { ...estimate.result, ...(pricing && costOf(estimate.paidCharacters, pricing)) };
  const remarks = [...runText.remarks, languageWarning];
  const book = { chapters: chapters.list, remarks: remarks.filter((remark) => remark !== undefined) };
  notices.result(
    job.json ? asData(cost, book, bodies) : asText(cost, { ...book, bodies, isGuessed: estimate.isGuessed }),
  );
  return ExitCode.ok;
}

function speakerOf(item: Segment | Rest, { voice }: DryRun['job']): Voice {
  return item.kind === 'rest' ? voice : (roleIn(item)?.voice ?? voice);
}

/** The cut of the text looks for sound in the cache, once that is open. */
async function openCache({ voices, voice, cast }: DryRun['job']): Promise<void> {
  for (const each of [voice, ...(cast?.all ?? [])]) await voices.keptFor(each);
}

type Cost = Estimated & Partial<ReturnType<typeof costOf>>;

interface Book {
  readonly chapters: ChapterCosts['list'];
  /** What the reader has to say of the book, such as what was left out. */
  readonly remarks: readonly string[];
}

function asData(cost: Cost, { chapters, remarks }: Book, bodies: readonly string[]): object {
  const shown = bodies.length > 0 && { bodies: bodies.map((body) => JSON.parse(body)) };
  const book = { ...(chapters.length > 0 && { chapters }), ...(remarks.length > 0 && { remarks }) };
  return { dryRun: true, ...cost, ...book, ...shown };
}

function asText(
  { characters, charactersToSend, segments, requests, inCache, duration: seconds, price, currency }: Cost,
  {
    chapters,
    remarks,
    bodies,
    isGuessed,
  }: Book & { readonly bodies: readonly string[]; readonly isGuessed: boolean },
): string {
  return [
    `characters  ${characters}`,
    `to send     ${charactersToSend}`,
    `segments    ${segments}`,
    `in cache    ${inCache}`,
    `requests    ${requests}`,
    `length      ${isGuessed ? 'about ' : ''}${duration(seconds)}`,
    ...(price === undefined ? [] : [`price       ${priceInWords({ price, ...(currency && { currency }) })}`]),
    ...(chapters.length === 0 ? [] : [`chapters    ${chapters.length}`, ...chapterLines(chapters)]),
    ...remarks.map(printable),
    ...bodies.map(visible),
  ].join('\n');
}
