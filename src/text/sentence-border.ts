import { EXTENDER, late } from './unicode.ts';

/** How far the rules look to both sides of a border, in UTF-16 units. */
const SIGHT = 80;
const CLOSERS = `["'”’»›)\\]\\p{Pe}\\p{Pf}\\p{Pi}]`;

/**
 * Whether a sentence ends at a border that the Unicode rules found: not after abbreviations, initials, ordinals and
 * the numbers of a list, nor inside of addresses, nor between direct speech and its "he said".
 * @param text with spaces for its line breaks
 * @param start where the line begins that the border is in; wrapped lines are one
 */
export function isSentenceBorder(text: string, at: number, start: number): boolean {
  const before = text.slice(Math.max(start, at - SIGHT), at);
  const after = text.slice(at, at + SIGHT);
  if (insideCluster().test(after)) return false;
  if (!/\s$/u.test(before)) return endsWithoutSpace().test(before);
  return !(isListNumber(text, at, start) || isAbbreviation(before, after) || isSpeechGoingOn(before, after));
}

const insideCluster = late(() => new RegExp(`^${EXTENDER}`, 'u'));
/** Only scripts that set no space after a sentence end one there: "。" does, the full stop in "example.com" does not. */
const endsWithoutSpace = late(() => new RegExp(`[^\\p{ASCII}\\s…]${CLOSERS}*$`, 'u'));

const LIST_NUMBER = /^\s*\(?(?:\d{1,3}|[ivxlc]{1,5}|\p{L})[.)]\s*$/iu;

/** "1." at the start of a line belongs to what it counts. */
function isListNumber(text: string, at: number, start: number): boolean {
  return at - start < 12 && LIST_NUMBER.test(text.slice(start, at));
}

function isAbbreviation(before: string, after: string): boolean {
  const token = lastToken(before);
  if (token === undefined) return false;
  if (neverLast().has(token)) return true;
  if (/^\p{N}/u.test(after)) return beforeNumber().has(token);
  if (ORDINAL_CONTEXT.test(before)) return true;
  if (/^\p{L}$/u.test(token) && /^\p{L}\./u.test(after)) return true;
  return (isLetters(before) || sometimesLast().has(token)) && !startsSentence(after);
}

/** The word before a full stop and white space, in lower case. */
function lastToken(before: string): string | undefined {
  return /([^\s("'“‘«[\-–—/]+)\.\s+$/u.exec(before)?.[1]?.toLowerCase();
}

/** "J. ", "U.S. ", "z. B. " */
function isLetters(before: string): boolean {
  return /(?:^|[^\p{L}\p{M}\p{N}.])(?:[\p{Lu}\p{Lo}]\p{M}*|(?:\p{L}\.)+\p{L}|\p{L}\.\s\p{L})\.\s+$/u.test(
    before,
  );
}

function startsSentence(after: string): boolean {
  const first = /^["'“‘«(]*(\p{Lu}\p{L}*)(?=[\s,’'])/u.exec(after)?.[1];
  return first !== undefined && openers().has(first.toLowerCase());
}

const endsSpeech = late(() => new RegExp(`${CLOSERS}\\s+$`, 'u'));

/** "What?" he asked. — Стой! — крикнул он. */
function isSpeechGoingOn(before: string, after: string): boolean {
  return /^[-–—]\s+\p{Ll}/u.test(after) || (/^\p{Ll}/u.test(after) && endsSpeech().test(before));
}

const terminated = late(() => new RegExp(`[\\p{Sentence_Terminal}…]${CLOSERS}*$`, 'u'));

/** Whether a text ends with the end of a sentence, as far as can be told without the text that follows. */
export function endsLikeSentence(sentence: string): boolean {
  return terminated().test(sentence) && !neverLast().has(lastToken(`${sentence.slice(-SIGHT)} `) ?? '');
}

/** Whether a line is a sentence of its own, or the end of one, whatever letter the next line begins with. */
export function isFullLine(line: string, next: string): boolean {
  if (!endsLikeSentence(line) || LIST_NUMBER.test(line)) return false;
  return !isAbbreviation(`${line.slice(-SIGHT)} `, next.slice(0, SIGHT));
}

/**
 * What a full stop may follow without ending the sentence. Intl.Segmenter (Unicode UAX #29) knows no words, so it
 * ends a sentence at every full stop before a capital letter; these lists mend that. All words are in lower case
 * and without their last full stop.
 */

const words = (list: string): (() => ReadonlySet<string>) => late(() => new Set(list.split(/\s+/u)));

/** Titles and the like: something always follows, so the sentence never ends here. */
const neverLast = words(
  `dr mr mrs ms mx messrs prof rev hon gen col maj capt cmdr lt sgt cpl pvt adm gov sen rep pres supt mme mlle
   mgr msgr hr frl fr sra srta dra dña ing dipl д-р г-н г-жа проф акад им см ср डॉ श्री
   e.g eg i.e ie cf viz vs approx ca incl z.b d.h bzw vgl evtl ggf sog p.ej p.ex т.е`,
);

/** Only before a number: "No. 5", "p. 7", "Fig. 2", "Jan. 3". */
const beforeNumber = words(
  `no nos nr núm vol vols fig figs eq eqs sec sect ch chap art bd abb kap tab p pp pg s n v l par ver op стр гл рис
   jan feb mar apr jun jul aug sep sept oct nov dec`,
);

/**
 * Words that may or may not end a sentence: only one of the {@link openers} after them says that they did.
 * Initials ("J.") and letters with full stops between ("U.S.", "a.m.") behave the same way by their form.
 */
const sometimesLast = words('jr sr inc ltd co corp bros ph.d al st mt ft ave blvd rd dept est assn intl');

/** Words that, with a capital letter, almost always begin a sentence and are hardly ever (part of) a name. */
const openers = words(
  `the a an this that these those he she it we they you i his her its our their my your there here but and or so
   then now when while if as in on at by for from with after before although because however what who why how
   where not no yes once some many most all both each another one two perhaps meanwhile later still yet even let
   der das er sie es wir ich ein eine und aber le les il elle nous vous ils une mais et el los las pero
   он она они оно это мы но и`,
);

/** German and its neighbours write "am 3. Oktober": the number before the full stop is an ordinal after these. */
const ORDINAL_CONTEXT = /(?:^|\s)(?:am|vom|zum|im|der|das|den|dem|des|bis|seit|ab)\s\d{1,2}\.\s+$/iu;
