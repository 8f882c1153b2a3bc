/** The files that make a book read itself, by EPUB 3.3: media overlays (SMIL) and what the package file says of them. */
import { createHash } from 'node:crypto';
import { usageError } from '../kit/error.ts';
import { openPackage } from '../read/epub-package.ts';
import { firstIn } from '../read/epub-tree.ts';
import { decodeMarkup } from '../read/html-charset.ts';
import { edited, type Target } from '../read/spans.ts';
import type { Archive } from '../read/zip.ts';
import type { Tags } from '../sound/pcm.ts';
import type { Segment } from '../text/segment.ts';

/** A part of the sound, in frames or in seconds, and the element that is lit meanwhile; the whole document without an id. */
export interface Clip {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly from: number;
  readonly to: number;
}

/** Paths in the archive. */
export interface Narrated {
  readonly path: string;
  readonly smil: string;
  readonly sound: string;
  readonly seconds: number;
}

export interface Narration {
  readonly narrated: readonly Narrated[];
  readonly folder: string;
  readonly narrator: string | undefined;
}

const ACTIVE = 'tts-active';

/** A colour that black and white text can be read on, in light and dark. */
export const STYLE = `.${ACTIVE} { background-color: rgba(255, 190, 0, 0.35); border-radius: 0.15em; }\n`;

export function styleLink(document: string, style: string): string {
  return `<link rel="stylesheet" type="text/css" href="${linkFrom(document, style)}"/>`;
}

function linkFrom(from: string, to: string): string {
  const folders = from.split('/').slice(0, -1);
  const target = to.split('/');
  let same = 0;
  while (same < folders.length && same < target.length - 1 && folders[same] === target[same]) same += 1;
  return [...folders.slice(same).map(() => '..'), ...target.slice(same).map(encodeURIComponent)].join('/');
}

/** Exact to a microsecond. */
function clock(seconds: number): string {
  return `${Number(seconds.toFixed(6))}s`;
}

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

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Bytes. */
const LARGEST_PACKAGE = 4 * 1024 * 1024;

/**
 * The package file of a book, and how it is with a narration.
 * @throws TtsError (usage) for a book that cannot hold one
 */
export async function narratedPackage(
  archive: Archive,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly path: string; edit(narration: Narration): string }> {
  const { root, path, items } = await openPackage(archive, name, signal);
  const { version = '' } = firstIn(root, 'package')?.attributes ?? {};
  if (!version.startsWith('3'))
    throw usageError(
      `${name} is an EPUB ${version || 'of an unknown version'}, and only EPUB 3 can hold sound with its text`,
      `convert it first: ebook-convert ${name} book3.epub --epub-version 3 (calibre)`,
    );
  if ([...items.values()].some(({ mediaType }) => mediaType === SMIL))
    throw usageError(
      `${name} has a narration already`,
      'play it as it is; -o book.m4b makes an audiobook of its text',
    );
  const text = decodeMarkup((await archive.whole(path, LARGEST_PACKAGE, signal)) ?? Buffer.alloc(0));
  const idOf = new Map([...items.values()].map((item) => [item.path, item.id]));
  return { path, edit: (narration) => withNarration(text, path, narration, idOf) };
}

const SMIL = 'application/smil+xml';

