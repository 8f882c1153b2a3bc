import { chained } from '../kit/wait.ts';
import { labelOf, type Piece, type Place, writtenOf } from '../text/piece.ts';
import { behind, inTurn, through } from '../text/stage.ts';
import { type MarkupBook, markupBook } from './gutenberg.ts';
import { Blocks, type Rules } from './html-blocks.ts';
import { damagedBytes, MarkupDecoder } from './html-charset.ts';
import { isContentsLine } from './html-elements.ts';
import { leavesOutMost, mainRegions } from './html-main.ts';
import { FoundNotes, indexNotes, skippedNotes } from './html-notes.ts';
import { Markup, type MarkupHandler } from './html-parse.ts';
import { type Region, Regions } from './html-regions.ts';
import type { HtmlOptions, Reading, Source } from './reading.ts';

/**
 * Reads a page twice: its notes are found before it is spoken.
 * @throws TtsError (usage) for what is not text
 */
export async function openHtml(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const { again, bytes } = source;
  const decoded = (all: AsyncIterable<Uint8Array>) => through(all, new MarkupDecoder(name));
  const found = again && (await notesIn(decoded(again(signal)), name, options));
  return {
    source,
    async *pieces(until, { filter, onRemark, languageMark } = {}) {
      const decoder = new MarkupDecoder(name);
      const fromPipe: string[] = [];
      const index =
        found ?? (await notesIn(keeping(through(bytes(until), decoder), fromPipe), name, options));
      const characters = again ? through(again(until), decoder) : chained(fromPipe);
      const notes = index.of('', new Set());
      const gutenberg = options.readsAll ? undefined : markupBook(onRemark ?? (() => {}));
      const page = new Page(source.name, options, { notes, gutenberg, languageMark });
      const stage = gutenberg ? inTurn(page, gutenberg) : page;
      yield* through(characters, behind(filter, stage));
      const remarks = [...page.remarks, skippedNotes(notes.skipped), damagedBytes(decoder.damaged)];
      for (const remark of remarks) if (remark !== undefined) onRemark?.(remark);
    },
  };
}

async function notesIn(
  characters: AsyncIterable<string>,
  name: string,
  { readsNotes }: HtmlOptions,
): Promise<FoundNotes> {
  const resolve = (href: string) =>
    href.startsWith('#') ? { path: '', fragment: href.slice(1) } : undefined;
  const notes = new FoundNotes({ readsNotes, resolve });
  await notes.prepare('', await indexNotes(characters, name));
  return notes;
}

async function* keeping<T>(items: AsyncIterable<T>, kept: T[]): AsyncGenerator<T> {
  for await (const item of items) {
    kept.push(item);
    yield item;
  }
}

/** UTF-16 units. A longer page is read whole. */
const MOST_HELD = 16 * 1024 * 1024;
/** The cost of holding a piece in addition to its text, in the same unit. */
const PER_PIECE = 16;

/** Extracts the main text of a web page. It is held until the end, when the main part is known. */
export class Page {
  readonly #markup: Markup;
  readonly #blocks: Blocks;
  readonly #regions = new Regions();
  readonly #regionAt = new WeakMap<Place, Region>();
  /** `undefined` for a page that is read whole. */
  #held: { readonly piece: Piece; readonly region: Region }[] | undefined;
  #heldUnits = 0;
  #ready: Piece[] = [];
  #leavesOutMost = false;
  #hasText = false;

  /** @param found `notes` found in a first reading of the page; `gutenberg` leaves out what Project Gutenberg adds to a text */
  constructor(
    name: string,
    options: HtmlOptions,
    {
      notes,
      gutenberg,
      languageMark,
    }: Pick<Rules, 'notes' | 'languageMark'> & { readonly gutenberg?: MarkupBook | undefined } = {},
  ) {
    const regions = this.#regions;
    const blocks = new Blocks(options, {
      notes,
      languageMark,
      leavesOut: (_name, attributes) =>
        (!options.readsAll && isContentsLine(attributes)) || gutenberg?.leavesOut(attributes) === true,
      place: () => {
        const place: Place = { source: name, line: this.#markup.line };
        this.#regionAt.set(place, regions.current);
        return place;
      },
      piece: (piece) => this.#add(piece),
    });
    this.#held = options.readsAll ? undefined : [];
    this.#blocks = blocks;
    const handler: MarkupHandler = {
      open(tag, attributes) {
        blocks.open(tag, attributes);
        regions.open(tag, attributes);
      },
      text(text) {
        blocks.text(text);
        if (!blocks.isSilent) regions.text(text);
      },
      close(tag) {
        blocks.close();
        regions.close(tag);
      },
    };
    this.#markup = new Markup(handler, name);
  }

  /** Remarks for the user, known at the end. */
  get remarks(): readonly (string | undefined)[] {
    return [
      this.#leavesOutMost
        ? 'most of the page is left out: comments, teasers and the like; --all reads them'
        : undefined,
      !this.#hasText && this.#blocks.pictures > 0
        ? 'the page holds only pictures without descriptions'
        : undefined,
    ];
  }

  *push(text: string): Generator<Piece> {
    this.#markup.write(text);
    yield* this.#ready.splice(0);
  }

  *end(): Generator<Piece> {
    this.#markup.end();
    this.#blocks.end();
    const text = mainRegions(this.#regions.all);
    this.#leavesOutMost = this.#held !== undefined && leavesOutMost(this.#regions.all, text);
    yield* joined(
      (this.#held ?? []).map(({ piece, region }) => (isGap(piece) || text.has(region) ? piece : undefined)),
    );
    yield* this.#ready.splice(0);
  }

  #add(piece: Piece): void {
    this.#hasText ||= piece.kind === 'text';
    if (!this.#held) return void this.#ready.push(piece);
    const region = piece.kind === 'text' ? this.#regionAt.get(piece.place) : undefined;
    this.#held.push({ piece, region: region ?? this.#regions.current });
    this.#heldUnits += writtenOf(piece).length + PER_PIECE;
    if (this.#heldUnits <= MOST_HELD) return;
    this.#ready = this.#held.map((held) => held.piece);
    this.#held = undefined;
  }
}

const PARAGRAPH: Piece = { kind: 'paragraph' };

/** @param pieces `undefined` marks omitted text, where a paragraph ends */
function* joined(pieces: Iterable<Piece | undefined>): Generator<Piece> {
  let gap: Piece | undefined;
  let isFirst = true;
  for (const piece of pieces) {
    if (piece && !isGap(piece)) {
      if (gap && !isFirst) yield gap;
      yield piece;
      gap = undefined;
      isFirst = false;
    } else if (gap !== PARAGRAPH) gap = piece?.kind === 'text' ? piece : PARAGRAPH;
  }
}

function isGap(piece: Piece): boolean {
  return piece.kind === 'paragraph' || (piece.kind === 'text' && piece.text.trim() === '');
}
