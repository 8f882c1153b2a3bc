import { writeSync } from 'node:fs';
import { passing } from '../audio/passing.ts';
import { frameBytes, type PcmFormat } from '../audio/pcm.ts';
import type { Part } from '../pipeline/look-ahead.ts';
import { pauseFrames } from '../pipeline/pauses.ts';
import type { PartFile } from '../sink/part-file.ts';
import { unwritable } from '../sink/unwritable.ts';
import type { Segment } from '../text/segment.ts';
import { folded, placed } from './cue.ts';
import type { Style } from './style.ts';

/** What would have them written elsewhere. */
export const ELSEWHERE = 'name another file with --subtitles';

/** Characters that are written at once. */
const BATCH = 1 << 16;

export interface SubtitlesOptions {
  readonly file: PartFile;
  /** As the user named it. */
  readonly name: string;
  readonly style: Style;
  /** Seconds of silence between two paragraphs. */
  readonly paragraphPause: number;
}

interface Heard {
  readonly segment: Segment;
  readonly format: PcmFormat;
  /** The frame at which its sound begins. */
  readonly start: number;
}

/**
 * Writes down when each segment is heard, from the frames that go by. The file appears only when all of the sound is
 * complete.
 */
export class Subtitles {
  readonly #options: SubtitlesOptions;
  #current: Heard | undefined;
  #frames = 0;
  #number = 0;
  #batch = '';

  constructor(options: SubtitlesOptions) {
    this.#options = options;
  }

  /** The part with its frames counted. Parts are watched one after the other, each before it is read. */
  watch(part: Part): Part {
    const { segment, speech } = part;
    if (!speech) return part;
    const { format } = speech;
    if (this.#current) this.#end(this.#current);
    else this.#write(this.#options.style.head(format.sampleRate));
    this.#frames += pauseFrames(segment, format, this.#options.paragraphPause);
    this.#current = { segment, format, start: this.#frames };
    const count = (piece: Uint8Array) => {
      this.#frames += piece.length / frameBytes(format);
    };
    return { segment, speech: { ...speech, pcm: passing(speech.pcm, { each: count }) } };
  }

  /**
   * All of the sound has gone by.
   * @throws TtsError (output) where the file cannot be written: as long as the sound is not published either
   */
  async complete(): Promise<void> {
    if (this.#current) this.#end(this.#current);
    this.#write(this.#options.style.tail);
    this.#flush();
    await this.#options.file.settle();
  }

  /** After {@link complete}, when the sound is where it belongs. */
  async publish(signal: AbortSignal): Promise<void> {
    await this.#options.file.publish(signal);
  }

  /** Leaves no trace. Without effect on what is published. */
  discard(): void {
    this.#options.file.discard();
  }

  #end({ segment, format, start }: Heard): void {
    const { text, file, line } = segment;
    const timed = { text: folded(text), start, end: this.#frames };
    this.#number += 1;
    const cue = { ...timed, number: this.#number, file, line, sentences: placed({ ...timed, text }) };
    this.#write(this.#options.style.cue(cue, format.sampleRate));
  }

  #write(text: string): void {
    this.#batch += text;
    if (this.#batch.length >= BATCH) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#batch);
    this.#batch = '';
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#options.file.fd, bytes, done);
    } catch (error) {
      throw unwritable(this.#options.name, error, ELSEWHERE);
    }
  }
}
