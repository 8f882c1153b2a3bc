import { withoutInvisible } from '../text/unicode.ts';

/** A placeholder for line breaks that count; white space in the source is only a space. */
const LINE = '\u2028';
/** A noncharacter as placeholder after a drop cap. */
const INITIAL = '\uFDD1';
/** A noncharacter as placeholder before an exponent. */
const POWER = '\uFDD3';
/** "1", a raised "1", then "/2" are a number and a fraction instead of a power. */
const FRACTION = new RegExp(`${POWER}(?=\\d{1,3}\\s?[/⁄])`, 'gu');
/** A noncharacter around words that are not in the text. It becomes a space, except before a comma or after a bracket. */
const GAP = '\uFDD2';
const NARROW_GAP = new RegExp(`(?<=[\\s(\\[{“«¿¡])${GAP}|${GAP}(?=[\\s.,;:!?…)\\]}”»])`, 'gu');

/** Control characters, and joiners in Latin script, where they join nothing. */
const HIDDEN = /(?![\t\n\f\r])\p{Cc}|(?<=\p{sc=Latin})[\u200c\u200d]/gu;
/** Most texts consist of these characters and need none of the special cases. */
const PLAIN = /^[\t\n\r\x20-\x7e]*$/u;

const EAST_ASIAN = '[\\u3000-\\u30ff\\u3400-\\u9fff\\uf900-\\ufaff\\uff00-\\uffef]';
const HAS_EAST_ASIAN = new RegExp(EAST_ASIAN, 'u');
/** A line end between two East Asian characters is not a space. */
const WRAPPED_EAST_ASIAN = new RegExp(
  `(?<=${EAST_ASIAN})[ \\t]*[\\r\\n][ \\t\\r\\n]*(?=${EAST_ASIAN})`,
  'gu',
);

