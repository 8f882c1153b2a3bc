import type { Drops, Flush } from '../kit/drops.ts';
import type { TtsError } from '../kit/error.ts';
import type { Delivery, Sink } from '../out/sink.ts';
import { blankText } from '../read/source.ts';
import type { Turn } from '../sound/loudness.ts';
import {
  type Chapter,
  frameBytes,
  framesAtSpeed,
  inShortPieces,
  type PcmFormat,
  type Speech,
  sameFormat,
  silentFrames,
  silentPieces,
  type Tags,
  type Track,
} from '../sound/pcm.ts';
import { rateOf, type Speaker, type VoiceEvent } from '../sound/voice.ts';
import type { Heading } from '../text/piece.ts';
import type { Segment } from '../text/segment.ts';
import type { FellBack } from '../voices/fallback.ts';
import { BUDGET_BYTES, LookAhead, type LookAheadOptions, type Part, type PartInTurn } from './ahead.ts';
import type { FitPlan, Misfit } from './fit.ts';
import { type Mix, Mixer } from './mix.ts';

/** Records where the chapters of a track begin and end. The silence between two chapters belongs to the first. */
class Chapters implements Listener {
  readonly #ended: Chapter[] = [];
  #heading: Heading | undefined;
  #start = 0;

  /** Complete at the end of the run. */
  get list(): readonly Chapter[] {
    return this.#ended;
  }

  on(event: RunEvent): void {
    if (event.type === 'end') this.#end(event.at);
    if (event.type !== 'started' || !event.part.speech) return;
    const { at, pauseFrames } = event;
    const { chapter } = event.part.segment;
    if (chapter === this.#heading) return;
    this.#end(at);
    this.#heading = chapter;
    this.#start = at === pauseFrames ? 0 : at;
  }

  #end(end: number): void {
    if (!this.#heading) return;
    const { title, level } = this.#heading;
    this.#ended.push({ title, level, start: this.#start, end });
  }
}

/** Records where in a track each voice begins. */
class VoiceTurns implements Listener {
  readonly list: Turn[] = [];
  readonly #speakerOf: (segment: Segment) => unknown;

  constructor(speakerOf: (segment: Segment) => unknown) {
    this.#speakerOf = speakerOf;
  }

