import type { Forms, NumberLanguage, Say } from './number-languages.ts';
import { Spellout, type SpelloutData, TOO_LARGE } from './spellout.ts';

/** A number in digits; mark and fraction are empty for a whole number. */
interface WrittenNumber {
  readonly whole: string;
  readonly mark: string;
  readonly fraction: string;
}

/** Numbers with more digits are said digit by digit: they are codes rather than quantities. */
const MOST_DIGITS = 9;

/** Writes the numbers of one language in words. */
export class Numbers implements Say {
  readonly row: NumberLanguage;
  readonly tag: string;
  /** The decimal mark: a comma or a point. */
  readonly decimal: string;
  /** The names of the months, January first. */
  readonly months: readonly string[];
  readonly #spellout: Spellout;
  readonly #plural: Intl.PluralRules;

  constructor(row: NumberLanguage, tag: string, data: SpelloutData) {
    this.row = row;
    this.tag = tag;
    this.#spellout = new Spellout(data, tag);
    const month = new Intl.DateTimeFormat(tag, { month: 'long', timeZone: 'UTC' });
    this.months = Array.from({ length: 12 }, (_, at) => month.format(Date.UTC(2024, at, 15)));
    this.#plural = new Intl.PluralRules(tag);
    const parts = new Intl.NumberFormat(tag).formatToParts(0.5);
    this.decimal = parts.find(({ type }) => type === 'decimal')?.value === ',' ? ',' : '.';
  }

  get isEnglish(): boolean {
    return this.tag.startsWith('en');
  }

  get isGerman(): boolean {
    return this.tag.startsWith('de');
  }

  get group(): string {
    return this.decimal === ',' ? '.' : ',';
  }

  cardinal(number: number, gender?: 'masculine' | 'feminine'): string {
    const [plain, masculine, feminine] = this.row.cardinals;
    if (gender === undefined || (this.row.onlyOneAgrees && number !== 1)) return this.#words(number, plain);
    return this.#words(number, gender === 'feminine' ? feminine : masculine);
  }

  ordinal(number: number, ending?: string): string {
    return this.#words(number, this.row.ordinals[ending ?? ''] ?? this.row.ordinal);
  }

  year(digits: string): string {
    const number = Number(digits);
    const isOld = number >= 1100 && number < 2000;
    const isPaired = isOld || (number >= 2010 && number < 2100);
    if (digits.length === 4 && isPaired && this.row.year !== undefined)
      return this.#words(number, this.row.year);
    return this.whole(digits);
  }

  /** Writes a whole number; digits are said one by one if they begin with a zero or are too many. */
  whole(digits: string, gender?: 'masculine' | 'feminine'): string {
    const isNumber = /^(?:0|[1-9]\d*)$/u.test(digits) && digits.length <= MOST_DIGITS;
    return isNumber ? this.cardinal(Number(digits), gender) : this.digits(digits);
  }

  digits(digits: string): string {
    return [...digits].map((digit) => this.cardinal(Number(digit))).join(' ');
  }

  /** @param unit the noun that is counted, with whose gender the number agrees */
  written(number: string, unit?: string): string {
    const { whole, mark, fraction } = this.parts(number);
    const gender = unit === undefined ? undefined : this.row.feminine.test(unit) ? 'feminine' : 'masculine';
    // Thousands separators show that it is a quantity, however long.
    const isQuantity = /^[1-9]/u.test(whole) && whole.length < number.length && Number(whole) < TOO_LARGE;
    if (mark === '') return isQuantity ? this.cardinal(Number(whole), gender) : this.whole(whole, gender);
    const said = isQuantity ? this.cardinal(Number(whole)) : this.whole(whole);
    return `${said} ${mark === ',' ? this.row.comma : this.row.point} ${this.#fraction(fraction)}`;
  }

  parts(number: string): WrittenNumber {
    const grouped = number
      .replace(/[\s'’]/gu, '')
      .replace(this.grouping, (digits) => digits.replaceAll(this.group, ''));
    const [, whole = grouped, mark = '', fraction = ''] = /^(\d+)([.,])(\d+)$/u.exec(grouped) ?? [];
    return { whole, mark, fraction };
  }

  /** The pattern of a number, with its separators. */
  get pattern(): string {
    // All thousands separators of a number are of one kind.
    const thousands = [`[${this.group}]`, `[\u00a0\u202f\u2009${this.row.hasSpaces ? ' ' : ''}]`, "['’]"]
      .map((mark) => String.raw`(?:${mark}\d{3}){1,4}`)
      .join('|');
    // A space may also separate two numbers: a single one is a thousands separator only before 000.
    const spaced = String.raw`[1-9]\d{0,2}(?:(?: \d{3}){2,4}| 000)(?!\d| \d{3}(?!\d))`;
    return String.raw`(?:${spaced}|[1-9]\d{0,2}(?:${thousands})(?!\d)|\d{1,15}(?!\d))(?:[.,]\d{1,15}(?!\d))?`;
  }

  get grouping(): RegExp {
    return this.group === '.' ? /^[1-9]\d{0,2}(?:\.\d{3})+(?![\d.])/u : /^[1-9]\d{0,2}(?:,\d{3})+(?![\d,])/u;
  }

  /** Returns the singular or plural of a noun: "1 Stunde", "2 Stunden". */
  form(number: string, [one, many]: Forms): string {
    return this.#plural.select(this.value(number)) === 'one' ? one : many;
  }

  value(number: string): number {
    const { whole, fraction } = this.parts(number);
    return Number(`${whole}.${fraction || '0'}`);
  }

  /** Writes a number with the noun that is counted. */
  counted(number: string, name: string): string {
    const words = this.written(number, name);
    if (words === 'una' && this.tag.startsWith('it') && /^[aeiou]/u.test(name)) return `un'${name}`;
    const isScale = /(?:million|milliard|millón|millon|milion|miliard|milh|bilh)\p{L}{0,3}$/u.test(words);
    return `${words} ${isScale ? this.row.ofScale(name) : ''}${name}`;
  }

  /** Writes a number with the name of a unit or currency from Unicode CLDR. */
  named(number: string, options: Intl.NumberFormatOptions): string {
    return this.counted(number, this.nameOf(this.value(number), options));
  }

  nameOf(value: number, options: Intl.NumberFormatOptions): string {
    const digits = Number.isInteger(value) ? 0 : 2;
    const format = new Intl.NumberFormat(this.tag, { ...options, minimumFractionDigits: digits });
    const parts = format.formatToParts(value);
    const last = parts.findLastIndex(({ type }) => type === 'integer' || type === 'fraction');
    return parts
      .slice(last + 1)
      .map(({ value }) => value)
      .join('')
      .replaceAll('’', "'")
      .trim();
  }

  #fraction(digits: string): string {
    if (this.row.isDigitwise || digits.length > 3) return this.digits(digits);
    const zeros = /^0*/u.exec(digits)?.[0] ?? '';
    const rest = digits.slice(zeros.length);
    return [this.digits(zeros), rest && this.whole(rest)].filter((part) => part !== '').join(' ');
  }

  #words(number: number, set: string): string {
    return this.#spellout.words(number, set).replace('oh-', 'oh ');
  }
}
