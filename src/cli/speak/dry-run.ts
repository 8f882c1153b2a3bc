import { ExitCode } from '../../error.ts';
import { visible } from '../../printable.ts';
import { Estimate, type Estimated } from '../../speech/estimate.ts';
import { costOf, type Resolved } from '../../speech/job.ts';
import { checkOutput } from '../../speech/outputs.ts';
import { RunText } from '../../speech/text.ts';
import type { Context } from '../context.ts';
import { duration } from '../terminal/progress-line.ts';
import { priceInWords } from '../terminal/style.ts';
import { warnOfRoom } from './cache-room.ts';

/** So many bodies are shown with `--verbose`. */
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
  const isLive = await checkOutput(job.output, host);
  const estimate = new Estimate(job.mix);
  const kept = await job.voices.keptFor(job.voice);
  const bodies: string[] = [];
  const runText = await RunText.open(job.text, signal);
  let isFirst = true;
  for await (const segment of runText.segments(isLive, signal)) {
    await estimate.add(segment, isFirst, job.voice, kept);
    if (segment.kind === 'rest') continue;
    isFirst = false;
    if (notices.verbose && bodies.length < SHOWN_BODIES) bodies.push(job.voice.request(segment.text));
  }
  if (isFirst) throw runText.blank();
  warnOfRoom(job, estimate.result.duration, context);
  const cost = { ...estimate.result, ...(pricing && costOf(estimate.paidCharacters, pricing)) };
  notices.result(job.json ? asData(cost, bodies) : inWords(cost, estimate.isGuessed, bodies));
  return ExitCode.ok;
}

type Cost = Estimated & Partial<ReturnType<typeof costOf>>;

function asData(cost: Cost, bodies: readonly string[]): object {
  const shown = bodies.length > 0 && { bodies: bodies.map((body) => JSON.parse(body)) };
  return { dryRun: true, ...cost, ...shown };
}

function inWords(
  { characters, charactersToSend, segments, requests, inCache, duration: seconds, price, currency }: Cost,
  isGuessed: boolean,
  bodies: readonly string[],
): string {
  return [
    `characters  ${characters}`,
    `to send     ${charactersToSend}`,
    `segments    ${segments}`,
    `in cache    ${inCache}`,
    `requests    ${requests}`,
    `length      ${isGuessed ? 'about ' : ''}${duration(seconds)}`,
    ...(price === undefined ? [] : [`price       ${priceInWords({ price, ...(currency && { currency }) })}`]),
    ...bodies.map(visible),
  ].join('\n');
}
