import type { RequestFields } from '../client/request.ts';
import type { Espeak } from '../engine/espeak/voices.ts';
import type { NumberedSource } from '../engine/external/voice-source.ts';
import type { RunContext } from '../host.ts';
import { loadSettings } from '../settings/load.ts';
import type { Flags, Settings } from '../settings/resolve.ts';
import { assertInputsKept } from './inputs-kept.ts';
import { type OutputPlan, planOutput } from './outputs.ts';
import { type Input, sourcesOf, stagesOf } from './readers.ts';
import { chooseService, type Endpoint, withListedNumber } from '../voices/service-choice.ts';
import { speakerOf } from './speakers/speaker-choice.ts';
import type { SubtitlesPlan } from './subtitles.ts';
import type { TextPlan } from './text.ts';

export interface SpeakRequest extends Input {
  readonly flags: Flags;
}

/** Does not depend on the text. */
export interface RunPlan {
  /** `undefined`: the built-in service. */
  readonly service: Endpoint | undefined;
  readonly espeak: Espeak | undefined;
  readonly sources: readonly NumberedSource[];
  readonly output: OutputPlan;
  readonly limits: RequestLimits;
  /** Seconds. */
  readonly paragraphPause: number;
  /** `undefined` keeps no segments. */
  readonly cacheBytes: number | undefined;
  readonly json: boolean;
}

export interface RequestLimits {
  readonly concurrency: number;
  readonly retries: number;
  readonly timeoutMs: number;
}

/** Resolved and checked. */
export interface SpeechJob extends RunPlan {
  readonly text: TextPlan;
  readonly fields: RequestFields;
  readonly espeakVoice: string | undefined;
  readonly isNumbered: boolean;
  readonly keepsGoing: boolean;
  readonly subtitles: SubtitlesPlan | undefined;
}

export interface Pricing {
  readonly per1000Chars: number;
  /** As the user writes it. */
  readonly currency: string | undefined;
}

export type Resolved =
  | { readonly mode: 'show-text'; readonly text: TextPlan }
  | { readonly mode: 'speak'; readonly job: SpeechJob }
  | { readonly mode: 'dry-run'; readonly job: SpeechJob; readonly pricing: Pricing | undefined };

/**
 * Settings end here. No output is opened and no text is sent; services and engines are asked for their speakers only.
 * @throws TtsError (usage, key, output)
 */
export async function resolveJob(request: SpeakRequest, context: RunContext): Promise<Resolved> {
  const { host } = context;
  const loaded = await loadSettings(request, context);
  const { settings: general, files } = loaded;
  const stages = await stagesOf(general, context);
  const textSources = () => sourcesOf(request, general, host);
  if (general.showText.value)
    return { mode: 'show-text', text: { sources: textSources, stages, ...cuttingOf(general) } };
  const output = planOutput(general, host);
  assertInputsKept(request.files, loaded, output, host);
  const service = await chooseService(general, { ...context, files });
  const openShelf = async () =>
    new (await import('./speakers/source-shelf.ts')).SourceShelf(general, context);
  const { no, settings, espeak, sources } = await speakerOf(
    general,
    service ? undefined : openShelf,
    context,
  ).catch(async (error) => {
    throw service ? await withListedNumber(error, general, service, context.signal) : error;
  });
  const { subtitles } = settings;
  const job: SpeechJob = {
    ...planRun(settings, { service, espeak, sources, output }),
    text: { sources: textSources, stages, ...cuttingOf(settings) },
    fields: fieldsOf(settings, no),
    espeakVoice: espeak?.voices.find(({ speaker }) => speaker.no === no)?.speaker.name,
    isNumbered: typeof general.speaker?.value === 'number',
    keepsGoing: settings.keepGoing.value,
    subtitles: subtitles && (await import('./subtitles.ts')).planSubtitles(subtitles.value, settings, host),
  };
  if (!settings.dryRun.value) return { mode: 'speak', job };
  return { mode: 'dry-run', job, pricing: pricingOf(settings) };
}

export function pricingOf({ pricePer1000Chars, currency }: Settings): Pricing | undefined {
  return pricePer1000Chars && { per1000Chars: pricePer1000Chars.value, currency: currency?.value };
}

/** Exact to a ten-thousandth. */
export function costOf(characters: number, { per1000Chars, currency }: Pricing) {
  const price = Math.round(characters * per1000Chars * 10) / 10_000;
  return { price, ...(currency !== undefined && { currency }) };
}

export function planRun(
  settings: Settings,
  { service, espeak, sources, output }: Pick<RunPlan, 'service' | 'espeak' | 'sources' | 'output'>,
): RunPlan {
  return {
    service,
    espeak,
    sources,
    output,
    limits: limitsOf(settings),
    paragraphPause: settings.paragraphPause.value,
    cacheBytes: cacheBytesOf(settings, service, sources),
    json: settings.json.value,
  };
}

/** Built-in voices cost nothing, and sound for a callback does not come here. */
export function cacheBytesOf(
  { cache, cacheSize, callbackUrl }: Settings,
  service: Endpoint | undefined,
  sources: readonly NumberedSource[],
): number | undefined {
  const isWorth = service ? !service.mayBeForged : sources.length > 0;
  const isKept = isWorth && cache.value && !callbackUrl;
  return isKept ? cacheSize.value : undefined;
}

export function limitsOf({ concurrency, retries, timeout }: Settings): RequestLimits {
  return { concurrency: concurrency.value, retries: retries.value, timeoutMs: timeout.value * 1000 };
}

export function fieldsOf(settings: Settings, speaker: number): RequestFields {
  return {
    speaker,
    stream: settings.stream?.value,
    sampleRate: settings.sampleRate?.value,
    instructions: settings.instructions?.value,
    callbackUrl: settings.callbackUrl?.value.href,
  };
}

/** With subtitles each sentence is a segment, unless `--max-chars` was typed. */
function cuttingOf(settings: Settings): Omit<TextPlan, 'sources' | 'stages'> {
  const { callbackUrl, maxChars, subtitles } = settings;
  if (callbackUrl)
    return { voice: { maxChars: Number.MAX_SAFE_INTEGER }, pace: 'whole', cutsParagraphs: false };
  const bySentence = subtitles && maxChars.origin.place !== 'option';
  return {
    voice: { maxChars: maxChars.value },
    pace: bySentence ? 'sentence' : 'by output',
    cutsParagraphs: cutsParagraphs(settings),
  };
}

export function cutsParagraphs({ paragraphPause }: Settings): boolean {
  return paragraphPause.origin.place !== 'default';
}
