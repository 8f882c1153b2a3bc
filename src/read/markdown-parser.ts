import MarkdownIt, { type MarkdownIt as Parser, type StateBlock, type Token } from 'markdown-it';
import footnotes from 'markdown-it-footnote';
import { lazy } from '../text/unicode.ts';
import { type InlineRule, LONGEST_MATCH, matchAt, noteSyntax, tokenFor } from './markdown-notes.ts';

type BlockRule = (state: StateBlock, startLine: number, endLine: number, isSilent: boolean) => boolean;

/** Signs of a TeX formula before a letter or digit. Without them, `\(` is an escaped bracket. */
const LIKE_TEX = /^[^\\^_=+<>{}]*[\\^_=+<>{}].*[\p{L}\p{N}]|\d\s*[-*/]/su;

const MATH: readonly RegExp[] = [
  /\$\$([^$]+)\$\$/uy,
  // A price followed by words is no formula: "$5 and 10$".
  /\$(?![\s$]|\d[\d.,]*[KMBkmb]?[)!?;:"']?\s+[\p{L}]{2})((?:\\.|[^$\\\n]|\n(?!\s*\n))*?[^\s\\$])\$(?!\d)/uy,
  /\\\(([^\n]*?)\\\)/uy,
  /\\\[((?:[^\n]|\n(?!\s*\n))*?)\\\]/uy,
];

const math: InlineRule = (state, isSilent) => {
  const sign = state.src.charAt(state.pos);
  if (sign !== '$' && sign !== '\\') return false;
  for (const pattern of MATH) {
    const found = matchAt(pattern, state.src, state.pos);
    if (!found || (sign === '\\' && !isTex(found, state.src.charAt(state.pos - 1)))) continue;
    if (!isSilent) state.push('math', 'math', 0).content = (found[1] ?? '').trim();
    state.pos += found[0].length;
    return true;
  }
  return false;
};

/** A single letter in brackets is a variable, unless it is the argument of a function. */
function isTex([all, content = '']: RegExpExecArray, before: string): boolean {
  const isVariable = all.startsWith('\\(') && /^\s*\p{L}\s*$/u.test(content);
  return LIKE_TEX.test(content) || (isVariable && !/[\p{L}\p{N}]/u.test(before));
}

const OPERAND = String.raw`(?:\d[\d.,]{0,15}|[a-zA-Z])`;

/** Stars between numbers or variables, as in `2*3*4`. CommonMark would take them for emphasis and drop them. */
const STARS = new RegExp(
  String.raw`(?<=(?<![\p{L}\p{N}_*.,])${OPERAND}(?:\*{1,2}${OPERAND}){0,20})\*{1,2}(?=\d|[a-zA-Z](?![\p{L}\p{N}_]))`,
  'uy',
);

const product: InlineRule = (state, isSilent) => {
  STARS.lastIndex = state.pos;
  const stars = state.src.charAt(state.pos) === '*' && STARS.exec(state.src)?.[0];
  if (!stars) return false;
  if (!isSilent) state.pending += stars;
  state.pos += stars.length;
  return true;
};

/** Comments, page commands and embedded files, which are silent. */
const silent = tokenFor(
  /%%[\s\S]*?%%|\{\/\*[\s\S]*?\*\/\}|\\(?:newpage|pagebreak|clearpage|bigskip|medskip|smallskip|noindent)\b ?|!\[\[[^\]\n]+\]\]/uy,
  () => '',
);

