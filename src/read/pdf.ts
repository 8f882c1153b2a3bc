import { type TtsError, usageError } from '../kit/error.ts';
import { findProgram } from '../kit/folders.ts';
import { outputOf } from '../kit/program.ts';
import { singleItem } from '../kit/wait.ts';
import { inOneLine } from '../kit/words.ts';
import { labelOf, type Piece } from '../text/piece.ts';
import { behind, inTurn, through } from '../text/stage.ts';
import { wordKey } from '../text/unicode.ts';
import { ContentsLines } from './contents-lines.ts';
import { withoutLine } from './page-of.ts';
import { withoutInterruptions } from './pdf-interruptions.ts';
import { Lines } from './plain.ts';
import { prose } from './prose.ts';
import { TextFacts } from './prose-facts.ts';
import type { Reading, ReadOptions, Source } from './reading.ts';
import { type Element, firstIn, plainText, treeOf } from './xml-tree.ts';
import { type Location, locationOf } from './zip.ts';

const INSTALL =
  'install poppler-utils (apt, dnf) or poppler (brew, pacman): pdftotext, which is in it, reads a PDF';

/**
 * Reads the text of a PDF through `pdftotext`. Its outline gives the chapters.
 * @throws TtsError (usage) for a PDF that cannot be read, or if the program is not installed
 */
export async function openPdf(source: Source, options: ReadOptions, signal: AbortSignal): Promise<Reading> {
  const name = labelOf(source.name);
  const { host } = options;
  const program = await findProgram('pdftotext', host);
  if (program === undefined)
    throw usageError(`cannot read ${name}: it is a PDF, and pdftotext is not installed`, INSTALL);
  const location = await locationOf(source, signal);
  const run = { env: host.env, signal };
  const written = await textOf(program, location, run).catch((error) => {
    signal.throwIfAborted();
    throw unreadable(name, error);
  });
  const text = withoutInterruptions(written);
  if (!/[\p{L}\p{N}]/u.test(text))
    throw usageError(
      `${name} holds no text to read`,
      'its pages are pictures: `ocrmypdf` finds the words in them and makes a PDF with text',
    );
  const lister = options.hasChapters && (await findProgram('pdftohtml', host));
  const outline = lister ? await outlineOf(lister, location, run) : [];
  const pages = text.replace(/\f$/u, '').split('\f');
  const facts = new TextFacts({ hasTwoPages: pages.length === 2 });
  // The form feed makes the first page a page like the others.
  facts.see(`\f${text}`);
  facts.finish();
  if (facts.hasDividedWords) facts.countWords(text);
  const chapters = chaptersIn(text, outline);
  return {
    source,
    async *pieces(until, { filter, onRemark = () => {} } = {}) {
      for (const { chapter, text: part } of chapters) {
        until.throwIfAborted();
        if (chapter) yield chapter;
        const all = inTurn(prose(facts, { hasChapters: false }), new Lines(source.name));
        const lines = options.readsAll ? all : inTurn(new ContentsLines(onRemark), all);
        for await (const piece of through(singleItem(part), behind(filter, lines))) yield withoutLine(piece);
      }
      const remark = pagesWithoutText(pages);
      if (remark !== undefined) onRemark(remark);
    },
  };
}

function pagesWithoutText(pages: readonly string[]): string | undefined {
  const count = pages.filter((page) => page.trim() === '').length;
  if (count === 0) return undefined;
  const hold =
    count === 1 ? 'holds no text: it is empty or a picture' : 'hold no text: they are empty or pictures';
  return `${count} of ${pages.length} pages ${hold}, in which \`ocrmypdf\` finds the words`;
}

const UTF8 = ['-enc', 'UTF-8', '-eol', 'unix'] as const;

type Run = Omit<Parameters<typeof outputOf>[2], 'input'>;

/** Poppler seeks in its input, so a nameless file is passed as stdin instead of through a pipe. */
function inputOf(location: Location): { readonly path: string; readonly input?: number } {
  return typeof location === 'string' ? { path: location } : { path: '/dev/fd/0', input: location };
}

