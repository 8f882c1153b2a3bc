import type { Source } from './reading.ts';

/** Notes whether a source holds more than blanks. */
export class Watched {
  readonly source: Source;
  hasBytes = false;
  isWritten = false;

  constructor(source: Source) {
    const { again, words } = source;
    this.source = {
      ...source,
      bytes: (signal) => this.#watch(source.bytes(signal)),
      again: again && ((signal) => this.#watch(again(signal))),
    };
    this.isWritten = (words ?? '').trim() !== '';
  }

  async *#watch(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      this.hasBytes ||= piece.length > 0;
      this.isWritten ||= piece.some((byte) => byte > SPACE && byte < ASCII_END);
      yield piece;
    }
  }
}

/** Printed characters of ASCII lie between these two. Other blanks consist of bytes beyond them. */
const SPACE = 0x20;
const ASCII_END = 0x7f;
