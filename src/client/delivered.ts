import { ExitCode, TtsError } from '../error.ts';

/** Goes on from the checksum of the bytes in front; 0 where there are none. */
export type Checksum = (bytes: Uint8Array, before: number) => number;

/** What was delivered of a sound, so that another rendering of it can go on behind. */
export class Delivered {
  #bytes = 0;
  #checksum = 0;
  #isOneTake = true;
  readonly #checksumOf: Checksum | undefined;
  readonly #differs: () => void;

  /**
   * @param checksum none where nobody needs it: it takes a seventh of the time of a large answer
   * @param differs called where another rendering does not begin like the first: it may be spoken differently
   */
  constructor(checksum: Checksum | undefined, differs: () => void) {
    this.#checksumOf = checksum;
    this.#differs = differs;
  }

  /** Whether every rendering began like the first, as far as somebody looked. */
  get isOneTake(): boolean {
    return this.#isOneTake;
  }

  count(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#checksum = this.#after(piece, this.#checksum);
  }

  /**
   * The samples that were not delivered before. Pieces end at frame borders, and so does what was delivered.
   * @throws TtsError (service), to be tried again, when there are fewer
   */
  behind(pcm: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return this.#bytes === 0 ? pcm : this.#behind(pcm, this.#bytes);
  }

  async *#behind(pcm: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
    const expected = this.#checksum;
    let left = bytes;
    let checksum = 0;
    for await (const piece of pcm) {
      if (left === 0) {
        yield piece;
        continue;
      }
      const known = piece.subarray(0, left);
      checksum = this.#after(known, checksum);
      left -= known.length;
      if (left === 0 && checksum !== expected) {
        this.#isOneTake = false;
        this.#differs();
      }
      if (known.length < piece.length) yield piece.subarray(known.length);
    }
    if (left > 0)
      throw new TtsError('on retry, the service sent less audio than before', {
        exitCode: ExitCode.service,
        hint: 'try again without --stream',
        retry: {},
      });
  }

  #after(piece: Uint8Array, checksum: number): number {
    return this.#checksumOf?.(piece, checksum) ?? 0;
  }
}
