import {
  describeFormat,
  type PcmFormat,
  type Speech,
  sameFormat,
  silence,
  silentFrames,
  untagged,
} from '../audio/pcm.ts';
import { ExitCode, TtsError } from '../error.ts';
import type { Delivery, Sink } from '../sink/sink.ts';
import type { Segment } from '../text/segment.ts';
import { LookAhead, type LookAheadOptions, type Part } from './look-ahead.ts';
import { BUDGET_BYTES } from './prefetch.ts';
import { blankText } from './text.ts';

export interface Listener {
  /** @param pauseFrames silence in front of the part */
  onPart?(part: Part, pauseFrames: number): void;
  /** Pauses are not counted. */
  onPiece?(bytes: number): void;
  onPartEnd?(): void;
  /** Runs before the sound is published. An error fails the run. */
  complete?(): Promise<void>;
}

export interface DeliverOptions extends Omit<LookAheadOptions, 'budgetBytes'> {
  /** Of waiting segments: 64 MiB, unless deliveries share them. */
  readonly budgetBytes?: number;
  /** Seconds. */
  readonly paragraphPause: number;
  readonly sink: Sink;
  readonly listeners: readonly (Listener | undefined)[];
}

/**
 * @returns `undefined` if the service sends the sound elsewhere
 * @throws TtsError; then the sink holds nothing that looks whole
 */
export async function deliver(options: DeliverOptions): Promise<Delivery | undefined> {
  const { sink, signal } = options;
  const tap = tapOf(options.listeners);
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const ahead = new LookAhead({ budgetBytes: BUDGET_BYTES, ...options, signal: until });
  try {
    // A blank text is an error even if the reader has left.
    const left = sink.left && ahead.begun.then(() => sink.left);
    const first = await unlessLeft(ahead.next(), left);
    if (first === 'left') return { bytes: 0, writtenBytes: 0, readerLeft: true };
    if (!first) throw blankText();
    const { speech } = first;
    if (!speech) {
      tap.onPart(first, 0);
      return undefined;
    }
    const bytes = ahead.isSingle ? speech.bytes : undefined;
    const pcm = soundOf({ ...first, speech }, ahead, { ...options, tap });
    return await sink.write(untagged({ format: speech.format, bytes, pcm }), signal);
  } finally {
    over.abort(new Error('the delivery is over'));
  }
}

async function unlessLeft<T>(coming: Promise<T>, left: Promise<void> | undefined): Promise<T | 'left'> {
  if (!left) return coming;
  coming.catch(() => {});
  return Promise.race([coming, left.then(() => 'left' as const)]);
}

interface SoundingPart extends Part {
  readonly speech: Speech;
}

function tapOf(all: DeliverOptions['listeners']): Required<Listener> {
  const listeners = all.filter((listener) => listener !== undefined);
  return {
    onPart: (part, pauseFrames) => listeners.forEach((listener) => void listener.onPart?.(part, pauseFrames)),
    onPiece: (bytes) => listeners.forEach((listener) => void listener.onPiece?.(bytes)),
    onPartEnd: () => listeners.forEach((listener) => void listener.onPartEnd?.()),
    async complete() {
      for (const listener of listeners) await listener.complete?.();
    },
  };
}

async function* soundOf(
  first: SoundingPart,
  ahead: LookAhead,
  { tap, paragraphPause }: Pick<DeliverOptions, 'paragraphPause'> & { readonly tap: Required<Listener> },
): AsyncGenerator<Uint8Array> {
  const { format } = first.speech;
  let number = 0;
  for (let part: Part | undefined = first; part; part = await ahead.next()) {
    const { segment, speech } = part;
    const pauseSeconds = secondsBefore(segment, paragraphPause);
    tap.onPart(part, silentFrames(format, pauseSeconds));
    if (!speech) continue;
    number += 1;
    if (!sameFormat(speech.format, format)) throw formatChanged(number, format, speech.format);
    if (number > 1) yield* silence(format, pauseSeconds);
    try {
      for await (const piece of speech.pcm) {
        tap.onPiece(piece.length);
        yield piece;
      }
    } catch (error) {
      throw ahead.withLoss(error, segment);
    }
    tap.onPartEnd();
  }
  await tap.complete();
}

/** A border is silent only between two segments. */
function secondsBefore({ pause, index }: Segment, paragraphPause: number): number {
  if (typeof pause === 'number') return pause;
  return pause === 'none' || index === 0 ? 0 : paragraphPause;
}

function formatChanged(number: number, first: PcmFormat, other: PcmFormat): TtsError {
  return new TtsError(
    `part ${number} of the speech came as ${describeFormat(other)}, the first as ${describeFormat(first)}`,
    { exitCode: ExitCode.service, hint: hintFor(first, other) },
  );
}

function hintFor(first: PcmFormat, other: PcmFormat): string {
  if (sameFormat({ ...first, sampleRate: other.sampleRate }, other))
    return '--no-cache asks for all parts anew, if some were kept from before; else set --sample-rate, or another one';
  const what = first.channels === other.channels ? 'kind of samples' : 'number of channels';
  return `the service has to keep to one ${what}; a larger --max-chars makes fewer parts`;
}
