import { lineBorders } from './lines.ts';
import { EXTENDER, hasWord, lazy, segmenters } from './unicode.ts';

/** UTF-16 units given to Intl.Segmenter at once: it takes 14 s for 600,000 (V8 12 and before). */
const WINDOW = 1024;

/**
 * Splits a paragraph into sentences by UAX #29, corrected by {@link isSentenceBorder}; joined, they are the paragraph. Line
 * breaks are white space, except before headings and list items. Text without a letter or digit stays with a neighbour.
 */
export function sentences(paragraph: string): string[] {
  const pieces: string[] = [];
  let wordless = true;
  let start = 0;
  for (const end of borders(paragraph)) {
    const piece = paragraph.slice(start, end);
    const isWordless = !hasWord(piece);
    if (pieces.length > 0 && (wordless || isWordless)) pieces.push(pieces.pop() + piece);
    else pieces.push(piece);
    wordless &&= isWordless;
    start = end;
  }
  return pieces;
}

/** Yields the ends of sentences in UTF-16 units; the last one is the end of the text. */
function* borders(text: string): Generator<number> {
  const plain = sameLengthPlain(text);
  let start = 0;
  for (const end of [...lineBorders(text), text.length]) {
    for (const border of rawBorders(plain.slice(start, end))) {
      const at = beforeOpeningBrackets(plain, start + border);
      if (at > start && isSentenceBorder(plain, at, start)) yield at;
    }
    if (end > start) yield end;
    start = end;
  }
}

