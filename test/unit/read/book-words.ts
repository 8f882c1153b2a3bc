import { posix } from 'node:path';
import { unzipped } from '../../support/zip.ts';

/**
 * The words of a book in its reading order, read with patterns only: another way than that of the program. It knows no meaning,
 * but for what the program leaves out without asking: navigation, rubies, hidden parts and page numbers.
 */
export function wordsOfBook(archive: Buffer, leftOut: readonly RegExp[] = []): readonly string[] {
  const files = unzipped(archive);
  const text = (path: string) => files.get(path)?.toString('utf8') ?? '';
  const opf = attribute(text('META-INF/container.xml'), /<rootfile\b[^>]*>/, 'full-path');
  const items = new Map<string, string>();
  for (const [tag] of text(opf)
    .replace(/<!--[\s\S]*?-->/g, '')
    .matchAll(/<(?:\w+:)?item\b[^>]*>/g))
    items.set(attribute(tag, /.*/s, 'id'), tag);
  const words: string[] = [];
  for (const [tag] of text(opf).matchAll(/<(?:\w+:)?itemref\b[^>]*>/g)) {
    const item = items.get(attribute(tag, /.*/s, 'idref')) ?? '';
    if (/linear="no"/.test(tag) || /properties="[^"]*\bnav\b/.test(item)) continue;
    const path = posix.join(posix.dirname(opf), decodeURIComponent(attribute(item, /.*/s, 'href')));
    if (leftOut.some((pattern) => pattern.test(path))) continue;
    words.push(...wordsIn(plain(text(path), leftOut)));
  }
  return words;
}

function attribute(text: string, tag: RegExp, name: string): string {
  const [found = ''] = tag.exec(text) ?? [];
  return new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)`).exec(found)?.[1] ?? '';
}

const BLOCK =
  /<\/?(?:address|article|aside|blockquote|body|br|caption|center|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|legend|li|main|ol|p|pre|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)\b[^>]*>/gi;

function plain(xhtml: string, leftOut: readonly RegExp[]): string {
  let text = xhtml
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<head\b[\s\S]*?<\/head>/i, '')
    .replace(/<(script|style|svg|nav|rt|rp|epub:case)\b[^>]*?(?<!\/)>[\s\S]*?<\/\1>/gi, '')
    .replace(/<math\b[^>]*?alttext="([^"]*)"[\s\S]*?<\/math>/gi, ' $1 ')
    .replace(/<math\b[\s\S]*?<\/math>/gi, ' formula ')
    .replace(/<(\w+)\b[^>]*\b(?:epub:type|role)="(?:doc-)?pagebreak"[^>]*?(?:\/>|>[^<]*<\/\1>)/gi, '');
  for (const pattern of leftOut) text = text.replace(pattern, '');
  return text
    .replace(/<img\b[^>]*?\balt="([^"]*)"[^>]*>/gi, ' $1 ')
    .replace(BLOCK, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&#x([\da-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCodePoint(Number(number)))
    .replace(/&nbsp;/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/[\u00ad\u200b\u2060\ufeff]/g, '')
    .replace(/(?<=[\u3000-\u9fff\uff00-\uffef])\s*\n\s*(?=[\u3000-\u9fff\uff00-\uffef])/g, '');
}

export function wordsIn(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}
