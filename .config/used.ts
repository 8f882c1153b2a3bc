import type { Plugin } from 'rolldown';

/** Remembers of which entries of a table the build had no use. */
export class Used<T> {
  readonly #entries: readonly T[];
  #unused = new Set<T>();

  constructor(entries: readonly T[]) {
    this.#entries = entries;
  }

  add(entry: T): void {
    this.#unused.delete(entry);
  }

  /**
   * What a plugin needs to stop the build where a package has changed inside, so that no entry is lost in silence.
   * @param file that holds the table
   */
  hooks(file: string): Pick<Plugin, 'buildStart' | 'buildEnd'> {
    return {
      buildStart: () => {
        this.#unused = new Set(this.#entries);
      },
      buildEnd: (error) => {
        const [entry] = this.#unused;
        if (!error && entry)
          throw new Error(`nothing matches ${JSON.stringify(entry, shown)}: look at ${file}`);
      },
    };
  }
}

function shown(_: string, value: unknown): unknown {
  return value instanceof RegExp ? String(value) : value;
}
