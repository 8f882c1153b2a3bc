import { BLOCKS } from './elements.ts';
import { type Attributes, isSilent, meaningsOf } from './meaning.ts';

/** One tag of HTML inside of another format, which has checked that it is one. */
export interface Tag {
  /** It is in small letters. */
  readonly name: string;
  readonly isEnd: boolean;
  /** No end follows. */
  readonly isEmpty: boolean;
  readonly attributes: Attributes;
}

const TAG = /^<(\/?)([a-z][a-z\d:-]*)/iu;
const ATTRIBUTE = /\s([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/gu;
const EMPTY = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));

/** @returns `undefined` for comments and declarations */
export function tagOf(source: string): Tag | undefined {
  const [opening, slash, written] = TAG.exec(source) ?? [];
  if (opening === undefined || written === undefined) return undefined;
  const name = written.toLowerCase();
  const attributes: Record<string, string> = {};
  for (const [, key = '', ...values] of source.slice(opening.length).matchAll(ATTRIBUTE))
    attributes[key.toLowerCase()] ??= values.find((value) => value !== undefined) ?? '';
  return { name, isEnd: slash !== '', isEmpty: EMPTY.has(name) || source.endsWith('/>'), attributes };
}

/** True for an element that is not spoken; its text is not either. */
export function isUnspoken({ name, attributes }: Tag): boolean {
  return name === 'rt' || name === 'math' || isSilent(name, attributes, meaningsOf(attributes));
}

/** What a tag itself is worth: a line break, or the description of what it shows. */
export function spokenTag({ name, isEnd, attributes }: Tag): string {
  if (name === 'br' || BLOCKS.has(name)) return '\n';
  if (name === 'math' && !isEnd) return attributes.alttext || 'formula';
  return name === 'img' && !isEnd ? (attributes.alt ?? '') : '';
}
