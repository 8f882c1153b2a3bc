/** The number of different voices after which older ones are forgotten. Instructions may differ in every row of a batch. */
const MOST_REMEMBERED = 1000;

/**
 * Forgets what was not used for a long time. Two maps take turns, since an entry that is deleted and set again at each use leaves
 * 200 bytes among the old objects of V8, which are collected late.
 */
export class Recent<T> {
  #younger = new Map<string, T>();
  #older = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#younger.get(key) ?? this.#older.get(key);
  }

  /** This counts as use. */
  set(key: string, item: T): void {
    this.#younger.set(key, item);
    if (this.#younger.size < MOST_REMEMBERED) return;
    this.#older = this.#younger;
    this.#younger = new Map();
  }
}
