import { counted, frameBytes, type PcmFormat, type Track } from '../../audio/pcm.ts';

/** Bytes that the pipe of a player holds, or more. */
const PIPE_BYTES = 256 * 1024;

/** What a player starts late, and what it and the device hold, is heard so much later. */
const LATENCY_MS = 500;

/**
 * How much of a track a player has played. No system tells it: what is in the pipe is not played yet, and a player plays
 * in real time. So the time counts since the player got sound, and stands still while it has none. A player that takes
 * more than that and the pipe can hold has played more.
 */
export class Hearing {
  readonly #pending: () => number;
  readonly #mostAhead: number;
  #bytesPerMs = 0;
  #given = 0;
  #played = 0;
  #at = 0;
  #isPaused = false;
  /** The time at which the last sound ended. It is `undefined` before, and while there is more. */
  #endedAt: number | undefined;

  /**
   * @param pending bytes that were given, but not written to the pipe yet
   * @param mostAhead bytes that the player can be ahead of what it plays
   */
  constructor(pending = () => 0, mostAhead = PIPE_BYTES) {
    this.#pending = pending;
    this.#mostAhead = mostAhead;
  }

  /** It counts PCM bytes. */
  get played(): number {
    // Not `performance`, which takes 2 ms to load.
    const now = Date.now();
    const taken = Math.max(0, this.#given - this.#pending());
    const passed = this.#isPaused ? 0 : Math.max(0, now - this.#at);
    const inTime = Math.min(taken, this.#played + this.#bytesPerMs * passed);
    const left = this.#given - this.#played;
    this.#played = Math.max(this.#played, inTime, taken - this.#mostAhead);
    if (this.#played === this.#given && this.#bytesPerMs > 0)
      this.#endedAt ??= Math.min(now, this.#at + left / this.#bytesPerMs);
    this.#at = now;
    return Math.floor(this.#played);
  }

  /** Seconds for which nothing has been heard since the last sound, at least. */
  get idle(): number {
    void this.played;
    return this.#endedAt === undefined ? 0 : Math.max(0, Date.now() - this.#endedAt - LATENCY_MS) / 1000;
  }

  /** The same track, whose sound is counted as it is given to the player. */
  of(track: Track): Track {
    const { pcm, format } = track;
    return { ...track, pcm: counted(pcm, (bytes) => this.give(bytes, format)) };
  }

  pause(isPaused: boolean): void {
    // The time until now counts.
    void this.played;
    this.#isPaused = isPaused;
  }

  /** What was given and is not played yet will not be played. */
  drop(): void {
    this.#played = this.played;
    this.#given = this.#played;
  }

  give(bytes: number, format: PcmFormat): void {
    this.#bytesPerMs = (format.sampleRate * frameBytes(format)) / 1000;
    // The time counts only while there is sound.
    void this.played;
    this.#given += bytes;
    this.#endedAt = undefined;
  }
}
