/** The largest number of voices that are remembered. Instructions may differ in every row of a batch. */
const MOST_REMEMBERED = 1000;

/** Forgets what was not used for the longest time. */
export class Recent<T> {
  readonly #items = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#items.get(key);
  }

  /** This counts as use. */
  set(key: string, item: T): void {
    this.#items.delete(key);
    this.#items.set(key, item);
    const [oldest] = this.#items.keys();
    if (this.#items.size > MOST_REMEMBERED && oldest !== undefined) this.#items.delete(oldest);
  }
}
