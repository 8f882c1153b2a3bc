import { withoutInvisible } from '../text/unicode.ts';
import { BLOCKS, localName } from './html-elements.ts';
import { Markup } from './html-parse.ts';

/** An XML element. Its name has no prefix. */
export interface Element {
  readonly name: string;
  /** By their names with prefix and, unless that is taken, without. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** The text of the element and its descendants, without the readings of rubies. */
  readonly text: string;
}

interface Open extends Element {
  readonly children: Element[];
  text: string;
}

/** UTF-16 units. Titles and descriptions are shorter. */
const LONGEST_TEXT = 65_536;
const OF_RUBIES = new Set(['rp', 'rt']);

/**
 * Parses XML of a few megabytes.
 * @throws TtsError (usage) for elements nested too deeply
 */
export function treeOf(xml: string, name: string, isXml = true): Element {
  const root: Open = { name: '', attributes: {}, children: [], text: '' };
  const open: Open[] = [root];
  const markup = new Markup(
    {
      skips: (tag) => OF_RUBIES.has(localName(tag)),
      open(tag, attributes) {
        const element = { name: localName(tag), attributes: withShort(attributes), children: [], text: '' };
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      text(text) {
        const top = open.at(-1);
        if (top) top.text += text;
      },
      close() {
        const closed = open.pop();
        const parent = open.at(-1);
        if (!closed || !parent) return;
        if (parent.text.length + closed.text.length <= LONGEST_TEXT) parent.text += spaced(closed);
      },
    },
    name,
    { isXml },
  );
  markup.write(xml);
  markup.end();
  return root;
}

/** Separates the words of HTML blocks and lines. */
function spaced({ name, text }: Element): string {
  return name === 'br' || BLOCKS.has(name) ? ` ${text} ` : text;
}

function withShort(attributes: Element['attributes']): Element['attributes'] {
  const names = Object.keys(attributes);
  // Checked first, since large files have many elements but few prefixes.
  if (!names.some((name) => name.includes(':'))) return attributes;
  const all: Record<string, string> = { ...attributes };
  for (const name of names) all[localName(name)] ??= attributes[name] ?? '';
  return all;
}

/** Yields all descendants with this name, in document order. */
export function* allIn({ children }: Element, name: string): Generator<Element> {
  for (const child of children) {
    if (child.name === name) yield child;
    yield* allIn(child, name);
  }
}

export function firstIn(element: Element, name: string): Element | undefined {
  return allIn(element, name).next().value ?? undefined;
}

export function plainText({ text }: Pick<Element, 'text'>): string {
  return withoutInvisible(text.slice(0, LONGEST_TEXT)).replace(/\s+/gu, ' ').trim();
}