  on(event: RunEvent): void {
    if (event.type !== 'started' || !event.part.speech) return;
    const { segment, speech } = event.part;
    const voice = this.#speakerOf(segment);
    const start = event.at * frameBytes(speech.format);
    if (this.list.at(-1)?.voice !== voice) this.list.push({ start, voice });
  }
}

/** An event of a run, told to all listeners. `at` is a position in the sound of the run, in frames from its start. */
export type RunEvent =
  /** A segment is requested, before its turn to be heard. */
  | { readonly type: 'queued'; readonly segment: Segment }
  /** A voice sends a request, gets an answer or waits. */
  | { readonly type: 'voice'; readonly event: VoiceEvent; readonly segment: Segment }
  /** A segment failed and is skipped. */
  | { readonly type: 'skipped'; readonly segment: Segment; readonly error: TtsError }
  /** Another voice speaks from here on. */
  | { readonly type: 'fallback'; readonly how: FellBack }
  /** A part begins at `at`, after this silence. If it has no speech, the service sends its sound elsewhere. */
  | { readonly type: 'started'; readonly part: Part; readonly pauseFrames: number; readonly at: number }
  /** A piece of sound of the part that started last. The piece ends at `at`. */
  | { readonly type: 'sound'; readonly pcm: Uint8Array; readonly at: number }
  /** The next subtitle cue does not fit its time. */
  | { readonly type: 'misfit'; readonly misfit: Misfit }
  /** The part has ended. If it is broken, its other sound is missing, and another voice continues with the next part. */
  | { readonly type: 'spoken'; readonly isBroken: boolean }
  /** All sound has come, with the silence after it, but nothing is published yet. */
  | { readonly type: 'end'; readonly at: number };

export interface Listener {
  /** An error thrown here fails the run. */
  on(event: RunEvent): void | Promise<void>;
}

/** How the sound of a text is made from its parts. */
export interface TrackOptions extends Omit<LookAheadOptions, 'budgetBytes' | 'synthesize' | 'onSkipped'> {
  readonly speakerOf: (segment: Segment) => Speaker;
  /** The queue position of the first segment among the segments of all rows of a batch, or of all clients. */
  readonly order?: number | undefined;
  /** Bytes that prefetched sound may take: 64 MiB by default, less if several deliveries share them. */
  readonly budgetBytes?: number;
  readonly mix: Mix;
  readonly tags?: Tags | undefined;
  /** Set for a text of several voices: the others are converted to the sample rate of this one. */
  readonly lead?: Speaker | undefined;
  readonly listeners: readonly (Listener | undefined)[];
  /** Makes the error for a text without segments. */
  readonly blank?: () => TtsError;
}

export interface DeliverOptions extends TrackOptions {
  readonly sink: Sink;
}

/**
 * @returns `undefined` if the service sends the sound elsewhere
 * @throws TtsError; the sink then holds nothing that looks complete
 */
export async function deliver({ sink, ...options }: DeliverOptions): Promise<Delivery | undefined> {
  const { signal } = options;
  const over = new AbortController();
  const ahead = lookAhead({ ...options, signal: AbortSignal.any([signal, over.signal]) }, sink.isLive);
  try {
    // A blank text is an error even if the reader has left.
    const gone = sink.readerGone && ahead.begun.then(() => sink.readerGone);
    const track = await unlessGone(trackFrom(ahead, options, sink), gone);
    if (track === 'gone') return { bytes: 0, writtenBytes: 0, readerLeft: true };
    return track && withChapters(await sink.write(track, signal), track);
  } finally {
    over.abort(new Error('the delivery is over'));
  }
}

/**
 * Joins the sound of all segments of a text.
 * @param options a caller that reads less than the whole track has to abort the signal
 * @returns `undefined` if the service sends the sound elsewhere
 * @throws TtsError, here and while the track is read
 */
export function trackOf(options: TrackOptions): Promise<Track | undefined> {
  return trackFrom(lookAhead(options), options);
}

function lookAhead({ speakerOf, order: base, ...options }: TrackOptions, isHeardLive?: boolean): LookAhead {
  const listeners = new Listeners(options.listeners);
  const report = (segment: Segment) => (event: VoiceEvent) => {
    if (event.type === 'retry') options.patience?.noteRetry(event.error);
    listeners.tell({ type: 'voice', event, segment });
  };
  const synthesize: LookAheadOptions['synthesize'] = (segment, until) => {
    listeners.tell({ type: 'queued', segment });
    const { fallback } = options;
    const { voice, fields } = speakerOf(segment);
    const { text, written, index } = segment;
    const hasFallback = fallback !== undefined && !fallback.speaks(segment);
    const order = base === undefined ? undefined : base + index;
    const asked = { text, written, index, order, hasFallback, isHeardLive };
    return voice.source.speak({ ...asked, voice, fields, report: report(segment) }, until);
  };
  const onSkipped = (error: TtsError, segment: Segment) =>
    listeners.tell({ type: 'skipped', segment, error });
  return new LookAhead({ budgetBytes: BUDGET_BYTES, ...options, synthesize, onSkipped });
}

async function trackFrom(
  ahead: LookAhead,
  options: TrackOptions,
  { isLive, idle }: Pick<Sink, 'isLive' | 'idle'> = { isLive: true },
): Promise<Track | undefined> {
  const { speakerOf, mix, listeners, blank = blankText } = options;
  const chapters = new Chapters();
  const turns = mix.loudness === undefined ? undefined : new VoiceTurns(speakerOf);
  const all = new Listeners([...listeners, chapters, turns]);
  const first = await ahead.next();
  if (!first) throw blank();
  const { speech } = first;
  if (!speech) {
    all.tell({ type: 'started', part: first, pauseFrames: 0, at: 0 });
    return undefined;
  }
  const sampleRate = (await trackRate(first.segment, ahead, options)) ?? speech.format.sampleRate;
  const format = { ...speech.format, sampleRate };
  const isWhole =
    !mix.fit && ahead.isAlone && typeof first.segment.pause !== 'number' && sameFormat(format, speech.format);
  const mixer = new Mixer(mix, format);
  options.drops?.listen(() => mixer.restart());
  const context = trackContext(mixer, all, { ...options, isLive, idle });
  const track: Track = {
    format,
    bytes: isWhole ? bytesAtSpeed(speech, speakerOf(first.segment).speed) : undefined,
    pcm: mix.fit ? soundOfFilm(first, ahead, context, mix.fit) : soundOf(first, ahead, context),
    tags: options.tags ?? {},
    chapters: () => chapters.list,
    drops: options.drops,
  };
  if (!turns || mix.loudness === undefined) return track;
  const { levelled } = await import('../sound/loudness.ts');
  return levelled(track, { target: mix.loudness, turns: turns.list, isLive });
}

interface TrackContextOptions extends TrackOptions {
  readonly isLive: boolean;
  readonly idle: Sink['idle'] | undefined;
}

function trackContext(
  mixer: Mixer,
  listeners: Listeners,
  { speakerOf, mix, fallback, drops, signal, isLive, idle }: TrackContextOptions,
): TrackContext {
  const { format } = mixer;
  let at = 0;
  return {
    format,
    isLive,
    signal,
    flush: flushesOf(drops),
    // With a target loudness, sound held back for measuring may be heard before this part: idle time does not count.
    pauseBefore: (part) => mixer.pauseBefore(part, mix.loudness === undefined ? idle?.() : 0),
    adapted: (speech, segment) => mixer.adapted(speech, speakerOf(segment)),
    begin(part, pauseFrames) {
      const how = fallback?.begun(part.segment);
      if (how) listeners.tell({ type: 'fallback', how });
      if (part.speech) at += pauseFrames;
      listeners.tell({ type: 'started', part, pauseFrames, at });
    },
    sound(pcm) {
      at += pcm.length / frameBytes(format);
      listeners.tell({ type: 'sound', pcm, at });
    },
    misfit: (misfit) => listeners.tell({ type: 'misfit', misfit }),
    spoken: (isBroken) => listeners.wait({ type: 'spoken', isBroken }),
    end: (restFrames) => listeners.wait({ type: 'end', at: at + restFrames }),
  };
}

function bytesAtSpeed({ bytes, format }: Speech, speed = 1): number | undefined {
  const size = frameBytes(format);
  return bytes === undefined ? undefined : framesAtSpeed(bytes / size, speed) * size;
}

/** @returns `undefined` where the first part has the rate of the track */
async function trackRate(
  first: Segment,
  ahead: LookAhead,
  { lead, speakerOf }: TrackOptions,
): Promise<number | undefined> {
  if (!lead) return undefined;
  const known = rateOf(lead);
  if (known !== undefined || speakerOf(first) === lead) return known;
  return (await ahead.formatOf((segment) => speakerOf(segment) === lead))?.sampleRate;
}

function withChapters(delivery: Delivery, { format: { sampleRate }, chapters }: Track): Delivery {
  const list = chapters().map(({ title, start, end }) => ({
    title,
    start: start / sampleRate,
    end: end / sampleRate,
  }));
  return list.length === 0 || delivery.readerLeft ? delivery : { ...delivery, chapters: list };
}

async function unlessGone<T>(coming: Promise<T>, gone: Promise<void> | undefined): Promise<T | 'gone'> {
  if (!gone) return coming;
  coming.catch(() => {});
  return Promise.race([coming, gone.then(() => 'gone' as const)]);
}

/** Events that listeners handle at once. Only the end of a part, and of the run, may take them time. */
type SyncEvent = Exclude<RunEvent, { type: 'spoken' | 'end' }>;

/** Calls the listeners of a run one after the other. */
class Listeners {
  readonly #all: readonly Listener[];