async function textOf(program: string, location: Location, run: Run): Promise<string> {
  const { path, ...input } = inputOf(location);
  const text = (await outputOf(program, [...UTF8, path, '-'], { ...run, ...input })).toString();
  // Soft hyphens divide words at line ends.
  return text.replace(/\u00ad\n?/gu, '').replaceAll('\0', '');
}

function unreadable(name: string, error: Error): TtsError {
  const reason = inOneLine(error.message.trim().split('\n').at(-1) ?? '');
  return usageError(
    `cannot read ${name}: pdftotext says: ${reason}`,
    /password/iu.test(reason)
      ? 'unlock it first: `qpdf --decrypt --password=… FILE open.pdf`'
      : 'get the file again',
    error,
  );
}

interface Line {
  readonly title: string;
  readonly level: number;
  /** From 1. */
  readonly page: number;
}

/** @returns no lines if the PDF has no outline, or if the program fails */
async function outlineOf(program: string, location: Location, run: Run): Promise<readonly Line[]> {
  const { path, ...input } = inputOf(location);
  const args = ['-xml', '-i', '-q', '-stdout', '-enc', 'UTF-8', '-f', '1', '-l', '1', path];
  const xml = await outputOf(program, args, { ...run, ...input }).then(String, () => '');
  run.signal.throwIfAborted();
  const start = xml.indexOf('<outline>');
  const root = start < 0 ? undefined : firstIn(treeOf(xml.slice(start), 'the outline'), 'outline');
  return root ? [...linesOf(root, 1)] : [];
}

function* linesOf({ children }: Element, level: number): Generator<Line> {
  for (const child of children) {
    const [title, page] = [plainText(child), Number(child.attributes.page)];
    if (child.name === 'outline') yield* linesOf(child, level + 1);
    else if (title !== '' && page >= 1) yield { title, level, page };
  }
}

interface ChapterText {
  readonly chapter?: Piece;
  readonly text: string;
}

/** Divides the text into chapters, each from the line with its title, or else from the top of its page. */
export function chaptersIn(text: string, outline: readonly Line[]): readonly ChapterText[] {
  const starts = [0];
  for (let at = text.indexOf('\f'); at >= 0; at = text.indexOf('\f', at + 1)) starts.push(at + 1);
  const chapters: ChapterText[] = [];
  let [from, chapter] = [0, undefined as Piece | undefined];
  // Parsed once per page, since many outline lines may name the same page.
  let [read, lines] = [0, [] as readonly Keyed[]];
  for (const { title, level, page } of outline.slice(0, MOST_CHAPTERS)) {
    const start = starts[page - 1];
    if (start === undefined) continue;
    if (page !== read) lines = keyedLines(text, start, starts[page] ?? text.length);
    read = page;
    const wanted = wordKey(title);
    const isTitle = ({ key, at }: Keyed) =>
      at >= from && key !== '' && (key.startsWith(wanted) || (key.length > 3 && wanted.startsWith(key)));
    const at = lines.find(isTitle)?.at ?? Math.max(from, start);
    chapters.push({ ...(chapter && { chapter }), text: text.slice(from, at) });
    [from, chapter] = [at, { kind: 'chapter', title, level }];
  }
  chapters.push({ ...(chapter && { chapter }), text: text.slice(from) });
  return chapters;
}

/** Lines of an outline; the largest books have some thousands. */
const MOST_CHAPTERS = 10_000;

/** UTF-16 units of a page in which a title is searched. */
const LONGEST_PAGE = 20_000;

interface Keyed {
  readonly key: string;
  /** UTF-16 units before the line. */
  readonly at: number;
}

function keyedLines(text: string, start: number, end: number): readonly Keyed[] {
  let next = start;
  return text
    .slice(start, Math.min(end, start + LONGEST_PAGE))
    .split('\n')
    .map((line) => {
      const at = next;
      next += line.length + 1;
      return { key: wordKey(line), at };
    });
}
