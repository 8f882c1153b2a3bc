import { type Speech, secondsOf } from '../../audio/pcm.ts';
import type { Listener } from '../../speech/deliver.ts';
import type { Part } from '../../speech/look-ahead.ts';
import type { Heading } from '../../text/piece.ts';
import type { Segment } from '../../text/segment.ts';
import { countCodePoints } from '../../text/unicode.ts';
import type { VoiceEvent } from '../../voices/voice.ts';
import type { ProgressState, Waiting } from './progress-line.ts';

const STALLED_MS = 1000;

/** What is asked for and not answered yet is done to this share, taken together: some of it has not begun. */
const SHARE_OF_OPEN = 0.3;

/** What was asked for, ahead of what is heard. */
class Asked {
  /** Characters of open requests, by the index of their segment. */
  readonly #open = new Map<number, number>();
  #since: number | undefined;
  #answered = 0;

  onEvent(event: VoiceEvent): void {
    if (event.type === 'request') {
      this.#since ??= performance.now();
      this.#open.set(event.index, countCodePoints(event.text));
    } else if (event.type === 'answer') {
      this.#answered += this.#open.get(event.index) ?? 0;
      this.#open.delete(event.index);
    }
  }

  /** Before the first answer nothing is known of the pace. */
  get work(): ProgressState['work'] {
    if (this.#since === undefined || this.#answered === 0) return undefined;
    const open = [...this.#open.values()].reduce((sum, each) => sum + each, 0);
    const characters = this.#answered + SHARE_OF_OPEN * open;
    return { characters, seconds: (performance.now() - this.#since) / 1000 };
  }
}

export class ProgressCount implements Listener {
  total: ProgressState['total'];
  readonly #safe: (text: string) => string;
  readonly #isLive: boolean;
  readonly #started = performance.now();
  #segments = 0;
  #characters = 0;
  #audioSeconds = 0;
  /** The share that was heard goes from 0 to 1. */
  #current: { readonly segment: Segment; readonly speech: Speech; share: number } | undefined;
  #hasAsked = false;
  readonly #asked = new Asked();
  #pause: { readonly reason: string; readonly until: number } | undefined;
  #lastSound = Number.NEGATIVE_INFINITY;
  #heading: Heading | undefined;
  #chapters = 0;

  /** @param isLive true where the sound is heard while it comes, which takes as long as the sound */
  constructor(safe: (text: string) => string, isLive = false) {
    this.#safe = safe;
    this.#isLive = isLive;
  }

  get hasSound(): boolean {
    return this.#audioSeconds > 0;
  }

  onEvent(event: VoiceEvent): void {
    if (event.type === 'request') this.#hasAsked = true;
    this.#asked.onEvent(event);
    if (event.type !== 'retry') return;
    const { retry, message } = event.error;
    const status = retry?.status === undefined ? '' : ` (${retry.status})`;
    const reason = retry?.after === undefined ? this.#safe(message) : `the service asks for a pause${status}`;
    this.#pause = { reason, until: performance.now() + event.seconds * 1000 };
  }

  onPart({ segment, speech }: Part): void {
    if (speech) this.#current = { segment, speech, share: 0 };
    if (segment.chapter !== undefined && segment.chapter !== this.#heading) this.#chapters += 1;
    this.#heading = segment.chapter;
  }

  onPiece(length: number): void {
    if (!this.#current) return;
    const { format, bytes } = this.#current.speech;
    this.#audioSeconds += secondsOf(format, length);
    if (bytes) this.#current.share = Math.min(1, this.#current.share + length / bytes);
    this.#lastSound = performance.now();
  }

  onPartEnd(): void {
    if (!this.#current) return;
    this.#segments += 1;
    this.#characters += countCodePoints(this.#current.segment.text);
    this.#current = undefined;
  }

  get state(): ProgressState {
    const current = this.#current;
    const spoken = current ? countCodePoints(current.segment.text) * current.share : 0;
    return {
      waiting: this.#waiting(),
      chapter: this.#heading && { number: this.#chapters, title: this.#safe(this.#heading.title ?? '') },
      segments: this.#segments,
      characters: this.#characters + spoken,
      total: this.total,
      work: this.#isLive ? undefined : this.#asked.work,
      audioSeconds: this.#audioSeconds,
      seconds: (performance.now() - this.#started) / 1000,
    };
  }

  #waiting(): Waiting | undefined {
    const now = performance.now();
    if (this.#pause && now < this.#pause.until && now - this.#lastSound > STALLED_MS)
      return { reason: this.#pause.reason, secondsLeft: (this.#pause.until - now) / 1000 };
    if (this.hasSound) return undefined;
    const reason = this.#hasAsked ? 'waiting for the first sound' : 'waiting for the text';
    return { reason, secondsLeft: undefined };
  }
}
