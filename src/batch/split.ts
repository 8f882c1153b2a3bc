import { usageError } from '../kit/error.ts';
import type { Heading } from '../text/piece.ts';
import type { Segment, Silence } from '../text/segment.ts';
import { countCodePoints, segmenters } from '../text/unicode.ts';
import { caseFolded, NameTemplate, RESERVED } from './plan.ts';
import { type RowKey, type Shape, TextHash } from './row-key.ts';
import type { TableRow } from './table.ts';

export interface BookChapter {
  readonly title: string | undefined;
  /** The number as in `--chapters`; 0 for text before the first chapter. */
  readonly number: number;
  readonly segments: number;
  readonly characters: number;
  /** Hash of the spoken text, its segments and silences. */
  readonly hash: TextHash;
}

/**
 * Reads a text once, and returns its chapters. Text before the first heading is a chapter without a title.
 * @param shapeOf returns everything except the text that affects the sound of a segment
 */
export async function chaptersOf(
  parts: AsyncIterable<Segment | Silence>,
  shapeOf: (segment: Segment) => unknown,
): Promise<readonly BookChapter[]> {
  const chapters: BookChapter[] = [];
  for await (const { heading, parts: own } of byChapter(parts)) {
    const hash = new TextHash();
    let [segments, characters] = [0, 0];
    for await (const part of own) {
      // Another form of the mark would make all chapters with a pause at their end stale.
      if (part.kind === 'silence') hash.addMark(`{"kind":"rest","seconds":${part.seconds}}`);
      else {
        hash.addMark(JSON.stringify(shapeOf(part)));
        hash.add(part.text);
        segments += 1;
        characters += countCodePoints(part.text);
      }
    }
    chapters.push({ title: heading?.title, number: heading?.number ?? 0, segments, characters, hash });
  }
  return chapters;
}

export function chapterKey({ hash }: BookChapter, shape: Shape, tags: unknown): RowKey {
  hash.addMark(JSON.stringify(tags));
  return hash.finish(shape);
}

export interface ChapterParts {
  readonly heading: Heading | undefined;
  /** The segments; those that are not read are skipped. */
  readonly parts: AsyncGenerator<Segment | Silence>;
}

export async function* byChapter(parts: AsyncIterable<Segment | Silence>): AsyncGenerator<ChapterParts> {
  const source = parts[Symbol.asyncIterator]();
  let next = await source.next();
  async function* chapter(heading: Heading | undefined): AsyncGenerator<Segment | Silence> {
    for (; !next.done; next = await source.next()) {
      const part = next.value;
      if (part.kind === 'segment' && part.chapter !== heading) return;
      yield part;
    }
  }
  try {
    while (!next.done) {
      if (next.value.kind === 'silence') {
        next = await source.next();
        continue;
      }
      const heading = next.value.chapter;
      const own = chapter(heading);
      yield { heading, parts: own };
      // The consumer may have stopped in the middle: skip the rest of the chapter.
      for (; !next.done; next = await source.next())
        if (next.value.kind === 'segment' && next.value.chapter !== heading) break;
    }
  } finally {
    await source.return?.();
  }
}

/** Fields of a template of `--split`. */
const FIELDS = ['n', 'nn', 'title', 'book'];

/** Bytes of a title in a file name. */
const LONGEST_TITLE = 150;
const LONGEST_BOOK = 60;

/** @throws TtsError (usage) for a template that would give all chapters one name */
export function chapterTemplate(template: string): NameTemplate {
  const parsed = new NameTemplate(template);
  const unknown = parsed.columns.find((column) => !FIELDS.includes(column));
  const names = FIELDS.map((field) => `{${field}}`).join(', ');
  if (unknown !== undefined)
    throw usageError(`-o ${template}: {${unknown}} is unknown to --split`, `the names are ${names}`);
  if (!parsed.columns.some((column) => column !== 'book'))
    throw usageError(
      `-o ${template}: each chapter needs a name of its own`,
      "give a template: -o 'novel/{nn} {title}.mp3'",
    );
  return parsed;
}

/** Yields a row for each chapter. Its id is the chapter number; its names are valid on every system. */
export async function* chapterRows(
  chapters: readonly { readonly number: number; readonly title: string }[],
  book: string,
  { columns }: NameTemplate,
): AsyncGenerator<TableRow> {
  const digits = Math.max(2, String(chapters.at(-1)?.number).length);
  const isNumbered = columns.includes('n') || columns.includes('nn');
  const names = new FreeNames();
  for (const [at, chapter] of chapters.entries()) {
    const number = String(chapter.number);
    const name = safeName(chapter.title, LONGEST_TITLE) || `Chapter ${number}`;
    const free = isNumbered ? name : names.free(name);
    yield {
      line: at + 1,
      cells: new Map([
        ['id', number],
        ['text', ''],
        ['n', number],
        ['nn', number.padStart(digits, '0')],
        ['title', free],
        ['book', safeName(book, LONGEST_BOOK) || 'book'],
      ]),
    };
  }
}

/** Appends numbers to repeated names. Each number is tried once per name, so that many equal titles stay fast. */
class FreeNames {
  readonly #taken = new Set<string>();
  readonly #next = new Map<string, number>();

  free(name: string): string {
    const key = caseFolded(name);
    let number = this.#next.get(key) ?? 1;
    const numbered = () => (number === 1 ? name : `${name} (${number})`);
    while (this.#taken.has(caseFolded(numbered()))) number += 1;
    this.#taken.add(caseFolded(numbered()));
    this.#next.set(key, number + 1);
    return numbered();
  }
}

/** @returns a part of a file name, without characters that some system forbids; may be empty */
export function safeName(text: string, most: number): string {
  const plain = text
    .normalize('NFC')
    .replace(/(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/[/\\:*?"<>|{}]+/g, '-');
  const name = cutTo(plain.trim(), most).replace(/^[. ]+|[. ]+$/g, '');
  return RESERVED.test(name) ? `_${name}` : name;
}

/** Cuts to a number of bytes, between grapheme clusters. */
function cutTo(text: string, most: number): string {
  let kept = '';
  for (const { segment } of segmenters.grapheme().segment(text)) {
    if (Buffer.byteLength(kept + segment) > most) break;
    kept += segment;
  }
  return kept;
}
