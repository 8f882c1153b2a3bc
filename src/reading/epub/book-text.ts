import type { Stage } from '../../text/live.ts';
import { labelOf, type Piece } from '../../text/piece.ts';
import { Blocks } from '../html/blocks.ts';
import { Markup } from '../html/markup.ts';
import type { Notes } from '../html/notes.ts';
import type { ChapterStart, HtmlOptions, Rules } from '../html/rules.ts';
import type { Contents, Entry } from './contents.ts';
import { leftOutAs } from './left-out.ts';

export interface EpubOptions extends HtmlOptions {
  /** Title pages, contents and the like are read, too. */
  readonly readsAll: boolean;
}

/** The text of a book, one document after the other. */
export class BookText {
  hasText = false;
  /** What the book calls the parts that were left out. */
  readonly leftOut = new Set<string>();
  readonly #source: string;
  readonly #blocks: Blocks;
  readonly #rules: { notes: Notes | undefined } & Rules;
  /** The keys are documents, then fragments. */
  readonly #chapters = new Map<string, Map<string, ChapterStart>>();
  #ready: Piece[] = [];
  /** The chapters of the document that is read. */
  #open = new Map<string, ChapterStart>();

  constructor(source: string, { entries }: Contents, options: EpubOptions) {
    this.#source = source;
    for (const entry of entries) this.#add(entry);
    this.#rules = {
      notes: undefined,
      leavesOut: (element, _, meanings) => {
        const part = options.readsAll ? undefined : leftOutAs(meanings);
        if (part !== undefined) this.leftOut.add(part);
        return element === 'nav' || part !== undefined;
      },
      chapterAt: (id) => this.#take(id),
      place: () => ({ source }),
      piece: (piece) => {
        this.hasText ||= piece.kind === 'text';
        this.#ready.push(piece);
      },
    };
    this.#blocks = new Blocks(options, this.#rules);
  }

  fragmentsIn(path: string): ReadonlySet<string> {
    const fragments = new Set(this.#chapters.get(path)?.keys());
    fragments.delete('');
    return fragments;
  }

  /** @param found the fragments that the document has; chapters of others begin where it begins */
  document(path: string, found: ReadonlySet<string>, notes: Notes): Stage<string, Piece> {
    this.#rules.notes = notes;
    const chapters = [...(this.#chapters.get(path) ?? [])];
    this.#open = new Map(chapters.filter(([fragment]) => found.has(fragment)));
    const first = chapters.find(([fragment]) => !found.has(fragment));
    const markup = new Markup(this.#blocks, `${path} in ${labelOf(this.#source)}`);
    const take = () => this.#ready.splice(0);
    if (first) this.#blocks.startChapter(first[1]);
    return {
      push(text) {
        markup.write(text);
        return take();
      },
      end: () => {
        markup.end();
        this.#blocks.end();
        return take();
      },
    };
  }

  /** Of several lines for one place, the one furthest inside counts. */
  #add({ path, fragment, title, level }: Entry): void {
    const chapters = this.#chapters.get(path) ?? new Map<string, ChapterStart>();
    this.#chapters.set(path, chapters);
    const before = chapters.get(fragment);
    if (!before || before.level < level) chapters.set(fragment, { title, level });
  }

  #take(id: string): ChapterStart | undefined {
    const chapter = this.#open.get(id);
    this.#open.delete(id);
    return chapter;
  }
}