const INITIAL_AND_REST = new RegExp(`(\\p{L})${INITIAL}(\\s*)(?=\\p{L})`, 'gu');
const CONSONANT = /[b-df-hj-np-tv-xz]/iu;
const LONE_INITIAL = new RegExp(`^\\s*[“"«‹‘„]?\\p{L}${INITIAL}\\s*$`, 'u');
/** Parts that are looked at before a note. */
const TAIL = 8;
/** UTF-16 units with white space. A longer text is neither a name, nor a drop cap, nor a link to a note. */
const LONGEST_SHORT = 1000;
/** Matches each run of these characters only once, to stay linear. */
const END_OF_NAME = /(?<![\s.:])[\s.:]+$/u;
const OPENING_QUOTE = /^\s*(?:[“"«‹‘„]\s*)?$/u;
const ONE_LETTER = /^\s*[“"«‹‘„]?\p{L}\s*$/u;

/** Collects the text of one block. */
export class Inline {
  #parts: string[] = [];
  /** Indexes of the parts that are more than white space. */
  #inked: number[] = [];
  #length = 0;
  /** The mark where the base of a ruby begins; `undefined` outside rubies. */
  #base: number | undefined;
  #reading: string | undefined;
  /** The placeholders for the languages of the next text and of the previous one. */
  #language = '';
  #languageBefore = '';

  /** UTF-16 units. */
  get length(): number {
    return this.#length;
  }

  get isBlank(): boolean {
    return this.isBlankFrom(0);
  }

  isBlankFrom(start: number): boolean {
    return (this.#inked.at(-1) ?? -1) < start;
  }

  /** True if the text so far is only a drop cap. */
  get isLoneInitial(): boolean {
    return this.#parts.length < 8 && LONE_INITIAL.test(this.#parts.join(''));
  }

  text(text: string): void {
    if (this.#reading !== undefined) this.#reading += text;
    else if (this.#base === undefined || text.trim() !== '') this.#add(text);
  }

  /**
   * Sets the language of the following text.
   * @param before the language of the block, at its beginning
   */
  speak(language: string, before = this.#languageBefore): void {
    this.#language = language;
    this.#languageBefore = before;
  }

  /** Adds text whose line ends count. */
  lines(text: string): void {
    this.text(text.replace(/\r\n?|\n/gu, LINE));
  }

  /** Adds a line break. Two in a row separate paragraphs, and more are ignored. */
  lineBreak(): void {
    if (this.#parts.at(-1) !== LINE || this.#parts.at(-2) !== LINE) this.text(LINE);
  }

  /** Makes the next text begin on a new line. */
  endLine(): void {
    if (!this.isBlank && this.#parts.at(-1) !== LINE) this.#add(LINE);
  }

  /** Adds the description of a picture. A single letter is the drop cap of the following word. */
  picture(description: string): void {
    if (ONE_LETTER.test(description) && this.#isBeforeFirstWord(this.#parts.length))
      this.#add(description.trim() + INITIAL);
    else this.describe(description);
  }

  /** Adds words that are not in the text. */
  describe(description: string): void {
    if (description.trim() !== '') this.#add(`${GAP}${description.trim()}${GAP}`);
  }

  #isBeforeFirstWord(end: number): boolean {
    return end < TAIL && OPENING_QUOTE.test(this.#parts.slice(0, end).join(''));
  }

  /** Turns the text since the mark into a drop cap, if it is one letter. */
  endInitial(start: number): void {
    const letter = this.#source(start, LONGEST_SHORT) ?? '';
    if (!ONE_LETTER.test(letter) || !this.#isBeforeFirstWord(start)) return;
    this.cut(start);
    this.#add(letter.trim() + INITIAL);
  }

  /** @returns the current position, for {@link Inline.endInitial}, {@link Inline.from} and {@link Inline.cut} */
  get mark(): number {
    return this.#parts.length;
  }

  /**
   * @param most UTF-16 units with white space
   * @returns the text since a mark; `undefined` if it is longer
   */
  from(start: number, most = LONGEST_SHORT): string | undefined {
    const source = this.#source(start, most);
    return source === undefined ? undefined : spoken(source);
  }

  /** @returns the end of the text before a mark */
  before(end: number): string {
    return this.#parts
      .slice(Math.max(0, end - TAIL), end)
      .join('')
      .replaceAll(GAP, ' ');
  }

  /** Turns the text since the mark into the exponent of the number before it. */
  endPower(start: number): void {
    const exponent = this.from(start) ?? '';
    this.cut(start);
    this.#add(POWER + exponent.replace(/^[+−–-]/u, (sign) => (sign === '+' ? 'plus ' : 'minus ')));
  }

  /**
   * Turns the text since the mark into the name of a speaker.
   * @returns true if it is at the beginning of a block
   */
  endName(start: number): boolean {
    const name = this.from(start)?.replace(END_OF_NAME, '');
    if (!name) return false;
    this.cut(start);
    const isFirst = this.isBlank;
    this.#add(`${name}: `);
    return isFirst;
  }

  startRuby(): void {
    this.#base = this.#parts.length;
  }

  startReading(): void {
    this.#reading = '';
  }

  /** Replaces the base of a ruby by its reading, if that is in kana. */
  endReading(): void {
    const reading = this.#reading ?? '';
    this.#reading = undefined;
    if (this.#base !== undefined && /^[\p{sc=Hiragana}\p{sc=Katakana}ー・\s]+$/u.test(reading)) {
      this.cut(this.#base);
      this.#add(reading.trim());
    }
    this.#base = this.#parts.length;
  }

  endRuby(): void {
    this.#base = undefined;
    this.#reading = undefined;
  }

  /** Removes the text since a mark. */
  cut(start: number): void {
    for (const part of this.#parts.splice(start)) this.#length -= part.length;
    while (!this.isBlankFrom(start)) this.#inked.pop();
  }

  /** @returns the spoken text, and begins a new one */
  take(): string {
    const text = this.#parts.join('');
    this.#parts = [];
    this.#inked = [];
    this.#length = 0;
    if (this.#base !== undefined) this.#base = 0;
    return spoken(text);
  }

  /** @returns the spoken text without the last word, which may be incomplete */
  takeBeginning(): string {
    const all = this.#parts.join('');
    const space = all.search(/\s\S*$/u);
    const beginning = space > 0 ? all.slice(0, space) : all;
    this.take();
    this.#add(all.slice(beginning.length));
    return spoken(beginning);
  }

  /** Stops after `most` units, so that a longer text takes no more time. */
  #source(start: number, most: number): string | undefined {
    let source = '';
    for (let at = start; at < this.#parts.length && source.length <= most; at += 1) source += this.#parts[at];
    return source.length > most ? undefined : source;
  }

  #add(text: string): void {
    if (text.trim() !== '') {
      if (this.#language !== this.#languageBefore) {
        this.#parts.push(this.#language);
        this.#length += this.#language.length;
        this.#languageBefore = this.#language;
      }
      this.#inked.push(this.#parts.length);
    }
    this.#parts.push(text);
    this.#length += text.length;
  }
}

/** Removes what only the eye needs, and replaces the placeholders. */
function spoken(source: string): string {
  let text = source;
  if (!PLAIN.test(text)) {
    text = withoutInvisible(text).replace(HIDDEN, '');
    if (HAS_EAST_ASIAN.test(text)) text = text.replace(WRAPPED_EAST_ASIAN, '');
    if (text.includes(INITIAL)) text = joined(text);
    if (text.includes(POWER)) text = text.replace(FRACTION, ' ').replaceAll(POWER, ' to the ');
    if (text.includes(GAP)) text = text.replace(NARROW_GAP, '').replaceAll(GAP, ' ');
  }
  text = text.replace(/(?: *[\t\n\r\f\u00a0])+ *| {2,}/gu, ' ');
  if (text.includes(LINE)) text = text.replace(/ ?\u2028[ \u2028]*/gu, lineEnd);
  return text.trim();
}

/** Two line breaks separate paragraphs. */
function lineEnd(gap: string): string {
  return gap.indexOf(LINE) === gap.lastIndexOf(LINE) ? '\n' : '\n\n';
}

/** Joins "T" and "he" into one word, but keeps "A" and " long" apart. */
function joined(text: string): string {
  return text
    .replace(INITIAL_AND_REST, (_, letter: string, gap: string) =>
      gap === '' || CONSONANT.test(letter) ? letter : `${letter} `,
    )
    .replaceAll(INITIAL, '');
}
