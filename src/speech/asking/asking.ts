import { Arrivals, singleItem } from '../../async.ts';
import type { Speech } from '../../audio/pcm.ts';
import { Dropped, type Drops } from '../../drops.ts';
import type { Segment } from '../../text/segment.ts';
import type { Fallback, Patience } from './fallback.ts';
import { type Budget, Prefetch } from './prefetch.ts';

/** A segment that is asked for. */
export interface StartedPart {
  readonly segment: Segment;
  /** It aborts when the part is not wanted any more. */
  readonly dropped: AbortSignal | undefined;
  sound: Prefetch;
  /** Ends the request, and drops what came of it. */
  stop(): void;
}

export interface AskingOptions {
  readonly synthesize: (segment: Segment, signal: AbortSignal) => Promise<Speech | undefined>;
  readonly signal: AbortSignal;
  readonly fallback?: Pick<Fallback, 'speaks' | 'takesOver'> | undefined;
  readonly patience?: Pick<Patience, 'milliseconds' | 'late'> | undefined;
  /** At each of them, all that was asked for is not wanted any more. */
  readonly drops?: Drops | undefined;
}

/**
 * The failure of a part that no other voice speaks.
 * @param isWithin true where some of its sound has come
 */
type OnFailure = (error: unknown, segment: Segment, isWithin: boolean) => void;

/** Asks for the sound of segments. Where their voice fails, another one may speak it and all after it. */
export class Asking {
  readonly #options: AskingOptions;
  readonly #budget: Budget;
  readonly #onFailure: OnFailure;
  /** The parts whose turn has not come. */
  readonly #waiting = new Set<StartedPart>();
  /** The part in its turn, until a drop. */
  head: StartedPart | undefined;

  constructor(options: AskingOptions, budget: Budget, onFailure: OnFailure) {
    this.#options = options;
    this.#budget = budget;
    this.#onFailure = onFailure;
  }

  start(segment: Segment): StartedPart {
    const part = this.#ask(segment);
    this.#waiting.add(part);
    return part;
  }

  /**
   * Waits for the part, which is the next one that is heard.
   * @throws the error of the part, if no other voice speaks it
   */
  async turnOf(part: StartedPart): Promise<Speech | undefined> {
    try {
      for (;;) {
        const { sound } = part;
        const speech = await this.#begun(part).catch((error) => {
          if (part.sound === sound) throw error;
          return undefined;
        });
        if (part.sound !== sound) continue;
        this.head = part;
        const { patience, signal } = this.#options;
        return speech && patience ? { ...speech, pcm: inTime(speech.pcm, patience, signal) } : speech;
      }
    } finally {
      this.#waiting.delete(part);
    }
  }

  /**
   * After a failure inside the part in its turn, of which some was heard.
   * @returns false if no other voice speaks on with the next part
   */
  goesOnBehind(head: StartedPart, error: unknown): boolean {
    if (!this.#fallBack(error, head.segment, true)) return false;
    head.stop();
    return true;
  }

  /** Who waits for a part gets `Dropped`. */
  drop(): void {
    const parts = [...this.#waiting, ...(this.head ? [this.head] : [])];
    this.#waiting.clear();
    this.head = undefined;
    for (const part of parts) part.stop();
  }

  /** Only then a part may be asked for again. */
  get #maySwitch(): boolean {
    const { fallback, patience } = this.#options;
    return fallback !== undefined || patience !== undefined;
  }

  #ask(segment: Segment): StartedPart {
    const { synthesize, signal: all, drops } = this.#options;
    const over = new AbortController();
    const signal = this.#maySwitch || drops ? AbortSignal.any([all, over.signal]) : all;
    const sound = new Prefetch(synthesize(segment, signal), this.#budget, {
      signal,
      onFailure: (error, isWithin) => this.#failed({ segment, sound }, error, isWithin),
    });
    const stop = () => {
      over.abort(new Dropped('this sound is not needed'));
      sound.drop();
    };
    return { segment, dropped: drops?.signal, sound, stop };
  }

  #failed({ segment, sound }: Pick<StartedPart, 'segment' | 'sound'>, error: unknown, isWithin: boolean) {
    const isHead = this.head?.sound === sound;
    const isAwaited = isHead || [...this.#waiting].some((part) => part.sound === sound);
    // What has come of the part in its turn is heard before its failure.
    if (!isAwaited || (isHead && this.#options.fallback)) return;
    if (!this.#fallBack(error, segment, false)) this.#onFailure(error, segment, isWithin);
  }

  #fallBack(error: unknown, failed: Segment, isBroken: boolean): boolean {
    const { fallback } = this.#options;
    const before = [...this.#waiting].filter(({ segment }) => !fallback?.speaks(segment));
    if (!fallback?.takesOver(error, failed, isBroken)) return false;
    for (const part of before) {
      if (!fallback.speaks(part.segment)) continue;
      const { stop } = part;
      Object.assign(part, this.#ask(part.segment));
      stop();
    }
    return true;
  }

  /** Resolves with the first sound, where another voice may still speak the part. */
  async #begun({ segment, sound }: StartedPart): Promise<Speech | undefined> {
    const { patience, signal } = this.#options;
    sound.takeTurn();
    if (!this.#maySwitch) return sound.speech;
    const begun = sound.begun.then(() => sound.speech);
    if (!patience) return begun;
    using arrivals = new Arrivals(singleItem(begun), signal);
    const arrival = await arrivals.next(patience.milliseconds);
    if (arrival) return arrival.value;
    const error = patience.late();
    if (!this.#fallBack(error, segment, false)) throw error;
    return undefined;
  }
}

async function* inTime(
  pcm: AsyncIterable<Uint8Array>,
  patience: NonNullable<AskingOptions['patience']>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  using arrivals = new Arrivals(pcm, signal);
  for (;;) {
    const next = await arrivals.next(patience.milliseconds);
    if (!next) throw patience.late();
    if (next.done) return;
    yield next.value;
  }
}