/** Replaces, without moving offsets: line breaks by spaces, "…" by a full stop, footnote marks by closing brackets. */
function sameLengthPlain(text: string): string {
  return text
    .replaceAll('\n', ' ')
    .replace(/…(?=["'”’»)\]]{0,9}\s)/gu, '.')
    .replace(/(?<=[.!?]["'”’»)]{0,9})(?:\[\d{1,3}\])+(?=\s)/gu, (mark) => ')'.repeat(mark.length));
}

function* rawBorders(text: string): Generator<number> {
  if (isOneSentence(text)) return;
  let start = 0;
  let size = WINDOW;
  while (start < text.length) {
    const end = start + size;
    const found = [...segmenters.sentence().segment(text.slice(start, end))].map(
      ({ index }) => start + index,
    );
    const inner = found.slice(1);
    yield* inner;
    if (end >= text.length) return;
    size = inner.length > 0 ? WINDOW : size * 2;
    start = inner.at(-1) ?? start;
  }
}

/** True if this quick check proves a single sentence, which saves the 10 ms of loading Intl.Segmenter. */
export function isOneSentence(text: string): boolean {
  return /^[\t -~]*$/.test(text) && /^[^.!?]*(?:[.!?]["')\]]*[\t ]*)*$/.test(text);
}

/** Moves a border before opening brackets: UAX #29 takes those without a space before them for closing ones. */
function beforeOpeningBrackets(text: string, border: number): number {
  const brackets = /[\p{Ps}\p{Pi}]{1,9}$/u.exec(text.slice(Math.max(0, border - 9), border));
  return border - (brackets?.[0].length ?? 0);
}

/** UTF-16 units that are examined on both sides of a border. */
const LOOKAROUND = 80;
const CLOSERS = `["'”’»›)\\]\\p{Pe}\\p{Pf}\\p{Pi}]`;

/**
 * False after abbreviations, initials, ordinals and list numbers, inside addresses, and between speech and "he said".
 * @param text with spaces instead of line breaks
 * @param start of the line; wrapped lines count as one
 */
function isSentenceBorder(text: string, at: number, start: number): boolean {
  const before = text.slice(Math.max(start, at - LOOKAROUND), at);
  const after = text.slice(at, at + LOOKAROUND);
  if (insideCluster().test(after)) return false;
  if (!/\s$/u.test(before)) return endsWithoutSpace().test(before);
  return !(
    isListNumber(text, at, start) ||
    isAbbreviation(before, after) ||
    continuesAfterSpeech(before, after)
  );
}

const insideCluster = lazy(() => new RegExp(`^${EXTENDER}`, 'u'));
/** A sentence may end without a space after "。", but not in "example.com". */
const endsWithoutSpace = lazy(() => new RegExp(`[^\\p{ASCII}\\s…]${CLOSERS}*$`, 'u'));

const listNumber = lazy(() => /^\s*\(?(?:\d{1,3}|[ivxlc]{1,5}|\p{L})[.)]\s*$/iu);

/** True for a number at the start of a line, or in an enumeration. */
function isListNumber(text: string, at: number, start: number): boolean {
  if (at - start < 12 && listNumber().test(text.slice(start, at))) return true;
  return laterNumber().test(text.slice(Math.max(start, at - LOOKAROUND), at));
}

const laterNumber = lazy(() => /[\p{Sentence_Terminal}:]["'”’»›)\]]*\s+\(?\d{1,2}[.)]\s+$/u);

function isAbbreviation(before: string, after: string): boolean {
  const token = lastToken(before);
  if (token === undefined) return false;
  if (neverLast().has(token) || NEVER_LAST.test(before.trimEnd())) return true;
  if (/^\p{N}/u.test(after)) return beforeNumber().has(token);
  if (ORDINAL_CONTEXT.test(before)) return true;
  if (/^\p{L}$/u.test(token) && /^\p{L}(?:\.|$)/u.test(after)) return true;
  return (isLetters(before) || sometimesLast().has(token)) && !startsSentence(after);
}

/** Returns the last word before the final full stop, in lower case. */
function lastToken(before: string): string | undefined {
  return /([^\s("'“‘«[\-–—/]+)\.\s+$/u.exec(before)?.[1]?.toLowerCase();
}

/** True for initials and letters with points: "J. ", "U.S. " and "z. B. ". */
function isLetters(before: string): boolean {
  return /(?:^|[^\p{L}\p{M}\p{N}.])(?:[\p{Lu}\p{Lo}]\p{M}*|(?:\p{L}\.)+\p{L}|\p{L}\.\s\p{L})\.\s+$/u.test(
    before,
  );
}

function startsSentence(after: string): boolean {
  const first = /^["'“‘«(]*(\p{Lu}\p{L}*)(?=[\s,’'])/u.exec(after)?.[1];
  return first !== undefined && openers().has(first.toLowerCase());
}

const endsSpeech = lazy(() => new RegExp(`${CLOSERS}\\s+$`, 'u'));

/** True if a sentence continues after direct speech: «"What?" he asked.», «— Стой! — крикнул он.». */
function continuesAfterSpeech(before: string, after: string): boolean {
  return /^[-–—]\s+\p{Ll}/u.test(after) || (/^\p{Ll}/u.test(after) && endsSpeech().test(before));
}

const terminated = lazy(() => new RegExp(`[\\p{Sentence_Terminal}…]${CLOSERS}*$`, 'u'));
/** Emoji and signs after a sentence, with their combining characters. */
const signs = lazy(
  () => new RegExp(`(?:\\s*[\\p{Extended_Pictographic}\\p{Regional_Indicator}✓✔✗]${EXTENDER}*)+$`, 'u'),
);

function withoutSigns(sentence: string): string {
  return /[\p{ASCII}\p{L}]$/u.test(sentence) ? sentence : sentence.replace(signs(), '');
}

/** True if the text ends like a sentence, whatever follows. */
export function endsLikeSentence(sentence: string): boolean {
  const end = withoutSigns(sentence.slice(-LOOKAROUND));
  return terminated().test(end) && !neverLast().has(lastToken(`${end} `) ?? '') && !NEVER_LAST.test(end);
}

/** Abbreviations of two words. */
const NEVER_LAST = /(?:^|[\s(])(?:z\.\s?B|d\.\s?h|i\.\s?d|s\.\s?o|e\.\s?g|i\.\s?e|p\.\s?ej)\.$/iu;

/**
 * True if the full stop at the end of a text may be inside a number, a name, an abbreviation or a file name. With a space
 * after it, only abbreviations and numbers are in doubt.
 */
export function endsInDoubt(text: string): boolean {
  const token = lastToken(`${text.trimEnd()} `);
  if (token === undefined) return false;
  const isShort = /(?:^|\.)[\p{L}\d]$/u.test(token);
  const isNumber = /\d$/u.test(token);
  if (isShort || isNumber || beforeNumber().has(token) || sometimesLast().has(token)) return true;
  if (/\s$/u.test(text)) return false;
  const isName = /(?:^|[\s("'“‘«[])\p{Lu}[^\s.]*\.$/u.test(text);
  return isName || /[.\\/_@\d-]/u.test(token) || fileStems().has(token);
}

export function isListMarker(line: string): boolean {
  return listNumber().test(line);
}

/** True if a sentence ends with the line, given how the next line begins. */
export function isFullLine(line: string, next: string): boolean {
  if (!endsLikeSentence(line) || isListMarker(line)) return false;
  return !isAbbreviation(`${line.slice(-LOOKAROUND)} `, next.slice(0, LOOKAROUND));
}

/** German ordinals, as in "am 3. Oktober". */
const ORDINAL_CONTEXT = /(?:^|\s)(?:am|vom|zum|im|der|das|den|dem|des|bis|seit|ab)\s\d{1,2}\.\s+$/iu;

/** Makes a set of abbreviations in lower case, without the last full stop, after which UAX #29 would end a sentence. */
const words = (list: string): (() => ReadonlySet<string>) => lazy(() => new Set(list.split(/\s+/u)));

/** Abbreviations that never end a sentence. */
const neverLast = words(
  `dr mr mrs ms mx messrs prof rev hon gen col maj capt cmdr lt sgt cpl pvt adm gov sen rep pres supt mme mlle
   mgr msgr hr frl fr sra srta dra dña sig sigg dott avv dhr mevr ing dipl д-р г-н г-жа проф акад им см ср डॉ श्री
   e.g eg i.e ie cf viz vs approx ca incl z.b d.h bzw vgl evtl ggf sog p.ej p.ex т.е`,
);

/** Abbreviations that do not end a sentence before a number: "No. 5", "Jan. 3". */
const beforeNumber = words(
  `no nos nr núm vol vols fig figs eq eqs sec sect ch chap art bd abb kap tab p pp pg s n v l par ver op стр гл рис
   jan feb mar apr jun jul aug sep sept oct nov dec`,
);

/** Abbreviations that end a sentence only before one of the {@link openers}, as initials do. */
const sometimesLast = words('jr sr inc ltd co corp bros ph.d al st mt ft ave blvd rd dept est assn intl');

/** Names of files and packages that often have an extension: "main.py". */
const fileStems = words(
  `main index app test tests setup config server client util utils package readme style styles script scripts example
   input output module model models view views node vue next three socket settings requirements build lib core init
   manage docker-compose makefile tsconfig`,
);

/** Words that, with a capital letter, begin a sentence and are hardly ever a name. */
const openers = words(
  `the a an this that these those he she it we they you i his her its our their my your there here but and or so
   then now when while if as in on at by for from with after before although because however what who why how
   where not no yes once some many most all both each another one two perhaps meanwhile later still yet even let
   der das er sie es wir ich ein eine und aber le les il elle nous vous ils une mais et el los las pero
   он она они оно это мы но и`,
);