export function withNarration(
  text: string,
  path: string,
  { narrated, folder, narrator }: Narration,
  idOf: ReadonlyMap<string, string>,
): string {
  const [manifest, metadata] = [closing(text, 'manifest'), closing(text, 'metadata')];
  const overlays = new Map(narrated.map(({ path }, at) => [idOf.get(path) ?? '', `tts-smil-${at + 1}`]));
  const edits = [...text.matchAll(/<(?:[\w.-]+:)?item\s[^<>]*>/gu)].flatMap(({ 0: tag, index }) => {
    const [, , id = ''] = /\sid\s*=\s*(["'])(.*?)\1/u.exec(tag) ?? [];
    const smil = overlays.get(unescaped(id));
    const at = index + tag.search(/\s/u);
    return smil === undefined ? [] : [{ at, text: ` media-overlay="${smil}"`, order: 0 }];
  });
  const items = [...itemsOf(narrated, path), styleItem(path, folder)].map(
    (item) => `<${manifest.prefix}item ${item}/>\n`,
  );
  const metas = metasOf({ narrated, narrator }).map(
    ({ attributes, value }) =>
      `<${metadata.prefix}meta ${attributes}>${escaped(value)}</${metadata.prefix}meta>\n`,
  );
  edits.push({ at: manifest.at, text: items.join(''), order: 0 });
  edits.push({ at: metadata.at, text: metas.join(''), order: 0 });
  return edited(text, edits);
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Where an element of the package file ends. */
function closing(text: string, name: string): { readonly at: number; readonly prefix: string } {
  const found = new RegExp(`</([\\w.-]+:)?${name}\\s*>`, 'u').exec(text);
  if (!found) throw usageError(`the package file has no ${name}`, 'the book is damaged: get it again');
  return { at: found.index, prefix: found[1] ?? '' };
}

function* itemsOf(narrated: readonly Narrated[], from: string): Generator<string> {
  for (const [at, { smil, sound }] of narrated.entries()) {
    yield `id="tts-smil-${at + 1}" href="${linkFrom(from, smil)}" media-type="${SMIL}"`;
    yield `id="tts-sound-${at + 1}" href="${linkFrom(from, sound)}" media-type="audio/mpeg"`;
  }
}

function styleItem(from: string, folder: string): string {
  return `id="tts-active-css" href="${linkFrom(from, `${folder}/active.css`)}" media-type="text/css"`;
}

function metasOf({ narrated, narrator }: Pick<Narration, 'narrated' | 'narrator'>) {
  const all = narrated.reduce((sum, { seconds }) => sum + seconds, 0);
  const meta = (property: string, value: string, refines = '') => ({
    attributes: `property="media:${property}"${refines}`,
    value,
  });
  return [
    ...narrated.map(({ seconds }, at) => meta('duration', clock(seconds), ` refines="#tts-smil-${at + 1}"`)),
    meta('duration', clock(all)),
    ...(narrator === undefined ? [] : [meta('narrator', narrator)]),
    meta('active-class', ACTIVE),
  ];
}

interface Chapter {
  readonly chapter: Segment['chapter'];
  readonly spoken: readonly { readonly segment: Segment }[];
}

/** A book that is made of another text: a document for each chapter. */
export interface NewBook {
  readonly documents: readonly {
    readonly path: string;
    readonly text: Buffer;
    readonly targets: readonly (readonly Target[])[];
  }[];
  /** The other files, with the package file. */
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
    return { path, title, targets, text: Buffer.from(page(title, bodyOf(segments), about.language)) };
  });
  const hash = createHash('sha256');
  for (const { text } of documents) hash.update(text);
  const identifier = `urn:uuid:${uuidOf(hash.digest('hex'))}`;
  return {
    documents,
    files: (narration) => [
      ['META-INF/container.xml', Buffer.from(CONTAINER)],
      ['EPUB/nav.xhtml', Buffer.from(navOf(documents, about))],
      ['EPUB/book.opf', Buffer.from(packageOf(documents, { ...about, identifier }, narration))],
    ],
  };
}

const CONTAINER = `<?xml version="1.0" encoding="utf-8"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
`;

/** Each border of the text but that of sentences begins a paragraph; the title of a chapter is a heading. */
function bodyOf(segments: readonly Segment[]): string {
  const blocks: { isTitle: boolean; isScene: boolean; sentences: string[] }[] = [];
  for (const [at, { text, pause, chapter }] of segments.entries()) {
    const sentence = `<span id="s${at + 1}">${escaped(text)}</span>`;
    const last = blocks.at(-1);
    if (last && (pause === 'sentence' || pause === 'none')) last.sentences.push(sentence);
    else
      blocks.push({
        isTitle: at === 0 && chapter?.title !== undefined && keyOf(text) === keyOf(chapter.title),
        isScene: pause === 'scene' && at > 0,
        sentences: [sentence],
      });
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

function page(title: string, body: string, language: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="${language}" xml:lang="${language}">
<head><title>${escaped(title)}</title>${styleLink('EPUB/x', 'EPUB/tts-read-along/active.css')}</head>
<body>
${body}
</body>
</html>
`;
}

function navOf(
  documents: readonly { readonly path: string; readonly title: string }[],
  about: About,
): string {
  const lines = documents.map(
    ({ path, title }) => `<li><a href="${linkFrom('EPUB/nav.xhtml', path)}">${escaped(title)}</a></li>`,
  );
  return page(about.title, `<nav epub:type="toc"><ol>\n${lines.join('\n')}\n</ol></nav>`, about.language);
}

function packageOf(
  documents: readonly { readonly path: string }[],
  { title, author, language, identifier }: About & { readonly identifier: string },
  { narrated, folder, narrator }: Narration,
): string {
  const path = 'EPUB/book.opf';
  const items = [
    'id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"',
    styleItem(path, folder),
    ...documents.map(
      (document, at) =>
        `id="c${at + 1}" href="${linkFrom(path, document.path)}" media-type="application/xhtml+xml" media-overlay="tts-smil-${at + 1}"`,
    ),
    ...itemsOf(narrated, path),
  ].map((item) => `<item ${item}/>`);
  const metas = metasOf({ narrated, narrator }).map(
    ({ attributes, value }) => `<meta ${attributes}>${escaped(value)}</meta>`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="${language}">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">${identifier}</dc:identifier>
<dc:title>${escaped(title)}</dc:title>
<dc:language>${language}</dc:language>
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

/** The same for all, so that the same text makes the same bytes. */
const MODIFIED = '2000-01-01T00:00:00Z';

/** A UUID of version 8 (RFC 9562). */
function uuidOf(hex: string): string {
  const digits = `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}
