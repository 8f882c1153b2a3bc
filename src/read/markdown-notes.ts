/**
 * The syntax that Obsidian, Logseq and Notion add to Markdown: block ids, embedded notes, queries and properties are
 * silent; tags, links and callouts are read as words.
 */
import type { MarkdownIt as Parser, StateInline } from 'markdown-it';
import { describesNothing } from './html-elements.ts';

export type InlineRule = (state: StateInline, isSilent: boolean) => boolean;

/** UTF-16 units of a formula, a note or a comment. */
export const LONGEST_MATCH = 2000;

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = 0;
  return pattern.exec(text.slice(at, at + LONGEST_MATCH)) ?? undefined;
}

/**
 * Makes a rule that turns a match into one token.
 * @param contentOf gets the character before the match; "" makes no token, and `undefined` rejects the match
 */
export function tokenFor(
  pattern: RegExp,
  contentOf: (found: RegExpExecArray, before: string) => string | undefined,
  type = 'text',
): InlineRule {
  return (state, isSilent) => {
    const found = matchAt(pattern, state.src, state.pos);
    const content = found && contentOf(found, state.src.charAt(state.pos - 1));
    if (!found || content === undefined) return false;
    if (!isSilent && content !== '') state.push(type, '', 0).content = content;
    state.pos += found[0].length;
    return true;
  };
}

/** Wiki links: `[[Page]]`, `[[Page#Part|label]]`, and `[label]([[Page]])` of Logseq. */
const wiki = tokenFor(
  /\[\[([^[\]|*`\n]+)(?:\|([^[\]*`\n]+))?\]\]|\[([^[\]\n]+)\]\((?:\[\[[^[\]\n]*\]\]|\(\([^()\n]*\)\))\)/uy,
  ([, target = '', label, logseqLabel]) => logseqLabel ?? label ?? pageName(target.replace(/\\$/u, '')),
);

