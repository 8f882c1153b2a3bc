/** The files of a read-along book, by EPUB 3.3: media overlays (SMIL) and their entries in the package file. */
import { createHash } from 'node:crypto';
import { usageError } from '../kit/error.ts';
import { escaped } from '../kit/words.ts';
import type { Target } from '../read/spans.ts';
import type { Tags } from '../sound/pcm.ts';
import type { Segment } from '../text/segment.ts';

/** A range of the sound, in frames or seconds, and the element highlighted meanwhile; without an id, the whole document. */
export interface Clip {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** A narrated document. Paths are those in the archive. */
interface Narrated {
  readonly path: string;
  readonly smil: string;
  readonly sound: string;
  readonly seconds: number;
}

export interface Narration {
  readonly narrated: readonly Narrated[];
  readonly folder: string;
  /** False if the style sheet of an older narration is used. */
  readonly addsStyle: boolean;
  readonly narrator: string | undefined;
  /** The prefix of new IDs in the package file. */
  readonly prefix: string;
}

/** The CSS class of the highlighted element, if the book names none. */
export const ACTIVE = 'tts-active';

/** Highlights in a colour on which black and white text stay readable, in light and dark themes. */
export function highlightCss(active: string): string {
  return `.${active} { background-color: rgba(255, 190, 0, 0.35); border-radius: 0.15em; }\n`;
}

/** Matches a document whose relative links have another base than its own address. */
const HAS_BASE = /<(?:\w{1,20}:)?base\s|\sxml:base\s*=/iu;

/** Returns the element that the head of a document needs to style the highlight; '' if it has it from an older narration. */
export function styleIn(
  path: string,
  document: string,
  { style, active }: { style: string; active: string },
) {
  const isLinked = !HAS_BASE.test(document);
  const element = isLinked ? styleLink(path, style) : `<style>${highlightCss(active)}</style>`;
  return document.includes(element) ? '' : element;
}

function styleLink(document: string, style: string): string {
  return `<link rel="stylesheet" type="text/css" href="${linkFrom(document, style)}"/>`;
}

export function linkFrom(from: string, to: string): string {
  const folders = from.split('/').slice(0, -1);
  const target = to.split('/');
  let same = 0;
  while (same < folders.length && same < target.length - 1 && folders[same] === target[same]) same += 1;
  return [...folders.slice(same).map(() => '..'), ...target.slice(same).map(encodeURIComponent)].join('/');
}

/** Writes a clock value of SMIL, rounded to a microsecond. */
function clock(seconds: number): string {
  return `${Number(seconds.toFixed(6))}s`;
}

export const SMIL = 'application/smil+xml';

interface Overlay {
  readonly document: string;
  readonly sound: string;
  readonly smil: string;
  readonly clips: readonly Clip[];
}

export function overlay({ document, sound, smil, clips }: Overlay): string {
  const [text, audio] = [linkFrom(smil, document), linkFrom(smil, sound)];
  const lines = clips.map(({ id, type, from, to }, at) => {
    const meaning = type === undefined ? '' : ` epub:type="${escaped(type)}"`;
    const target = id === undefined ? text : `${text}#${id}`;
    return `<par id="p${at + 1}"${meaning}><text src="${target}"/><audio src="${audio}" clipBegin="${clock(from)}" clipEnd="${clock(to)}"/></par>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<smil xmlns="http://www.w3.org/ns/SMIL" xmlns:epub="http://www.idpf.org/2007/ops" version="3.0">
<body>
${lines.join('\n')}
</body>
</smil>
`;
}

/** Decodes single quotation marks, too: an attribute may be enclosed in them. */
function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

interface TagAt {
  readonly at: number;
  readonly tag: string;
}

/** Finds the opening tags of this name in a package file. */
export function tagsIn(text: string, name: string): readonly TagAt[] {
  const tag = new RegExp(`<(?:[\\w.-]{1,40}:)?${name}(?:\\s[^<>]*)?>`, 'gu');
  return [...withoutComments(text).matchAll(tag)].map(({ 0: found, index }) => ({ at: index, tag: found }));
}

interface ElementAt extends TagAt {
  readonly end: number;
  /** The tag name with its prefix. */
  readonly name: string;
  readonly content: string;
}

/** Finds elements that hold no element of these names. */
export function elementsIn(text: string, prefix: 'dc' | 'meta'): readonly ElementAt[] {
  const name = prefix === 'dc' ? 'dc:[\\w-]{1,40}' : '(?:[\\w.-]{1,40}:)?meta';
  const bare = withoutComments(text);
  const opened = [...bare.matchAll(new RegExp(`<(${name})(?:\\s[^<>]*)?>`, 'gu'))];
  return opened.map(({ 0: tag, 1: own = '', index: at }, number) => {
    const start = at + tag.length;
    const inside = bare.slice(start, tag.endsWith('/>') ? start : opened[number + 1]?.index);
    const close = new RegExp(`</${own}\\s*>`, 'u').exec(inside);
    const content = inside.slice(0, close?.index ?? 0);
    return { at, tag, end: start + content.length + (close?.[0].length ?? 0), name: own, content };
  });
}

export function attributesIn(tag: string): Map<string, string> {
  const attributes = tag.matchAll(/\s([\w.:-]{1,100})\s*=\s*(?:"([^"]*)"|'([^']*)')/gu);
  return new Map(
    [...attributes].map(([, name = '', double, single]) => [name, unescaped(double ?? single ?? '')]),
  );
}

/** Replaces comments with spaces, so that all positions stay the same. */
function withoutComments(text: string): string {
  const parts: string[] = [];
  let last = 0;
  for (;;) {
    const start = text.indexOf('<!--', last);
    const end = start < 0 ? -1 : text.indexOf('-->', start);
    if (end < 0) return parts.join('') + text.slice(last);
    parts.push(text.slice(last, start), ' '.repeat(end + 3 - start));
    last = end + 3;
  }
}

/** Finds the closing tag of an element in a package file. */
export function closing(text: string, name: string): { readonly at: number; readonly prefix: string } {
  const found = new RegExp(`</([\\w.-]{1,40}:)?${name}\\s*>`, 'u').exec(withoutComments(text));
  if (!found) throw usageError(`the package file has no ${name}`, 'the book is damaged: get it again');
  return { at: found.index, prefix: found[1] ?? '' };
}

export function* itemsOf(
  { narrated, folder, addsStyle, prefix }: Narration,
  from: string,
): Generator<string> {
  for (const [at, { smil, sound }] of narrated.entries()) {
    yield `id="${overlayId(prefix, at)}" href="${linkFrom(from, smil)}" media-type="${SMIL}"`;
    yield `id="${prefix}sound-${at + 1}" href="${linkFrom(from, sound)}" media-type="audio/mpeg"`;
  }
  if (addsStyle)
    yield `id="${prefix}active-css" href="${linkFrom(from, `${folder}/active.css`)}" media-type="text/css"`;
}

/** @param at index among the narrated documents */
export function overlayId(prefix: string, at: number): string {
  return `${prefix}smil-${at + 1}`;
}

/** An older narration that stays in the book with the new one. */
export interface KeptNarration {
  readonly seconds: number;
  readonly active: string;
}

export function metasOf(
  { narrated, narrator, prefix }: Narration,
  kept: KeptNarration = { seconds: 0, active: ACTIVE },
) {
  const all = narrated.reduce((sum, { seconds }) => sum + seconds, kept.seconds);
  const meta = (property: string, value: string, refines = '') => ({
    attributes: `property="media:${property}"${refines}`,
    value,
  });
  return [
    ...narrated.map(({ seconds }, at) =>
      meta('duration', clock(seconds), ` refines="#${overlayId(prefix, at)}"`),
    ),
    meta('duration', clock(all)),
    ...(narrator === undefined ? [] : [meta('narrator', narrator)]),
    meta('active-class', kept.active),
  ];
}

interface Chapter {
  readonly chapter: Segment['chapter'];
  readonly spoken: readonly { readonly segment: Segment }[];
}

/** A new book that is made from another text, with a document for each chapter. */
export interface NewBook {
  readonly documents: readonly {
    readonly path: string;
    readonly text: Buffer;
    readonly targets: readonly (readonly Target[])[];
  }[];
  /** All other files, including the package file. */
  files(narration: Narration): readonly (readonly [path: string, bytes: Buffer])[];
}

type About = Pick<Tags, 'author'> & { readonly title: string; readonly language: string };

export function newBook(chapters: readonly Chapter[], about: About): NewBook {
  const documents = chapters.map(({ spoken, chapter }, at) => {
    const path = `EPUB/chapter-${String(at + 1).padStart(4, '0')}.xhtml`;
    const segments = spoken.map(({ segment }) => segment);
    const title = chapter?.title ?? about.title;
    const targets = segments.map(({ text }, number) => [
      { id: `s${number + 1}`, length: text.length, type: undefined },
    ]);
    return { path, title, targets, text: Buffer.from(page(title, bodyOf(segments), about.language, STYLED)) };
  });
  const hash = createHash('sha256');
  for (const { text } of documents) hash.update(text);
  const identifier = `urn:uuid:${uuidOf(hash.digest('hex'))}`;
  return {
    documents,
    files: (narration) => [
      ['META-INF/container.xml', Buffer.from(CONTAINER)],
      [
        'EPUB/nav.xhtml',
        Buffer.from(
          navPage(
            'EPUB/nav.xhtml',
            { lines: documents.map((line) => ({ ...line, fragment: '', level: 1 })), pages: [] },
            about,
          ),
        ),
      ],
      ['EPUB/book.opf', Buffer.from(packageOf(documents, { ...about, identifier }, narration))],
    ],
  };
}

const STYLED = styleLink('EPUB/x', 'EPUB/tts-read-along/active.css');

const CONTAINER = `<?xml version="1.0" encoding="utf-8"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
`;

/** Begins a paragraph at every border except between sentences. The title of a chapter becomes a heading. */
function bodyOf(segments: readonly Segment[]): string {
  const blocks: { isTitle: boolean; isScene: boolean; sentences: string[] }[] = [];
  for (const [at, { text, pause, chapter }] of segments.entries()) {
    const isTitle = at === 0 && chapter?.title !== undefined && keyOf(text) === keyOf(chapter.title);
    // The spoken title ends like a sentence, the printed one does not.
    const shown = isTitle ? (chapter?.title ?? text) : text;
    const sentence = `<span id="s${at + 1}">${escaped(shown)}</span>`;
    const last = blocks.at(-1);
    if (last && (pause === 'sentence' || pause === 'none')) last.sentences.push(sentence);
    else blocks.push({ isTitle, isScene: pause === 'scene' && at > 0, sentences: [sentence] });
  }
  return blocks
    .map(({ isTitle, isScene, sentences }) => {
      const name = isTitle ? 'h1' : 'p';
      return `${isScene ? '<hr/>\n' : ''}<${name}>${sentences.join(' ')}</${name}>`;
    })
    .join('\n');
}

function keyOf(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '');
}

function page(title: string, body: string, language: string, head = ''): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="${escaped(language)}" xml:lang="${escaped(language)}">
<head><title>${escaped(title)}</title>${head}</head>
<body>
${body}
</body>
</html>
`;
}

interface Line {
  readonly path: string;
  readonly fragment: string;
  readonly title: string | undefined;
  /** 1 is the highest. */
  readonly level: number;
}

export interface NavLines {
  readonly lines: readonly Line[];
  /** The page numbers of the printed book. */
  readonly pages: readonly Line[];
}

/** Writes a navigation document: the table of contents and the page list. */
export function navPage(path: string, { lines, pages }: NavLines, about: Omit<About, 'author'>): string {
  const list =
    pages.length === 0 ? '' : `<nav epub:type="page-list" hidden="hidden">${listOf(path, pages)}</nav>`;
  return page(about.title, `<nav epub:type="toc">${listOf(path, lines)}</nav>${list}`, about.language);
}

function listOf(path: string, lines: readonly Line[]): string {
  const parts: string[] = [];
  let level = 0;
  for (const line of lines) {
    const next = Math.min(Math.max(1, line.level), level + 1);
    parts.push(next > level ? '<ol>\n' : `</li>\n${'</ol></li>\n'.repeat(level - next)}`);
    level = next;
    const fragment = line.fragment === '' ? '' : `#${encodeURIComponent(line.fragment)}`;
    parts.push(`<li><a href="${linkFrom(path, line.path)}${fragment}">${escaped(line.title ?? '…')}</a>`);
  }
  parts.push('</li></ol>\n'.repeat(level));
  return parts.join('');
}

