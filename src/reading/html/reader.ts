import { inTurn, type Stage, through } from '../../text/live.ts';
import { labelOf, type Piece } from '../../text/piece.ts';
import type { Reading, ReadingOptions, Source } from '../reading.ts';
import { everyTime } from '../source.ts';
import { MarkupDecoder } from './decode.ts';
import { FoundNotes, NamedNotes } from './found-notes.ts';
import { indexed } from './note-index.ts';
import { type Notes, skippedNotes } from './notes.ts';
import { Page } from './page.ts';
import type { HtmlOptions } from './rules.ts';
import { scanned } from './scan.ts';

/** @throws TtsError (usage) for what is not text */
export async function openHtml(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const label = labelOf(source.name);
  const found = source.again && (await notesIn(label, source.again, options, signal));
  const bytes = everyTime(source);
  return {
    source,
    pieces(until, how) {
      const notes = found?.of('', new Set()) ?? new NamedNotes(options.readsNotes);
      return read(bytes(until), { page: new Page(source.name, options, notes), notes, label }, how);
    },
  };
}

interface Desk {
  readonly page: Stage<string, Piece>;
  readonly notes: Notes;
  readonly label: string;
}

async function* read(
  bytes: AsyncIterable<Uint8Array>,
  { page, notes, label }: Desk,
  { inFront, onRemark }: ReadingOptions = {},
): AsyncGenerator<Piece> {
  const decoder = new MarkupDecoder(label);
  yield* through(bytes, inTurn(inFront ? inTurn(decoder, inFront) : decoder, page));
  const remark = skippedNotes(notes.skipped);
  if (remark !== undefined) onRemark?.(remark);
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
