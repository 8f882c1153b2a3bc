/**
 * The entries that one run has read and made. Once they fill the cache, no more should be made: each would push out what the
 * same run needs first when it is repeated, and in the end all of it would be paid for again.
 */
export class Used {
  readonly #limit: number;
  readonly #keys = new Set<string>();
  #bytes = 0;

  /** @param limit what the cache may hold, in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#keys.size > 0 && this.#bytes >= this.#limit;
  }

  add(key: string, bytes: number): void {
    if (this.isFull || this.#keys.has(key)) return;
    this.#keys.add(key);
    this.#bytes += bytes;
  }
}