/** A pandoc citation. */
const CITATION = /\[(?:[^\]\n@]{0,40}\s)?-?@[\p{L}\p{N}_][^\]\n]*\](?![([])/uy;

/** The id and the classes of a heading, a link or a block: `{#name .class key=value}`, `{: .class }`. */
const ATTRIBUTE = String.raw`(?:[#.][\p{L}\p{N}_][\p{L}\p{N}_:.-]*|[\p{L}_][\p{L}\p{N}_:.-]*=(?:"[^"\n]*"|[^\s"{}]+))`;
const ATTRIBUTES = new RegExp(
  String.raw`\{(?:-|:?[ \t]*${ATTRIBUTE}(?:[ \t]+${ATTRIBUTE}){0,20}[ \t]*)\}`,
  'uy',
);

/** Skips citations and attributes, along with the space before them. */
const aside: InlineRule = (state, isSilent) => {
  const pattern = state.src.charAt(state.pos) === '{' ? ATTRIBUTES : CITATION;
  const found = /[\\$]/u.test(state.src.charAt(state.pos - 1))
    ? undefined
    : matchAt(pattern, state.src, state.pos);
  if (!found) return false;
  if (!isSilent) state.pending = state.pending.trimEnd();
  state.pos += found[0].length;
  return true;
};

/** Highlighted text: `==marked==` of Obsidian, `^^marked^^` of Logseq. */
const MARKED = /==(?=[^\s=])((?:(?!==)[^\n])*[^\s=])==|\^\^(?=[^\s^])((?:(?!\^\^)[^\n])*[^\s^])\^\^/uy;

const marked: InlineRule = (state, isSilent) => {
  const found = matchAt(MARKED, state.src, state.pos);
  if (!found) return false;
  const [start, end] = [state.pos, state.posMax];
  if (!isSilent) {
    state.pos = start + 2;
    state.posMax = start + found[0].length - 2;
    state.md.inline.tokenize(state);
  }
  state.pos = start + found[0].length;
  state.posMax = end;
  return true;
};

const inlineNote = tokenFor(
  /\^\[((?:[^[\]]|\[[^[\]]*\])+)\]/uy,
  ([, content = '']) => content,
  'inline_note',
);

/** The border of a box and its title: `::: note`, `:::tip My title`, `:::tip[My title]`, `:::{note} My title`, `:::`. */
const BORDER =
  /^:{3,}[ \t]*(?:\{?[a-z][\w-]{0,30}\}?(?:\[(?<title>[^\]\n]*)\]|[ \t]+(?<words>[^\s:{][^{}\n]{0,200}))?)?/iu;

/** Skips the borders of a box. Its title and its content are read. */
const box: BlockRule = (state, startLine, _endLine, isSilent) => {
  const border = BORDER.exec(lineOf(state, startLine));
  if (!border) return false;
  if (isSilent) return true;
  state.line = startLine + 1;
  const { title, words = title } = border.groups ?? {};
  if (words) pushParagraph(state, words.trim(), [startLine, state.line]);
  return true;
};

/** An import of MDX. */
const IMPORT = /^import[ \t](?:[^'"\n]{1,200}[ \t]from[ \t]+)?(['"])[^'"\n]{1,200}\1;?[ \t]*$/u;

const imports: BlockRule = (state, startLine, _endLine, isSilent) => {
  if (!IMPORT.test(lineOf(state, startLine))) return false;
  if (!isSilent) state.line = startLine + 1;
  return true;
};

/** A formula or a comment on lines of its own. */
const display: BlockRule = (state, startLine, endLine, isSilent) => {
  const sign = /^(?:\$\$|%%|\\\[)/u.exec(lineOf(state, startLine))?.[0];
  if (!sign) return false;
  const closing = sign === '\\[' ? '\\]' : sign;
  let line = startLine;
  let text = lineOf(state, line).trimEnd();
  while (!(text.length > sign.length && text.endsWith(closing))) {
    line += 1;
    if (line >= endLine || text.length > LONGEST_MATCH) return false;
    text += `\n${lineOf(state, line).trimEnd()}`;
  }
  if (isSilent) return true;
  state.line = line + 1;
  pushParagraph(state, text, [startLine, line + 1]);
  return true;
};

/** Boxes and tabs of MkDocs: `!!! note "Title"`, `??? tip`, `=== "Tab"`. */
const BOX =
  /^(?:(?:!!!|\?\?\?\+?)[ \t]+(?<kind>[a-z][\w-]{0,30})(?:[ \t]+[a-z][\w-]*){0,4}(?:[ \t]+"(?<title>[^"\n]*)")?|===[!+]?[ \t]+"(?<tab>[^"\n]+)")[ \t]*$/u;
/** A definition of PHP Markdown Extra and pandoc, below its term. */
const DEFINITION = /^:[ \t]+(?=\S)/u;
const INDENT = 4;

/** Reads the indented lines below a box or a definition as a quotation; CommonMark takes them for code. */
const indented: BlockRule = (state, startLine, endLine, isSilent) => {
  const { blkIndent, lineMax, sCount, tShift } = state;
  const [line, count = 0, shift = 0] = [lineOf(state, startLine), sCount[startLine], tShift[startLine]];
  const box = BOX.exec(line)?.groups;
  const [sign] = DEFINITION.exec(line) ?? [];
  if ((!box && sign === undefined) || count - blkIndent >= INDENT) return false;
  const end = endOfIndented(state, startLine, endLine);
  if (box && end === startLine + 1) return false;
  if (isSilent) return true;
  state.push('blockquote_open', 'blockquote', 1).map = [startLine, end];
  if (box) pushParagraph(state, titleOf(box), [startLine, startLine + 1]);
  Object.assign(state, { blkIndent: blkIndent + INDENT, lineMax: end });
  if (sign) [sCount[startLine], tShift[startLine]] = [state.blkIndent, shift + sign.length];
  state.md.block.tokenize(state, box ? startLine + 1 : startLine, end);
  [sCount[startLine], tShift[startLine]] = [count, shift];
  Object.assign(state, { blkIndent, lineMax, line: end });
  state.push('blockquote_close', 'blockquote', -1);
  return true;
};

/** Returns the title in the form of an Obsidian callout. */
function titleOf({ kind, title, tab }: Readonly<Record<string, string | undefined>>): string {
  if (tab !== undefined) return tab;
  return title === '' ? '' : `[!${kind}] ${title ?? ''}`;
}

/** Returns the line after the last one that is indented, or that continues the line before. */
function endOfIndented(state: StateBlock, startLine: number, endLine: number): number {
  let end = startLine + 1;
  for (let line = end; line < endLine; line += 1) {
    if (state.isEmpty(line)) continue;
    const indent = (state.sCount[line] ?? 0) - state.blkIndent;
    if (indent < (line === end ? 1 : INDENT)) break;
    end = line + 1;
  }
  return end;
}

function pushParagraph(state: StateBlock, content: string, map: [number, number]): void {
  state.push('paragraph_open', 'p', 1).map = map;
  Object.assign(state.push('inline', '', 0), { content, map, children: [] });
  state.push('paragraph_close', 'p', -1);
}

function lineOf({ src, bMarks, tShift, eMarks }: StateBlock, line: number): string {
  return src.slice((bMarks[line] ?? 0) + (tShift[line] ?? 0), eMarks[line]);
}

/** Adds what people write in addition to CommonMark: TeX, highlights, comments, citations, notes, boxes and definitions. */
function dialect(parser: Parser): void {
  parser.inline.ruler.before('escape', 'math', math);
  parser.inline.ruler.before('emphasis', 'product', product);
  parser.inline.ruler.before('escape', 'silent', silent);
  parser.inline.ruler.before('escape', 'aside', aside);
  parser.inline.ruler.before('link', 'marked', marked);
  parser.inline.ruler.before('link', 'inline_note', inlineNote);
  const alt = ['paragraph', 'reference', 'blockquote', 'list'];
  parser.block.ruler.before('fence', 'box', box, { alt });
  parser.block.ruler.before('fence', 'imports', imports);
  parser.block.ruler.before('fence', 'display', display, { alt });
  parser.block.ruler.before('fence', 'indented', indented, { alt });
}

/** The parser makes no tokens for blocks nested deeper than this. */
const DEEPEST_NESTING = 100;
const OUTER_MARKS = /^(?:[\s>+*-]|\d{1,9}[.)]\s)+/u;

const parser = lazy(() => {
  const made = new MarkdownIt({ html: true, linkify: true, maxNesting: DEEPEST_NESTING });
  made.use(footnotes).disable('footnote_inline').use(dialect).use(noteSyntax);
  made.core.ruler.enableOnly(['normalize', 'block']);
  return made;
});

/** Link and footnote definitions, shared by the parts of a document. */
export type Definitions = Record<string, unknown>;

/** Parses blocks at once and inline text on demand, so that the first sentence of a long document comes early. */
export class MarkdownDocument {
  readonly #definitions: Definitions;
  readonly source: string;
  readonly blocks: readonly Token[];
  #lines: readonly string[] | undefined;

  /** @param source with line feeds as line ends */
  constructor(source: string, definitions: Definitions) {
    this.source = source;
    this.#definitions = definitions;
    this.blocks = parser().parse(source, definitions);
  }

  inline(text: string): Token[] {
    const tokens: Token[] = [];
    parser().inline.parse(text, parser(), this.#definitions, tokens);
    return tokens;
  }

  /** Returns the text of a block that is nested too deeply, without its markers. */
  leftOut({ type, level, map }: Token): string | undefined {
    if (!map || level < DEEPEST_NESTING - 1 || !/^(?:blockquote|list_item)_open$/u.test(type))
      return undefined;
    this.#lines ??= this.source.split('\n');
    const lines = this.#lines.slice(...map).map((line) => line.replace(OUTER_MARKS, ''));
    return lines.join('\n');
  }

  /** Returns the UTF-16 units before a line, which counts from 0. */
  readonly offsetOf = (line: number): number => {
    let at = 0;
    for (let passed = 0; passed < line; passed += 1) {
      const end = this.source.indexOf('\n', at);
      if (end < 0) return this.source.length;
      at = end + 1;
    }
    return at;
  };
}