  constructor(all: TrackOptions['listeners']) {
    this.#all = all.filter((listener) => listener !== undefined);
  }

  tell(event: SyncEvent): void {
    for (const listener of this.#all) void listener.on(event);
  }

  async wait(event: Extract<RunEvent, { type: 'spoken' | 'end' }>): Promise<void> {
    for (const listener of this.#all) await listener.on(event);
  }
}

/** Everything that joining the parts of a track needs from its run. */
export interface TrackContext {
  /** The format of the track. */
  readonly format: PcmFormat;
  readonly isLive: boolean;
  readonly signal: AbortSignal;
  /** @returns what to yield before the next part: a flush after a drop, otherwise nothing */
  flush(): readonly Flush[];
  /** @returns seconds of silence */
  pauseBefore(part: PartInTurn): number;
  /** @returns the sound in the format of the track */
  adapted(speech: Speech, segment: Segment): Promise<Speech>;
  begin(part: Part, pauseFrames: number): void;
  sound(pcm: Uint8Array): void;
  misfit(misfit: Misfit): void;
  spoken(isBroken: boolean): Promise<void>;
  /** @param restFrames silence after the last part */
  end(restFrames: number): Promise<void>;
}

/** Also notices a drop that came before the first part was read. */
function flushesOf(drops: Drops | undefined): TrackContext['flush'] {
  let last = drops?.flush;
  return () => {
    if (!drops || drops.flush === last) return [];
    last = drops.flush;
    return [last];
  };
}

async function* soundOf(
  first: PartInTurn,
  ahead: LookAhead,
  context: TrackContext,
): AsyncGenerator<Uint8Array> {
  for (let part: PartInTurn | undefined = first; part; part = await ahead.next()) {
    if (part.dropped?.aborted) continue;
    yield* context.flush();
    yield* soundOfPart(part, ahead, context);
  }
  const { silence = 0 } = ahead;
  yield* silentPieces(context.format, silence);
  await context.end(silentFrames(context.format, silence));
}

async function* soundOfPart(
  part: PartInTurn,
  ahead: LookAhead,
  context: TrackContext,
): AsyncGenerator<Uint8Array> {
  const { format, isLive } = context;
  const { dropped, segment } = part;
  const pause = context.pauseBefore(part);
  const speech = part.speech && (await context.adapted(part.speech, segment));
  if (dropped?.aborted) return;
  context.begin({ ...part, speech }, silentFrames(format, pause));
  if (!speech) return;
  for (const piece of silentPieces(format, pause)) if (!dropped?.aborted) yield piece;
  let isBroken = false;
  try {
    for await (const piece of isLive ? inShortPieces(speech.pcm, format) : speech.pcm) {
      if (dropped?.aborted) return;
      context.sound(piece);
      yield piece;
    }
  } catch (error) {
    if (!dropped?.aborted) ahead.continueAfter(error);
    isBroken = true;
  }
  if (!dropped?.aborted) await context.spoken(isBroken);
}

/** Speaks subtitle cues at their times. */
async function* soundOfFilm(
  first: PartInTurn,
  ahead: LookAhead,
  context: TrackContext,
  plan: FitPlan,
): AsyncGenerator<Uint8Array> {
  const { fittedSound } = await import('./fit.ts');
  await context.end(yield* fittedSound(first, ahead, plan, context));
}
