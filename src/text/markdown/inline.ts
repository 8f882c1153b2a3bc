import { domainToUnicode } from 'node:url';
import type { Token } from 'markdown-it';

/** Tags that begin or end a line. */
const LINE =
  /^<(?:br|hr|\/?(?:p|div|section|article|header|footer|details|summary|blockquote|center|figcaption|h[1-6]|[uod]l|li|d[td]|table|tr|t[hd]|caption))\b/iu;

/** What stands between such tags is for programs. */
const UNSPOKEN = /^<(\/?)(?:script|style|template|svg)\b/iu;

/**
 * The text of a paragraph, heading or cell, or of a block of HTML: no marks and tags, links by their text, images by their
 * description.
 */
export function spokenInline(tokens: readonly Token[]): string {
  return flatten(tokens)
    .replace(/[ \t]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .trim();
}

function flatten(tokens: readonly Token[]): string {
  const said: string[] = [];
  let linkStart = 0;
  let isUnspoken = false;
  for (const token of tokens) {
    const tag = token.type === 'html_inline' ? UNSPOKEN.exec(token.content) : undefined;
    if (tag) isUnspoken = tag[1] === '';
    if (isUnspoken) continue;
    if (token.type === 'link_open') linkStart = said.length;
    else if (token.type === 'link_close') said.push(linkText(said.splice(linkStart).join('')));
    else said.push(spoken(token));
  }
  return said.join('');
}

function spoken({ type, content, children }: Token): string {
  switch (type) {
    case 'text':
    case 'text_special':
    case 'code_inline':
      return content;
    case 'image':
      return flatten(children ?? []);
    case 'softbreak':
      return ' ';
    case 'hardbreak':
      return '\n';
    case 'html_inline':
      return LINE.test(content) ? '\n' : '';
    default:
      return '';
  }
}

/** An address that stands for itself is named by its site: nobody reads out a path. */
function linkText(text: string): string {
  if (/^(?:mailto|tel):/iu.test(text)) return text.slice(text.indexOf(':') + 1);
  if (!/^[a-z][a-z\d+.-]*:\/\/\S+$/iu.test(text)) return text;
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  return host === '' ? text.replace(/^[^:]+:\/+/u, '') : domainToUnicode(host).replace(/^www\./u, '') || host;
}

/** How far back a mark or a letter is looked for, in UTF-16 units. */
export const SIGHT = 40;

const ENDED = /[\p{Sentence_Terminal}…]\p{P}*$/u;
/** What these announce or set apart would sound wrong with a full stop behind it. */
const PAUSES = /[:;,،؛、，；：]$/u;

export function endsSentence(text: string): boolean {
  return ENDED.test(text.slice(-SIGHT));
}

/** Ends what has a line of its own (a heading, an item, a row) like a sentence, unless its own last mark does. */
export function withFullStop(text: string): string {
  return text === '' || endsSentence(text) || PAUSES.test(text) ? text : text + fullStopAfter(text);
}

function fullStopAfter(text: string): string {
  const letter = text.slice(-SIGHT).match(/\p{L}/gu)?.at(-1) ?? '';
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(letter)) return '。';
  return /[\p{sc=Devanagari}\p{sc=Bengali}]/u.test(letter) ? '।' : '.';
}
