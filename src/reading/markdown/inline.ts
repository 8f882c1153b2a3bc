import { domainToUnicode } from 'node:url';
import type { Token } from 'markdown-it';
import { MARK } from '../../text/marks/syntax.ts';

const LINE =
  /^<(?:br|hr|\/?(?:p|div|section|article|header|footer|details|summary|blockquote|center|figcaption|h[1-6]|[uod]l|li|d[td]|table|tr|t[hd]|caption))\b/iu;

const UNSPOKEN = /^<(\/?)(?:script|style|template|svg)\b/iu;

export function spokenInline(tokens: readonly Token[], footnoteBehind?: FootnoteBehind): string {
  return flatten(tokens, footnoteBehind)
    .replace(/[ \t]+/gu, ' ')
    .replace(/ ?\n[ \n]*/gu, '\n')
    .trim();
}

type FootnoteBehind = (said: string, reference: Token) => string;

function flatten(tokens: readonly Token[], footnoteBehind: FootnoteBehind = () => ''): string {
  const said: string[] = [];
  let linkStart = 0;
  let isUnspoken = false;
  for (const token of tokens) {
    const tag = token.type === 'html_inline' ? UNSPOKEN.exec(token.content) : undefined;
    if (tag) isUnspoken = tag[1] === '';
    if (isUnspoken) continue;
    if (token.type === 'link_open') linkStart = said.length;
    else if (token.type === 'link_close') said.push(linkText(said.splice(linkStart).join('')));
    else said.push(spoken(token) ?? footnoteBehind(said.at(-1) ?? '', token));
  }
  return said.join('');
}

/** `undefined` for a reference to a footnote. */
function spoken({ type, content, children }: Token): string | undefined {
  switch (type) {
    case 'footnote_ref':
      return undefined;
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
      return LINE.test(content) ? '\n' : descriptionIn(content);
    default:
      return '';
  }
}

const DESCRIPTION = /^<img\b[^>]*?\salt\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/iu;

function descriptionIn(tag: string): string {
  const [, ...values] = DESCRIPTION.exec(tag) ?? [];
  return values.find((value) => value !== undefined) ?? '';
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
