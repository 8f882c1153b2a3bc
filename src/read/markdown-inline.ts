import { domainToUnicode } from 'node:url';
import type { Token } from 'markdown-it';
import { LOOKAROUND, MARK, withFullStop } from '../text/marks.ts';
import { isUnspoken, rowOf, spokenTag, type Tag, tagOf } from './html-elements.ts';
import { isInlineQuery, pictureWords } from './markdown-notes.ts';
import type { MarkdownOptions } from './reading.ts';
import { mathWords, texWords } from './tex.ts';

export interface InlineOptions extends Pick<MarkdownOptions, 'math'> {
  /** Returns what to say for a note after the text, given its reference or an inline note. */
  noteAfter?(said: string, note: Token): string;
}

export function spokenInline(tokens: readonly Token[], options: InlineOptions): string {
  return flatten(tokens, options)
    .replace(BACK_LINK, '')
    .replace(/[ \t]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .trim();
}

/** The sign by which pandoc links back from a note. Matches each run of white space once, to stay linear. */
const BACK_LINK = /(?<!\s)\s*\u21a9\ufe0e?/gu;

function flatten(tokens: readonly Token[], options: InlineOptions): string {
  const said = new Said();
  for (const token of tokens) said.add(token, options);
  return said.parts.join('');
}

const NOTE_MARK = /^\s*(?:\[?\d{1,3}\]?|[*†‡]{1,3})\s*$/u;
const LINK_TO_PLACE = /^<a\b[^>]*?(?:\shref\s*=\s*["']?[^"'\s>]*#|\bnoteref\b)/iu;
/** The end of a title that folds the text below it. */
const TITLE_END = /^<\/summary\b/iu;

class Said {
  readonly parts: string[] = [];
  /** The name of the HTML element that is not spoken, and how many with that name are open. */
  #silent = { name: '', depth: 0 };
  /** Where the current link and raised text begin, since they are only judged at their end. */
  #link = { start: 0, leadsToPlace: false };
  #raised = 0;

  add(token: Token, options: InlineOptions): void {
    if (this.#isSilent(token, options) || this.#isLink(token)) return;
    if (token.type === 'html_inline' && TITLE_END.test(token.content)) this.#endTitle();
    this.parts.push(spoken(token, this.parts.at(-1) ?? '', options));
  }

  #endTitle(): void {
    const last = this.parts.findLastIndex((text) => /\S/u.test(text));
    if (last >= 0) this.parts[last] = withFullStop((this.parts[last] ?? '').trimEnd());
  }

  #isSilent({ type, content }: Token, options: InlineOptions): boolean {
    const tag = type === 'html_inline' ? tagOf(content) : undefined;
    const { name, depth } = this.#silent;
    if (depth === 0) return tag !== undefined && this.#beginsSilence(tag, options);
    if (tag?.name === name && !tag.isEmpty) this.#silent.depth += tag.isEnd ? -1 : 1;
    return true;
  }

  #beginsSilence(tag: Tag, { math }: InlineOptions): boolean {
    if (tag.isEnd || !isUnspoken(tag)) return false;
    if (tag.name === 'math') this.parts.push(` ${mathWords(tag.attributes.alttext, math)} `);
    else if (tag.name !== 'img') this.parts.push(spokenTag(tag));
    this.#silent = { name: tag.name, depth: tag.isEmpty ? 0 : 1 };
    return true;
  }

  /** @returns true if the token was handled */
  #isLink(token: Token): boolean {
    const { type, content } = token;
    const isHtml = type === 'html_inline';
    if (type === 'link_open') this.#open(/#/u.test(String(token.attrGet('href') ?? '')));
    else if (isHtml && /^<a\b/iu.test(content)) this.#open(LINK_TO_PLACE.test(content));
    else if (type === 'link_close') this.#close(true);
    else if (isHtml && /^<\/a\b/iu.test(content)) this.#close(false);
    else if (isHtml && /^<sup\b/iu.test(content)) this.#raised = this.parts.length;
    else if (isHtml && /^<\/sup\b/iu.test(content)) this.#raise();
    else return false;
    return true;
  }

  #open(leadsToPlace: boolean): void {
    this.#link = { start: this.parts.length, leadsToPlace };
  }

  #close(mayBeAddress: boolean): void {
    const text = this.parts.splice(this.#link.start).join('');
    const isNoteMark = this.#link.leadsToPlace && NOTE_MARK.test(text);
    if (!isNoteMark) this.parts.push(mayBeAddress ? linkText(text) : text);
    this.#link.leadsToPlace = false;
  }

  #raise(): void {
    const text = this.parts.splice(this.#raised).join('');
    const before = endOf(this.parts);
    if (!/^[\d+−n-]+$/u.test(text.trim())) this.parts.push(text);
    else if (POWER.test(before))
      this.parts.push([...text.trim()].map((sign) => RAISED.get(sign) ?? '').join(''));
  }
}

/** Text that can have a power: a number, a unit or a variable. After a word, a raised number is a note's mark. */
const POWER = /(?:\d|\)|(?:^|[^\p{L}])\p{L}{1,2})$/u;
const RAISED: ReadonlyMap<string, string> = new Map(
  [...'0123456789+-n'].map((sign, at) => [sign, [...'⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ'][at] ?? '']),
);

/** Returns the end of the text only: the whole text may be long, and this is called often. */
function endOf(said: readonly string[]): string {
  let end = '';
  for (let at = said.length - 1; at >= 0 && end.length < LOOKAROUND; at -= 1) end = said[at] + end;
  return end.slice(-LOOKAROUND);
}

function spoken(token: Token, before: string, { math, noteAfter }: InlineOptions): string {
  const { type, content, children } = token;
  switch (type) {
    case 'footnote_ref':
    case 'inline_note':
      return noteAfter?.(before, token) ?? '';
    case 'math':
      return texWords(content, math);
    case 'text':
    case 'text_special':
      return content;
    case 'code_inline':
      return isInlineQuery(content) ? '' : content;
    case 'image':
      return pictureWords(flatten(children ?? [], {}), String(token.attrGet('src') ?? ''));
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

/** Reads a bare address as its host, and keeps the placeholders in it. */
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

/** UTF-16 units. Longer column titles are not repeated in each row. */
const LONGEST_LABEL = 100;

/** Reads each row with its column titles: "Name: Ada, Age: 36." */
export class TableReader {
  #labels: readonly string[] = [];
  #row: string[] = [];
  #isSaid = false;

  startRow(): undefined {
    this.#row = [];
  }

  cell(text: string): undefined {
    this.#row.push(text);
  }

  /** @returns the column titles if they are too long to be repeated */
  endHead(): string {
    const titles = this.#row.map((title) => (/[:.]$/u.test(title) ? title.slice(0, -1).trimEnd() : title));
    if (titles.every((title) => title.length <= LONGEST_LABEL)) this.#labels = titles;
    else this.#isSaid = true;
    return this.#isSaid ? rowOf(this.#row) : '';
  }

  endRow(): string {
    this.#isSaid = true;
    return rowOf(
      this.#row.map((cell, column) => {
        const label = this.#labels[column];
        return cell !== '' && label ? `${label}: ${cell}` : cell;
      }),
    );
  }

  end(): string {
    return this.#isSaid ? '' : rowOf(this.#labels);
  }
}