/** Returns the words of a link target, without a final block id. */
function pageName(target: string): string {
  return target
    .replace(/#?\^[\w-]*$/u, '')
    .replace(/\.md(?=#|$)/u, '')
    .split(/[#/]/u)
    .filter((part) => part !== '')
    .join(' ');
}

const COLOUR = /^(?=.*\d)(?:[\da-f]{3}|[\da-f]{6}|[\da-f]{8})$/iu;

/**
 * Tags such as `#project/idea`. `#1` is a number, since a tag has a letter. Before `[[two words]]`, only the sign is taken.
 */
const tag = tokenFor(
  /#(?:(?=[\d/_-]*[\p{L}\p{Extended_Pictographic}])([\p{L}\p{M}\p{N}\p{Extended_Pictographic}/_-]+)|(?=\[\[))/uy,
  ([, name = ''], before) =>
    /[\p{L}\p{N}/&#]/u.test(before) || COLOUR.test(name) ? undefined : name.split(/[/_]+/u).join(' ').trim(),
);

/** Logseq macros that show something else in their place. */
const SHOWN =
  /^(?:query|embed|video|youtube(?:-timestamp)?|tweet|twitter|vimeo|bilibili|renderer|namespace|function|iframe|pdf|zotero[\w-]*)\b/u;

/** Macros such as `{{query …}}` and `{{cloze …}}`, and the size of a picture. */
const macro = tokenFor(
  /\{\{([^{}\n]*)\}\}|\{(?::(?:height|width)|width=|height=)[^{}\n]*\}/uy,
  ([, content = '']) => (SHOWN.test(content.trim()) ? '' : content.trim().replace(/^cloze\s+|^c\d::/u, '')),
);

/** Dataview fields: `[rating:: 5]`. */
const field = tokenFor(
  /\[(\p{L}[^[\]:\n]{0,60}):: ?([^[\]\n]*)\]/uy,
  ([, key = '', value = '']) => `${key}: ${value}`,
);

/** Commands of templates, as Obsidian, Jekyll, GitBook and Hugo have them; Hugo's have two braces. */
const template = tokenFor(/<%[\s\S]*?%>|\{%[\s\S]*?%\}|\{\{[<%][\s\S]*?[>%]\}\}/uy, () => '');

/** The place of a table of contents: `[TOC]`, `[[toc]]`, `[[_TOC_]]`. */
const contents = tokenFor(/\[(?:TOC|\[(?:toc|_TOC_)\])\](?=\n|$)/uy, (_, before) =>
  /[^\n]/u.test(before) ? undefined : '',
);

export function noteSyntax(parser: Parser): void {
  const { ruler } = parser.inline;
  ruler.before('link', 'wiki', wiki);
  ruler.before('link', 'tag', tag);
  ruler.before('link', 'macro', macro);
  ruler.before('wiki', 'field', field);
  ruler.before('macro', 'template', template);
  ruler.before('wiki', 'contents', contents);
}

/** Code block languages that show something else in their place. */
const QUERIES =
  /^(?:query|dataview|dataviewjs|tasks|button|tracker|excalidraw|compressed-json|calendar-nav)$/iu;

export function isQuery(language: string): boolean {
  return QUERIES.test(language);
}

const KNOWN_KEY =
  /^(?:id|collapsed|tags?|alias(?:es)?|title|type|class|category|public|icon|template(?:-including-parent)?|created(?:[-_]?at)?|updated(?:[-_]?at)?|date|heading|background-\w+|exclude-from-graph-view|filters|file(?:-path)?|status|priority|authors?|url|link|source|related|up|parent|next|prev(?:ious)?|ls-type|(?:hl|card|query|logseq|term)[-.].*)$/iu;
const PROPERTY = /^[ \t]*([\p{L}\p{N}_./-]{1,60})::(?:[ \t].*)?$/u;

/** Org mode lines in Logseq: time sheets, dates of tasks, and block borders. */
const ORG_LINE =
  /^[ \t]*(?:(?::LOGBOOK:|:END:|(?:SCHEDULED|DEADLINE): <[^<>]*>)[ \t]*$|CLOCK: \[|#\+(?:BEGIN|END)_\w)/u;
const ORG_QUERY = /^[ \t]*#\+BEGIN_QUERY/u;
const ORG_QUERY_END = /^[ \t]*#\+END_QUERY/u;

/** A block id. A number after the sign is a power instead. */
const BLOCK_NAME = /(?:^|[^\S\n])\^(?!\d{1,2}[ \t]*$)[\p{L}\p{N}-]{1,60}[ \t]*$/gmu;
const BLOCK_REFERENCE = /\(\([\da-f]{8}-[\da-f-]{20,30}\)\)/giu;
const PRIORITY = /(?<!\S)\[#[A-C]\](?!\S)[ \t]?/gu;
const NAMED_VALUE = /\((\p{L}[^()[\]:\n]{0,60}):: ([^()\n]*)\)/gu;
const WRITTEN_KEY = /^([ \t]*[*_]{0,3}\p{L}[^:[(\n]{0,60}?)::(?=[*_]{0,3}[ \t])/u;

/** Signs of Obsidian's Tasks plugin: before a date, a rule or an id, and for a priority at the end. */
const TASK_SIGN =
  /(?:(?:📅|📆|🗓|⏳|⌛|🛫|➕|✅|❌)\ufe0f?(?=[^\S\n]?\d{4}-\d\d-\d\d)|🔁\ufe0f?(?=[^\S\n]?every\b)|(?:🆔|⛔)\ufe0f?[^\S\n]?(?=[a-z]{0,5}\d)[a-z\d]{6}\b|🏁\ufe0f?(?=[^\S\n]?(?:delete|keep)\b)|(?:🔺|⏫|🔼|🔽|⏬)\ufe0f?(?=[^\S\n]?(?:$|\p{Extended_Pictographic})))[^\S\n]?/gmu;
/** A date or a time of the Kanban plugin. */
const CARD_TIME = /@{1,2}\{(\d[\d:. -]{2,20})\}/gu;

/** Returns the text of a block without its id, its properties and task metadata. */
export function withoutProperties(content: string): string {
  if (
    !/::|\^|\(\(|\[#|:LOGBOOK:|(?:SCHEDULED|DEADLINE): |#\+|@\{|[📅📆🗓⏳⌛🛫➕✅❌🔁🆔⛔🏁🔺⏫🔼🔽⏬]/u.test(
      content,
    )
  )
    return content;
  const lines = content.replace(BLOCK_NAME, '').split('\n');
  const isGroup = lines.some((line) => KNOWN_KEY.test(PROPERTY.exec(line)?.[1] ?? ''));
  let isInQuery = false;
  const spoken = lines.filter((line) => {
    if (ORG_QUERY.test(line)) isInQuery = true;
    const isSilent = isInQuery || ORG_LINE.test(line) || (isGroup && PROPERTY.test(line));
    if (ORG_QUERY_END.test(line)) isInQuery = false;
    return !isSilent;
  });
  return spoken
    .map((line) => line.replace(WRITTEN_KEY, '$1:'))
    .join('\n')
    .replace(BLOCK_REFERENCE, '')
    .replace(PRIORITY, '')
    .replace(NAMED_VALUE, '($2)')
    .replace(TASK_SIGN, '')
    .replace(CARD_TIME, '$1');
}

/** Names of page properties in Notion. */
const NOTION_KEY =
  /^(?:created(?: time| by)?|last edited(?: time| by)?|date(?: created)?|tags|status|assign(?:ee)?|owner|due(?: date)?|type|priority|property|url)$/iu;
const NOTION_PROPERTY = /^(\p{L}[^:\n]{0,40}): \S.*$/u;

/** True for the paragraph of properties that Notion writes below a page title: `Created: …`, `Tags: …`. */
export function isPropertyList(content: string): boolean {
  const keys = content.split('\n').map((line) => NOTION_PROPERTY.exec(line)?.[1]);
  if (!keys.every((key) => key !== undefined)) return false;
  const known = keys.filter((key) => NOTION_KEY.test(key ?? ''));
  return (
    known.some((key) => /^(?:created|last edited)/iu.test(key ?? '')) || (known.length > 0 && keys.length > 1)
  );
}

export interface Callout {
  /** The kind as the first word: `Note: `. */
  readonly lead: string;
  /** Empty if there is none. */
  readonly title: string;
  readonly body: string;
}

const CALLOUT = /^\[!(\p{L})([\p{L}\p{N} _-]{0,30})(?:\|[^\]\n]*)?\](?:[+-](?=\s|$))?[ \t]*([^\n]*)/u;

/** Parses a callout at the start of a quotation, `[!tip]- My title`. The sign after the bracket says if it is folded. */
export function calloutOf(paragraph: string): Callout | undefined {
  const [opening, first = '', rest = '', title = ''] = CALLOUT.exec(paragraph) ?? [];
  if (opening === undefined) return undefined;
  const kind = first.toUpperCase() + rest.toLowerCase().replace(/[_-]+/gu, ' ').trimEnd();
  return { lead: `${kind}: `, title: title.trim(), body: paragraph.slice(opening.length).trim() };
}

/** Parses a callout of the Admonition plugin: a code block with the language `ad-note`. */
export function admonitionOf(language: string, content: string): Callout | undefined {
  const kind = /^ad-(\p{L}[\p{L}\p{N}_-]{0,30})$/u.exec(language)?.[1];
  if (kind === undefined) return undefined;
  const title = /^title:(.{0,200})$/mu.exec(content)?.[1] ?? '';
  return calloutOf(`[!${kind}]${title}\n${content.replace(/^(?:title|collapse|icon|color):.*$/gmu, '')}`);
}

/** Removes the icon that Notion puts before the text of a callout. */
export function withoutIcon(html: string): string {
  return html.replace(
    /^(\s*<aside>\s*)(?:\p{Extended_Pictographic}|[\ufe0f\u200d]|\p{Emoji_Modifier})+/u,
    '$1',
  );
}

/** True for inline code that Dataview replaces by a result. */
export function isInlineQuery(code: string): boolean {
  return /^\$?=\s*(?:this\.|dv\.|\[\[|[a-z]+\()/u.test(code);
}

/** The size of a picture in Obsidian: `300`, or `|300x200` after the description. */
const SIZE = /(?:^|\|)\s*\d+(?:x\d+)?\s*$/u;

/** Returns a picture's description without its size; empty if it describes nothing. */
export function pictureWords(alt: string, src: string): string {
  const words = alt.replace(SIZE, '').trim();
  return describesNothing({ alt: words, src }) ? '' : words;
}

const OPENING = /^(---|\+\+\+)[ \t]*\n/u;
/** A first line like this is front matter; anything else makes a thematic break of the opening. */
const FIRST_FIELD = /^[ \t]*(?:#|["']?[\p{L}_][^\n]{0,200}?[:=])/u;
const PAGE_PROPERTIES = /^(?:[\p{L}\p{N}_./-]{1,60}::(?:[ \t][^\n]{0,2000})?(?:\n|$))+/u;
const TITLE = /^["']?title["']?[ \t]*(?:::?|=)[ \t]*(?!["']?\s*$|[>|][+-]?\s*$)(.{1,300})$/imu;

export interface FrontMatter {
  /** UTF-16 units. */
  readonly length: number;
  readonly title: string | undefined;
}

/**
 * Finds YAML (---) or TOML (+++), or the page properties of Logseq (`key:: value`).
 * @param isWhole true if nothing follows
 * @returns `undefined` if the front matter may be incomplete
 */
export function frontMatterOf(source: string, isWhole: boolean): FrontMatter | undefined {
  const length = frontMatterLength(source, isWhole);
  if (length === undefined) return undefined;
  const title = TITLE.exec(source.slice(0, length))?.[1]?.trim();
  return { length, title: title?.replace(/^(["'])(.*)\1$/u, '$2').trim() || undefined };
}

function frontMatterLength(source: string, isWhole: boolean): number | undefined {
  const properties = PAGE_PROPERTIES.exec(source)?.[0];
  if (properties !== undefined)
    return isWhole || properties.length < source.length ? properties.length : undefined;
  const { 0: fence, 1: mark } = OPENING.exec(source) ?? [];
  if (fence === undefined || !FIRST_FIELD.test(source.slice(fence.length, fence.length + 400))) return 0;
  const closing = mark === '---' ? /\n(?:---|\.\.\.)[ \t]*(?=\n|$)/gu : /\n\+\+\+[ \t]*(?=\n|$)/gu;
  closing.lastIndex = fence.length;
  if (closing.test(source)) return closing.lastIndex;
  return isWhole ? 0 : undefined;
}
