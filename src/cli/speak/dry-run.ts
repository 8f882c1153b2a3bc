import { segmentKey } from '../../cache/cached.ts';
import type { Store } from '../../cache/store.ts';
import { requestBody } from '../../client/client.ts';
import { ExitCode } from '../../error.ts';
import { visible } from '../../printable.ts';
import { openSegments } from '../../speech/caching.ts';
import { voiceOf } from '../../speech/connection.ts';
import { isKept, readText, segmentOptions, type Task } from '../../speech/job.ts';
import { checkOutput } from '../../speech/outputs.ts';
import type { Segment } from '../../text/segment.ts';
import { blankText } from '../../text/source.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { Context } from '../context.ts';
import { tell } from '../terminal/print.ts';

/** So many request bodies are shown with `--verbose`. */
const SHOWN_BODIES = 3;

/**
 * What a run would cost. Nothing is sent, and nothing is written but this; what is damaged in the cache goes.
 * @throws TtsError where the run would before it sends anything
 */
export async function dryRun(task: Task, context: Context): Promise<number> {
  const { host, notices, signal } = context;
  const { service, settings, speaker } = task;
  if (settings.subtitles) (await import('../../speech/subtitles.ts')).checkSubtitles(settings, host);
  const isLive = await checkOutput(settings, host);
  const voice = voiceOf(settings, speaker);
  const store = isKept(task) ? await openSegments(settings, context) : undefined;
  const count = new Count(
    store && service && { store, keyOf: (text) => segmentKey({ ...voice, url: service.url }, text) },
  );
  const bodies: string[] = [];
  for await (const segment of readText(task.order, segmentOptions(settings, isLive), host, signal)) {
    await count.add(segment);
    if (settings.verbose.value && bodies.length < SHOWN_BODIES) bodies.push(requestBody(segment.text, voice));
  }
  if (count.segments === 0) throw blankText();
  const price = settings.pricePer1000Chars?.value;
  const cost = { ...count.result, ...(price !== undefined && { price: count.priceAt(price) }) };
  const text = settings.json.value
    ? notices.inJson(asData(cost, bodies))
    : notices.redact(inWords(cost, bodies));
  tell(host.stdout, text);
  return ExitCode.ok;
}

interface Kept {
  readonly store: Store;
  readonly keyOf: (text: string) => string;
}

/** A text that comes twice is asked for once, where segments are kept. */
class Count {
  segments = 0;
  readonly #kept: Kept | undefined;
  readonly #seen = new Set<string>();
  #characters = 0;
  #inCache = 0;
  #charactersToSend = 0;

  constructor(kept: Kept | undefined) {
    this.#kept = kept;
  }

  get result() {
    const { segments } = this;
    const [characters, inCache] = [this.#characters, this.#inCache];
    return { characters, segments, requests: segments - inCache, inCache };
  }

  /** What the requests cost, exact to a ten-thousandth. */
  priceAt(per1000: number): number {
    return Math.round(this.#charactersToSend * per1000 * 10) / 10_000;
  }

  async add({ text }: Segment): Promise<void> {
    const characters = countCodePoints(text);
    this.segments += 1;
    this.#characters += characters;
    if (await this.#isKept(text)) this.#inCache += 1;
    else this.#charactersToSend += characters;
  }

  async #isKept(text: string): Promise<boolean> {
    if (!this.#kept) return false;
    const key = this.#kept.keyOf(text);
    const kept = this.#seen.has(key) || (await this.#kept.store.has(key));
    this.#seen.add(key);
    return kept;
  }
}

type Cost = Count['result'] & { readonly price?: number };

function asData(cost: Cost, bodies: readonly string[]): object {
  const shown = bodies.length > 0 && { bodies: bodies.map((body) => JSON.parse(body)) };
  return { dryRun: true, ...cost, ...shown };
}

function inWords(
  { characters, segments, requests, inCache, price }: Cost,
  bodies: readonly string[],
): string {
  return [
    `characters  ${characters}`,
    `segments    ${segments}`,
    `in cache    ${inCache}`,
    `requests    ${requests}`,
    ...(price === undefined ? [] : [`price       ${price}`]),
    ...bodies.map(visible),
  ].join('\n');
}
