import { type ZipEntry, zipOf } from './zip.ts';

export interface BookParts {
  /** Bodies or whole documents, by paths relative to the package file, in the order of the manifest. */
  readonly documents: Readonly<Record<string, string | Buffer>>;
  /** The reading order; by default that of the manifest. A path may have an attribute after a space: `note linear="no"`. */
  readonly spine?: readonly string[];
  readonly metadata?: string;
  /** The rest of the package file, such as a guide. */
  readonly rest?: string;
  /** The `li` elements of an EPUB 3 table of contents, or the whole document. */
  readonly nav?: string;
  /** The points of an NCX. */
  readonly ncx?: string;
  readonly manifest?: string;
  readonly files?: readonly ZipEntry[];
  readonly opf?: string;
}

const CONTAINER =
  '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles><rootfile full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>';

export function xhtml(body: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Not spoken</title></head><body>${body}</body></html>`;
}

/** Makes a book that conforms to the specification, except where the parts break it. */
export function epubOf(parts: BookParts): Buffer {
  const { documents, nav, ncx, files = [] } = parts;
  const entries: ZipEntry[] = [
    { name: 'mimetype', data: 'application/epub+zip', isStored: true },
    { name: 'META-INF/container.xml', data: CONTAINER },
    { name: 'EPUB/book.opf', data: parts.opf ?? packageOf(parts) },
  ];
  for (const [path, text] of Object.entries(documents))
    entries.push({
      name: `EPUB/${path}`,
      data: typeof text === 'string' && !text.includes('<html') ? xhtml(text) : text,
    });
  if (nav !== undefined)
    entries.push({ name: 'EPUB/nav.xhtml', data: nav.includes('<nav') ? xhtml(nav) : tocOf(nav) });
  if (ncx !== undefined) entries.push({ name: 'EPUB/toc.ncx', data: `<ncx><navMap>${ncx}</navMap></ncx>` });
  return zipOf([...entries, ...files]);
}

function tocOf(lines: string): string {
  return xhtml(`<nav epub:type="toc"><h1>Contents</h1><ol>${lines}</ol></nav>`);
}

export function packageOf({ documents, spine, metadata, rest, nav, ncx, manifest }: BookParts): string {
  const paths = Object.keys(documents);
  const items = paths.map(
    (path, at) => `<item id="i${at}" href="${encodeURI(path)}" media-type="application/xhtml+xml"/>`,
  );
  if (nav !== undefined)
    items.push('<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>');
  if (ncx !== undefined) items.push('<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>');
  const order = (spine ?? paths).map((line) => {
    const [path = '', attributes = ''] = line.split(/ (?=linear)/);
    const at = paths.indexOf(path);
    return `<itemref idref="${at < 0 ? path : `i${at}`}" ${attributes}/>`;
  });
  return `<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">${metadata ?? ''}</metadata><manifest>${items.join('')}${manifest ?? ''}</manifest><spine ${ncx === undefined ? '' : 'toc="ncx"'}>${order.join('')}</spine>${rest ?? ''}</package>`;
}
