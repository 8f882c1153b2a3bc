import { domainToUnicode } from 'node:url';
import type { Token } from 'markdown-it';
import { MARK } from '../../text/marks/syntax.ts';
import { isUnspoken, spokenTag, type Tag, tagOf } from '../html/tag.ts';
import type { MarkdownOptions } from './parser.ts';
import { wordsOfTex } from './tex.ts';

export interface InlineOptions extends Pick<MarkdownOptions, 'math'> {
  /** What is said of a note after the text: of a reference, or of a note that stands there. */
  noteAfter?(said: string, note: Token): string;
}

export function spokenInline(tokens: readonly Token[], options: InlineOptions): string {
  return flatten(tokens, options)
    .replace(BACK_LINK, '')
    .replace(/[ \t]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .trim();
}

/** The sign with which pandoc leads back from a note. */
const BACK_LINK = /\s*\u21a9\ufe0e?/gu;

function flatten(tokens: readonly Token[], options: InlineOptions): string {
  const said: string[] = [];
  const links = new Links(said);
  const silence = new Silence(said);
  for (const token of tokens) {
    if (silence.takes(token) || links.takes(token)) continue;
    said.push(spoken(token, said.at(-1) ?? '', options));
  }
  return said.join('');
}

/** Elements of HTML that are not spoken, up to their end. */
class Silence {
  readonly #said: string[];
  #name = '';
  /** The number of open elements of this name. */
  #depth = 0;

  constructor(said: string[]) {
    this.#said = said;
  }

  takes({ type, content }: Token): boolean {
    const tag = type === 'html_inline' ? tagOf(content) : undefined;
    if (this.#depth === 0) return tag !== undefined && this.#begins(tag);
    if (tag?.name === this.#name && !tag.isEmpty) this.#depth += tag.isEnd ? -1 : 1;
    return true;
  }

  #begins(tag: Tag): boolean {
    if (tag.isEnd || !isUnspoken(tag)) return false;
    if (tag.name !== 'img') this.#said.push(tag.name === 'math' ? ` ${spokenTag(tag)} ` : spokenTag(tag));
    this.#name = tag.name;
    this.#depth = tag.isEmpty ? 0 : 1;
    return true;
  }
}

const NOTE_MARK = /^\s*(?:\[?\d{1,3}\]?|[*†‡]{1,3})\s*$/u;
const LINK_TO_PLACE = /^<a\b[^>]*?(?:\shref\s*=\s*["']?[^"'\s>]*#|\bnoteref\b)/iu;

/** Links and raised signs: their text is known at their end. */
class Links {
  readonly #said: string[];
  #start = 0;
  #leadsToPlace = false;
  #raised = 0;

  constructor(said: string[]) {
    this.#said = said;
  }

  /** @returns true if nothing else is to be said of the token */
  takes(token: Token): boolean {
    const { type, content } = token;
    const isHtml = type === 'html_inline';
    if (type === 'link_open') return this.#open(/#/u.test(String(token.attrGet('href') ?? '')));
    if (isHtml && /^<a\b/iu.test(content)) return this.#open(LINK_TO_PLACE.test(content));
    if (type === 'link_close') return this.#close(true);
    if (isHtml && /^<\/a\b/iu.test(content)) return this.#close(false);
    if (isHtml && /^<sup\b/iu.test(content)) this.#raised = this.#said.length;
    else if (isHtml && /^<\/sup\b/iu.test(content)) this.#raise();
    else return false;
    return true;
  }

  #open(leadsToPlace: boolean): true {
    this.#start = this.#said.length;
    this.#leadsToPlace = leadsToPlace;
    return true;
  }

  #close(mayBeAddress: boolean): true {
    const text = this.#said.splice(this.#start).join('');
    const isNoteMark = this.#leadsToPlace && NOTE_MARK.test(text);
    if (!isNoteMark) this.#said.push(mayBeAddress ? linkText(text) : text);
    this.#leadsToPlace = false;
    return true;
  }

  #raise(): void {
    const text = this.#said.splice(this.#raised).join('');
    const before = endOf(this.#said);
    if (!/^[\d+−n-]+$/u.test(text.trim())) this.#said.push(text);
    else if (POWER.test(before))
      this.#said.push([...text.trim()].map((sign) => RAISED.get(sign) ?? '').join(''));
  }
}

/** A number, a unit or a variable has a power; the number after a word is the mark of a note. */
const POWER = /(?:\d|\)|(?:^|[^\p{L}])\p{L}{1,2})$/u;
const RAISED: ReadonlyMap<string, string> = new Map(
  [...'0123456789+-n'].map((sign, at) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ'][at] ?? '']),
);
const SIGHT = 40;

/** All that was said may be long, and is looked at often. */
function endOf(said: readonly string[]): string {
  let end = '';
  for (let at = said.length - 1; at >= 0 && end.length < SIGHT; at -= 1) end = said[at] + end;
  return end.slice(-SIGHT);
}

function spoken(token: Token, before: string, { math, noteAfter }: InlineOptions): string {
  const { type, content, children } = token;
  switch (type) {
    case 'footnote_ref':
    case 'inline_note':
      return noteAfter?.(before, token) ?? '';
    case 'math':
      return math === 'read' ? wordsOfTex(content) : 'formula';
    case 'text':
    case 'text_special':
    case 'code_inline':
      return content;
    case 'image':
      return flatten(children ?? [], {});
    case 'softbreak':
      return ' ';
    case 'hardbreak':
      return '\n';
    case 'html_inline': {
      const tag = tagOf(content);
      return tag ? spokenTag(tag) : '';
    }
    default:
      return '';
  }
}

/** A bare address is read as its host, and keeps its marks. */
function linkText(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:/iu.test(text)) return text;
  return hostIn(text.replace(MARKS, '')) + (text.match(MARKS) ?? []).join('');
}

const MARKS = new RegExp(MARK, 'gu');

function hostIn(text: string): string {
  if (/^(?:mailto|tel):/iu.test(text)) return text.slice(text.indexOf(':') + 1);
  if (!/^[a-z][a-z\d+.-]*:\/\/\S+$/iu.test(text)) return text;
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  return host === '' ? text.replace(/^[^:]+:\/+/u, '') : domainToUnicode(host).replace(/^www\./u, '') || host;
}
