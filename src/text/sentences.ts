import { lineBorders } from './lines.ts';
import { EXTENDER, hasWord, lazy, segmenterOf } from './unicode.ts';

/** UTF-16 units. Intl.Segmenter takes 14 s for 600,000 (V8 12 and before). */
const WINDOW = 1024;

const segmenter = segmenterOf('sentence');

/**
 * The sentences of a paragraph; joined, they are the paragraph. Line breaks are white space, except before headings and items.
 * What has no letter or digit stays with a neighbour. UAX #29, corrected by {@link isSentenceBorder}.
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

/** UTF-16 units; the last one is the end. */
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

/** Offsets stay: line breaks become spaces, "…" a full stop, a footnote mark closing brackets. */
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
    const found = [...segmenter().segment(text.slice(start, end))].map(({ index }) => start + index);
    const inner = found.slice(1);
    yield* inner;
    if (end >= text.length) return;
    size = inner.length > 0 ? WINDOW : size * 2;
    start = inner.at(-1) ?? start;
  }
}

/** Most short texts need no Intl.Segmenter, which takes 10 ms to load. False does not mean that there are several sentences. */
export function isOneSentence(text: string): boolean {
  return /^[\t -~]*$/.test(text) && /^[^.!?]*(?:[.!?]["')\]]*[\t ]*)*$/.test(text);
}

/** UAX #29 counts opening brackets without a space before them as closing ones. */
function beforeOpeningBrackets(text: string, border: number): number {
  const brackets = /[\p{Ps}\p{Pi}]{1,9}$/u.exec(text.slice(Math.max(0, border - 9), border));
  return border - (brackets?.[0].length ?? 0);
}

/** UTF-16 units that are looked at on both sides of a border. */
const SIGHT = 80;
const CLOSERS = `["'”’»›)\\]\\p{Pe}\\p{Pf}\\p{Pi}]`;

/**
 * No sentence ends after abbreviations, initials, ordinals and list numbers, in addresses, or between speech and "he said".
 * @param text with spaces for its line breaks
 * @param start of the line; wrapped lines are one
 */
function isSentenceBorder(text: string, at: number, start: number): boolean {
  const before = text.slice(Math.max(start, at - SIGHT), at);
  const after = text.slice(at, at + SIGHT);
  if (insideCluster().test(after)) return false;
  if (!/\s$/u.test(before)) return endsWithoutSpace().test(before);
  return !(isListNumber(text, at, start) || isAbbreviation(before, after) || isSpeechGoingOn(before, after));
}

const insideCluster = lazy(() => new RegExp(`^${EXTENDER}`, 'u'));
/** "。" does, "example.com" does not. */
const endsWithoutSpace = lazy(() => new RegExp(`[^\\p{ASCII}\\s…]${CLOSERS}*$`, 'u'));

const listNumber = lazy(() => /^\s*\(?(?:\d{1,3}|[ivxlc]{1,5}|\p{L})[.)]\s*$/iu);

/** At the start of a line, or in an enumeration. */
function isListNumber(text: string, at: number, start: number): boolean {
  if (at - start < 12 && listNumber().test(text.slice(start, at))) return true;
  return laterNumber().test(text.slice(Math.max(start, at - SIGHT), at));
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

/** The token is in lower case. */
function lastToken(before: string): string | undefined {
  return /([^\s("'“‘«[\-–—/]+)\.\s+$/u.exec(before)?.[1]?.toLowerCase();
}

/** It is true for "J. ", "U.S. " and "z. B. ". */
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

/** Such speech is «"What?" he asked.» and «— Стой! — крикнул он.». */
function isSpeechGoingOn(before: string, after: string): boolean {
  return /^[-–—]\s+\p{Ll}/u.test(after) || (/^\p{Ll}/u.test(after) && endsSpeech().test(before));
}

const terminated = lazy(() => new RegExp(`[\\p{Sentence_Terminal}…]${CLOSERS}*$`, 'u'));
/** Emoji and signs after a sentence, each with what belongs to it. */
const signs = lazy(
  () => new RegExp(`(?:\\s*[\\p{Extended_Pictographic}\\p{Regional_Indicator}✓✔✗]${EXTENDER}*)+$`, 'u'),
);

function withoutSigns(sentence: string): string {
  return /[\p{ASCII}\p{L}]$/u.test(sentence) ? sentence : sentence.replace(signs(), '');
}

/** Decides by the text alone, without what follows. */
export function endsLikeSentence(sentence: string): boolean {
  const end = withoutSigns(sentence.slice(-SIGHT));
  return terminated().test(end) && !neverLast().has(lastToken(`${end} `) ?? '') && !NEVER_LAST.test(end);
}

/** Abbreviations of two words. */
const NEVER_LAST = /(?:^|[\s(])(?:z\.\s?B|d\.\s?h|i\.\s?d|s\.\s?o|e\.\s?g|i\.\s?e|p\.\s?ej)\.$/iu;

/**
 * True if a full stop at the end of a text may go on in a number, a name, an abbreviation or the name of a file. A space
 * after it leaves only abbreviations and numbers in doubt.
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

export function isMarker(line: string): boolean {
  return listNumber().test(line);
}

/** True for a line that ends with its sentence, however the next one begins. */
export function isFullLine(line: string, next: string): boolean {
  if (!endsLikeSentence(line) || isMarker(line)) return false;
  return !isAbbreviation(`${line.slice(-SIGHT)} `, next.slice(0, SIGHT));
}

/** German ordinals, as in "am 3. Oktober". */
const ORDINAL_CONTEXT = /(?:^|\s)(?:am|vom|zum|im|der|das|den|dem|des|bis|seit|ab)\s\d{1,2}\.\s+$/iu;

/** Words in lower case, without their last full stop: UAX #29 ends a sentence after them. */
const words = (list: string): (() => ReadonlySet<string>) => lazy(() => new Set(list.split(/\s+/u)));

const neverLast = words(
  `dr mr mrs ms mx messrs prof rev hon gen col maj capt cmdr lt sgt cpl pvt adm gov sen rep pres supt mme mlle
   mgr msgr hr frl fr sra srta dra dña ing dipl д-р г-н г-жа проф акад им см ср डॉ श्री
   e.g eg i.e ie cf viz vs approx ca incl z.b d.h bzw vgl evtl ggf sog p.ej p.ex т.е`,
);

/** A number follows such words, as in "No. 5" and "Jan. 3". */
const beforeNumber = words(
  `no nos nr núm vol vols fig figs eq eqs sec sect ch chap art bd abb kap tab p pp pg s n v l par ver op стр гл рис
   jan feb mar apr jun jul aug sep sept oct nov dec`,
);

/** An {@link openers} word after them ends the sentence, as after initials. */
const sometimesLast = words('jr sr inc ltd co corp bros ph.d al st mt ft ave blvd rd dept est assn intl');

/** Names of files and packages that are written with an ending: "main.py". */
const fileStems = words(
  `main index app test tests setup config server client util utils package readme style styles script scripts example
   input output module model models view views node vue next three socket settings requirements build lib core init
   manage docker-compose makefile tsconfig`,
);

/** With a capital letter they begin a sentence, and are hardly ever a name. */
const openers = words(
  `the a an this that these those he she it we they you i his her its our their my your there here but and or so
   then now when while if as in on at by for from with after before although because however what who why how
   where not no yes once some many most all both each another one two perhaps meanwhile later still yet even let
   der das er sie es wir ich ein eine und aber le les il elle nous vous ils une mais et el los las pero
   он она они оно это мы но и`,
);
