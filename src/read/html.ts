import { labelOf, type Piece, type Place, writtenOf } from '../text/piece.ts';
import { inTurn, through } from '../text/stage.ts';
import { hasWord } from '../text/unicode.ts';
import { MarkupBook } from './gutenberg.ts';
import { Blocks } from './html-blocks.ts';
import { FURNITURE_ROLES, PAGE_FURNITURE } from './html-elements.ts';
import { FoundNotes, indexed, NamedNotes, type Notes, skippedNotes } from './html-notes.ts';
import { Markup, MarkupDecoder, scanned } from './html-parse.ts';
import type { HtmlOptions, Reading, Source } from './reading.ts';
import { everyTime } from './source.ts';

/** @throws TtsError (usage) for what is not text */
export async function openHtml(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const found = source.again && (await notesIn(name, source.again, options, signal));
  const bytes = everyTime(source);
  return {
    source,
    async *pieces(until, { inFront, onRemark } = {}) {
      const notes = found?.of('', new Set()) ?? new NamedNotes(options.readsNotes);
      const decoder = new MarkupDecoder(name);
      const characters = inFront ? inTurn(decoder, inFront) : decoder;
      const book = options.readsAll ? undefined : new MarkupBook(onRemark ?? (() => {}));
      const page = new Page(source.name, options, notes, book);
      yield* through(bytes(until), inTurn(characters, book ? inTurn(page, book) : page));
      const remark = skippedNotes(notes.skipped);
      if (remark !== undefined) onRemark?.(remark);
    },
  };
}

/** Reads the page to its end. */
async function notesIn(
  name: string,
  again: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { readsNotes }: HtmlOptions,
  signal: AbortSignal,
): Promise<FoundNotes> {
  const characters = () => through(again(signal), new MarkupDecoder(name));
  const notes = new FoundNotes({
    readsNotes,
    resolve: (href) => (href.startsWith('#') ? { path: '', fragment: href.slice(1) } : undefined),
    index: () => indexed(characters(), name),
  });
  const { links } = await scanned(characters(), new Set());
  await notes.prepare('', links);
  return notes;
}

type Scope = 'main' | 'article' | 'body' | 'form';

/** UTF-16 units. More is not held: the whole body is read then. */
const MOST_HELD = 4 * 1024 * 1024;
/** What holding a piece costs besides its text, in the same unit. */
const PER_PIECE = 16;

/**
 * The text of a web page: its main part, otherwise its only article, otherwise its body without the forms. Only at the end it is
 * known that there is no main part, so everything before it is held.
 */
export class Page {
  readonly #markup: Markup;
  readonly #blocks: Blocks;
  readonly #open: Scope[] = [];
  #articles = 0;
  #held: { readonly piece: Piece; readonly scope: Scope }[] = [];
  #heldUnits = 0;
  #ready: Piece[] = [];
  #chosen: Scope | undefined;

  /**
   * @param notes those that were found before, where the page can be read twice
   * @param book leaves out what surrounds the text of a book
   */
  constructor(name: string, options: HtmlOptions, notes?: Notes, book?: MarkupBook) {
    this.#blocks = new Blocks(options, {
      notes,
      leavesOut: (element, attributes) =>
        PAGE_FURNITURE.has(element) ||
        FURNITURE_ROLES.has(attributes.role?.trim() ?? '') ||
        (book?.leavesOut(attributes) ?? false),
      enter: (element, meanings) => this.#enter(element, meanings),
      place: (): Place => ({ source: name, line: this.#markup.line }),
      piece: (piece) => this.#add(piece),
    });
    this.#markup = new Markup(this.#blocks, name);
  }

  *push(text: string): Generator<Piece> {
    this.#markup.write(text);
    yield* this.#ready.splice(0);
  }

  *end(): Generator<Piece> {
    this.#markup.end();
    this.#blocks.end();
    if (this.#chosen === undefined) this.#choose(this.#best());
    yield* this.#ready.splice(0);
  }

  #enter(element: string, meanings: readonly string[]): (() => void) | undefined {
    const scope = meanings.includes('main') ? 'main' : element;
    if (scope !== 'main' && scope !== 'article' && scope !== 'form') return undefined;
    if (scope === 'article' && !this.#open.includes('article')) this.#articles += 1;
    this.#open.push(scope);
    return () => void this.#open.pop();
  }

  #add(piece: Piece): void {
    const scope = this.#scope();
    if (this.#chosen !== undefined) {
      if (isIn(scope, this.#chosen)) this.#ready.push(piece);
      return;
    }
    this.#held.push({ piece, scope });
    this.#heldUnits += writtenOf(piece).length + PER_PIECE;
    if (scope === 'main' && piece.kind === 'text' && hasWord(piece.text)) this.#choose('main');
    else if (this.#heldUnits > MOST_HELD) this.#choose(this.#best());
  }

  #scope(): Scope {
    const has = (scope: Scope) => this.#open.includes(scope);
    if (has('main')) return 'main';
    if (has('form')) return 'form';
    return has('article') ? 'article' : 'body';
  }

  #choose(chosen: Scope): void {
    this.#chosen = chosen;
    for (const { piece, scope } of this.#held) if (isIn(scope, chosen)) this.#ready.push(piece);
    this.#held = [];
  }

  #best(): Scope {
    const speaks = (chosen: Scope) =>
      this.#held.some(({ piece, scope }) => isIn(scope, chosen) && hasWord(writtenOf(piece)));
    if (this.#articles === 1 && speaks('article')) return 'article';
    return speaks('body') ? 'body' : 'form';
  }
}

function isIn(scope: Scope, chosen: Scope): boolean {
  if (chosen === 'form') return true;
  return scope === chosen || (chosen === 'body' && scope !== 'form');
}