function packageOf(
  documents: readonly { readonly path: string }[],
  { title, author, language, identifier }: About & { readonly identifier: string },
  narration: Narration,
): string {
  const path = 'EPUB/book.opf';
  const items = [
    'id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"',
    ...documents.map(
      (document, at) =>
        `id="c${at + 1}" href="${linkFrom(path, document.path)}" media-type="application/xhtml+xml" media-overlay="${overlayId(narration.prefix, at)}"`,
    ),
    ...itemsOf(narration, path),
  ].map((item) => `<item ${item}/>`);
  const metas = metasOf(narration).map(
    ({ attributes, value }) => `<meta ${attributes}>${escaped(value)}</meta>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="${escaped(language)}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">${identifier}</dc:identifier>
<dc:title>${escaped(title)}</dc:title>
<dc:language>${escaped(language)}</dc:language>
${author === undefined ? '' : `<dc:creator>${escaped(author)}</dc:creator>\n`}<meta property="dcterms:modified">${MODIFIED}</meta>
${metas.join('\n')}
</metadata>
<manifest>
${items.join('\n')}
</manifest>
<spine>
${documents.map((_, at) => `<itemref idref="c${at + 1}"/>`).join('\n')}
</spine>
</package>
`;
}

/** The same date for all books, so that the same text makes the same bytes. */
export const MODIFIED = '2000-01-01T00:00:00Z';

/** Makes a UUID of version 8 (RFC 9562). */
function uuidOf(hex: string): string {
  const digits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}
