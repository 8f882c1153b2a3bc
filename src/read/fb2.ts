import { usageError } from '../kit/error.ts';
import { chained } from '../kit/wait.ts';
import { escaped } from '../kit/words.ts';
import { isNumbered } from '../text/chapters.ts';
import { labelOf } from '../text/piece.ts';
import { through } from '../text/stage.ts';
import { headOf, isZip } from './first-bytes.ts';
import { MarkupDecoder } from './html-charset.ts';
import { type Attributes, localName } from './html-elements.ts';
import { Markup, type MarkupHandler } from './html-parse.ts';
import { openAsPage } from './page-of.ts';
import type { About, HtmlOptions, Reading, Source } from './reading.ts';
import { Archive, locationOf } from './zip.ts';

/** Reads a FictionBook 2 as a page. Its sections become chapters, and its notes are read at their references. */
export async function openFb2(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const book = new FictionBook();
  const markup = new Markup(book, name, { isXml: true });
  for await (const text of through(unpacked(source, name, signal), new MarkupDecoder(name)))
    markup.write(text);
  markup.end();
  return openAsPage(source, book.html, options, { about: book.about, signal });
}

/** Returns the bytes of the book, unpacked if it is in an archive. */
async function* unpacked(source: Source, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const bytes = source.bytes(signal)[Symbol.asyncIterator]();
  const head = await headOf(bytes);
  const all = chained(head.length > 0 ? [head] : [], bytes);
  if (!isZip(head)) return yield* all;
  // An archive is read by its path.
  if (source.path !== undefined) await bytes.return?.();
  const location = await locationOf({ ...source, bytes: () => all }, signal);
  using archive = await Archive.open(name, location, signal);
  const [path, ...others] = archive.paths.filter((each) => /\.fb2$/iu.test(each));
  if (path === undefined || others.length > 0)
    throw usageError(
      path === undefined
        ? `${name} is not text: it is a ZIP file without a FictionBook`
        : `${name} holds ${others.length + 1} books`,
      'unpack it, and name the file that holds the text',
    );
  archive.assertAllReadable([path]);
  yield* archive.bytes(path, signal);
}

/** The HTML element for a FictionBook element. For others, the tags are dropped and the text is read. */
const ELEMENTS: ReadonlyMap<string, string> = new Map([
  ...['p', 'strong', 'code', 'sub', 'sup', 'table', 'tr', 'td', 'th'].map((name) => [name, name] as const),
  ...['text-author', 'date', 'stanza'].map((name) => [name, 'p'] as const),
  ...['epigraph', 'cite', 'poem'].map((name) => [name, 'blockquote'] as const),
  ['emphasis', 'em'],
]);

/** UTF-16 units kept of the title, an author or the language. */
const LONGEST_FIELD = 1000;

class FictionBook implements MarkupHandler {
  html = '';
  readonly #open: string[] = [];
  #sections = 0;
  #isNotes = false;
  /** The text of the current line in a title. */
  #line = '';
  readonly #fields = new Map<string, string>();

  get about(): About {
    const field = (name: string) => this.#fields.get(name)?.replace(/\s+/gu, ' ').trim() || undefined;
    const author = ['first-name', 'middle-name', 'last-name'].flatMap((part) => field(part) ?? []).join(' ');
    return { title: field('book-title'), author: author || undefined, language: field('lang') };
  }

  skips(tag: string): boolean {
    const name = localName(tag);
    return name === 'binary' || name === 'stylesheet' || (name === 'title' && this.#isNotes);
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    this.#open.push(name);
    if (!this.#open.includes('description')) this.#begin(name, attributes);
  }

  text(text: string): void {
    if (this.#isInTitle) this.#line += text;
    if (this.#open.includes('body')) this.html += escaped(text);
    else if (this.#open.includes('title-info')) this.#addField(this.#open.at(-1) ?? '', text);
  }

  close(): void {
    const name = this.#open.pop() ?? '';
    if (!this.#open.includes('description')) this.#end(name);
  }

  #begin(name: string, attributes: Attributes): void {
    if (name === 'body') this.#isNotes = /^(?:notes|comments|footnotes)$/iu.test(attributes.name ?? '');
    else if (name === 'section' && this.#isNotes)
      this.html += `<aside epub:type="footnote" id="${escaped(attributes.id ?? '')}">`;
    else if (name === 'section') this.#sections += 1;
    else if (name === 'title' || name === 'subtitle') this.html += `<h${this.#levelOf(name)}>`;
    else if (name === 'a') this.html += `<a ${linkOf(attributes)}>`;
    else if (name === 'image') this.html += `<img alt="${escaped(attributes.alt ?? '')}"/>`;
    else if (ELEMENTS.has(name) && !(name === 'p' && this.#isInTitle)) this.html += `<${ELEMENTS.get(name)}>`;
  }

  #end(name: string): void {
    if (name === 'section' && this.#isNotes) this.html += '</aside>';
    else if (name === 'section') this.#sections -= 1;
    else if (name === 'title' || name === 'subtitle') this.html += `</h${this.#levelOf(name)}>\n`;
    else if (name === 'a') this.html += '</a>';
    else if (name === 'v') this.html += '<br/>';
    else if (name === 'p' && this.#isInTitle) this.#endLineOfTitle();
    else if (ELEMENTS.has(name)) this.html += `</${ELEMENTS.get(name)}>`;
  }

  /** A line that is a number becomes a heading of its own. */
  #endLineOfTitle(): void {
    const level = this.#levelOf('title');
    this.html += isNumbered(this.#line.trim()) ? `</h${level}>\n<h${level}>` : '<br/>';
    this.#line = '';
  }

  get #isInTitle(): boolean {
    return this.#open.includes('title');
  }

  /** Sections begin at level 2, below the title of the book. */
  #levelOf(name: 'title' | 'subtitle'): number {
    return Math.min(6, 1 + this.#sections + (name === 'subtitle' ? 1 : 0));
  }

  /** If there are several authors, the first one counts. */
  #addField(name: string, text: string): void {
    const before = this.#fields.get(name) ?? '';
    if (before.length < LONGEST_FIELD) this.#fields.set(name, before + text);
  }
}

function linkOf(attributes: Attributes): string {
  const [, target = ''] = Object.entries(attributes).find(([name]) => localName(name) === 'href') ?? [];
  const type = attributes.type === 'note' ? ' epub:type="noteref"' : '';
  return `href="${escaped(target)}"${type}`;
}
