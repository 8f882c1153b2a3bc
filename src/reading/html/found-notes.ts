import type { NoteIndex } from './note-index.ts';
import type { Notes } from './notes.ts';
import type { Link } from './scan.ts';

interface Target {
  /** The document; empty where there is only one. */
  readonly path: string;
  readonly fragment: string;
}

interface FoundNotesOptions {
  readonly readsNotes: boolean;
  /** @returns `undefined` for a link that leads out of the book */
  resolve(href: string, from: string): Target | undefined;
  /** Looks for the notes of a document. */
  index(path: string): Promise<NoteIndex | undefined>;
}

/** Indexes of documents that are kept for the next one. */
const MOST_INDEXES = 4;

/** The notes that the links of the documents lead to. */
export class FoundNotes {
  readonly #options: FoundNotesOptions;
  readonly #texts = new Map<string, string>();
  readonly #indexes = new Map<string, NoteIndex | undefined>();

  constructor(options: FoundNotesOptions) {
    this.#options = options;
  }

  /** Looks at the links of a document before it is read. */
  async prepare(path: string, links: readonly Link[]): Promise<void> {
    const { readsNotes, resolve } = this.#options;
    const found = links.flatMap((link) => {
      const target = resolve(link.href, path);
      return target ? [{ link, target }] : [];
    });
    // Links into one document follow each other, so that it is looked at once.
    for (const { link, target } of found.toSorted((a, b) => compared(a.target.path, b.target.path))) {
      const isCertain = link.saysReference && !readsNotes;
      const note = isCertain ? '' : (await this.#indexOf(target.path))?.find(target.fragment, link);
      if (note === undefined || (note === '' && readsNotes)) continue;
      this.#texts.set(keyOf(target), readsNotes ? note : '');
    }
  }

  /** @param said the notes that were read before, of this document and of others: none is read twice */
  of(path: string, said: Set<string>): Notes {
    const { readsNotes, resolve } = this.#options;
    const keyFor = (href: string) => {
      const target = resolve(href, path);
      return target && keyOf(target);
    };
    const textOf = (key: string | undefined) => (key === undefined ? undefined : this.#texts.get(key));
    let skipped = 0;
    return {
      get skipped() {
        return skipped;
      },
      isReference: (href) => textOf(keyFor(href)) !== undefined,
      isNote: (fragment) => this.#texts.has(keyOf({ path, fragment })),
      take: (href) => {
        if (!readsNotes) skipped += 1;
        const key = keyFor(href);
        if (!readsNotes || key === undefined || said.has(key)) return undefined;
        said.add(key);
        return textOf(key);
      },
    };
  }

  async #indexOf(path: string): Promise<NoteIndex | undefined> {
    if (!this.#indexes.has(path)) {
      const [oldest] = this.#indexes.keys();
      if (this.#indexes.size >= MOST_INDEXES && oldest !== undefined) this.#indexes.delete(oldest);
      this.#indexes.set(path, await this.#options.index(path));
    }
    return this.#indexes.get(path);
  }
}

function compared(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function keyOf({ path, fragment }: Target): string {
  return `${path}#${fragment}`;
}

const NOTE_NAME =
  /^(?:_?(?:ftn|edn)|fn|footnote|note|endnote|cite_?note|sdfootnote|rearnote)[-_:.]?(?:[a-z]+[-_:.]?)?\d/iu;

/** The notes of a page that is read once: their names have to say what they are. */
export class NamedNotes implements Notes {
  skipped = 0;
  readonly #referred = new Set<string>();
  readonly #readsNotes: boolean;

  constructor(readsNotes: boolean) {
    this.#readsNotes = readsNotes;
  }

  isReference(href: string): boolean {
    return href.startsWith('#') && NOTE_NAME.test(href.slice(1));
  }

  take(href: string): undefined {
    if (this.#readsNotes) return;
    this.skipped += 1;
    if (href.startsWith('#')) this.#referred.add(href.slice(1));
  }

  isNote(id: string): boolean {
    return this.#referred.has(id);
  }
}
