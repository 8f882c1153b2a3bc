import { type Kept, segmentKey, type VoiceShape } from '../../cache/kept.ts';
import { ExitCode } from '../../error.ts';
import { visible } from '../../printable.ts';
import { costOf, type Resolved } from '../../speech/job.ts';
import { checkOutput } from '../../speech/outputs.ts';
import { RunText } from '../../speech/text.ts';
import type { Segment } from '../../text/segment.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { Context } from '../context.ts';
import { priceInWords } from '../terminal/style.ts';
import { warnOfRoom } from './cache-room.ts';

/** So many bodies are shown with `--verbose`. */
const SHOWN_BODIES = 3;

type DryRun = Pick<Extract<Resolved, { mode: 'dry-run' }>, 'job' | 'pricing'>;

/**
 * Sends nothing; removes damaged entries of the cache.
 * @throws TtsError as the run does before it sends anything
 */
export async function dryRun({ job, pricing }: DryRun, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  await using _voices = job.voices;
  if (job.subtitles) (await import('../../speech/subtitles.ts')).checkSubtitles(job.subtitles);
  const isLive = await checkOutput(job.output, host);
  const count = new Count(job.voice.shape, await job.voices.keptFor(job.voice));
  const bodies: string[] = [];
  const runText = await RunText.open(job.text, signal);
  for await (const segment of runText.segments(isLive, signal)) {
    if (segment.kind === 'rest') continue;
    await count.add(segment);
    if (notices.verbose && bodies.length < SHOWN_BODIES) bodies.push(job.voice.request(segment.text));
  }
  if (count.segments === 0) throw runText.blank();
  warnOfRoom(job, count.result.characters, context);
  const cost = { ...count.result, ...(pricing && costOf(count.result.charactersToSend, pricing)) };
  notices.result(job.json ? asData(cost, bodies) : inWords(cost, bodies));
  return ExitCode.ok;
}

class Count {
  segments = 0;
  readonly #shape: VoiceShape;
  readonly #kept: Kept | undefined;
  readonly #seen = new Set<string>();
  #characters = 0;
  #inCache = 0;
  #charactersToSend = 0;

  constructor(shape: VoiceShape, kept: Kept | undefined) {
    this.#shape = shape;
    this.#kept = kept;
  }

  get result() {
    const { segments } = this;
    const [characters, inCache, charactersToSend] = [this.#characters, this.#inCache, this.#charactersToSend];
    return { characters, charactersToSend, segments, requests: segments - inCache, inCache };
  }

  async add({ text, written }: Segment): Promise<void> {
    const characters = countCodePoints(text);
    this.segments += 1;
    this.#characters += characters;
    if (await this.#isKept(text, written)) this.#inCache += 1;
    else this.#charactersToSend += characters;
  }

  async #isKept(text: string, written: string): Promise<boolean> {
    if (!this.#kept) return false;
    const shape = this.#shape;
    const key = segmentKey(shape, text);
    const isKept = this.#seen.has(key) || (await this.#kept.has({ shape, text, written }));
    this.#seen.add(key);
    return isKept;
  }
}

type Cost = Count['result'] & Partial<ReturnType<typeof costOf>>;

function asData(cost: Cost, bodies: readonly string[]): object {
  const shown = bodies.length > 0 && { bodies: bodies.map((body) => JSON.parse(body)) };
  return { dryRun: true, ...cost, ...shown };
}

function inWords(
  { characters, charactersToSend, segments, requests, inCache, price, currency }: Cost,
  bodies: readonly string[],
): string {
  return [
    `characters  ${characters}`,
    `to send     ${charactersToSend}`,
    `segments    ${segments}`,
    `in cache    ${inCache}`,
    `requests    ${requests}`,
    ...(price === undefined ? [] : [`price       ${priceInWords({ price, ...(currency && { currency }) })}`]),
    ...bodies.map(visible),
  ].join('\n');
}
