/**
 * Writes numbers, dates, money, measures, ordinals and Roman numerals in words, for voices that cannot read digits. Other
 * text stays unchanged.
 */
import { entriesOf } from '../kit/words.ts';
import { type Forms, NUMBER_LANGUAGES } from './number-languages.ts';
import { Numbers } from './numbers.ts';
import { RULERS, romanValue } from './roman.ts';
import { pattern } from './unicode.ts';

/**
 * @param tag the language of the text, in BCP 47
 * @returns the text unchanged if the language is not one of `NUMBER_LANGUAGES`
 */
export async function numbersInWords(text: string, tag: string): Promise<string> {
  if (!HAS_NUMBER.test(text)) return text;
  const rules = rulesByTag.get(tag) ?? rulesFor(tag);
  rulesByTag.set(tag, rules);
  return (await rules).reduce(applied, text);
}

const rulesByTag = new Map<string, Promise<readonly Rule[]>>();

async function rulesFor(tag: string): Promise<readonly Rule[]> {
  const [, language = '', region] =
    /^([a-z]{2})(?:[-_][a-z]{4})?(?:[-_]([a-z]{2}))?(?![a-z\d])/iu.exec(tag) ?? [];
  const code = language.toLowerCase();
  const row = NUMBER_LANGUAGES[code];
  if (!row) return [];
  const locale = region === undefined ? code : `${code}-${region.toUpperCase()}`;
  return rulesOf(new Numbers(row, locale, await row.load(locale)));
}

/** Matches digits, fractions and possible Roman numerals. */
const HAS_NUMBER = /[\d½¼¾⅓⅔]|(?<!\p{L})[IVXLC]+/u;

/** Replaces matches by words without digits; `undefined` leaves a match to later rules. */
type Rule = readonly [pattern: RegExp, words: (found: RuleMatch) => string | undefined];

interface RuleMatch {
  readonly all: string;
  /** Up to `CONTEXT` characters before the match. */
  readonly before: string;
  readonly after: string;
  /** Named groups; one that did not take part is empty. */
  readonly groups: Readonly<Record<string, string>>;
}

const CONTEXT = 40;

function applied(text: string, [pattern, words]: Rule): string {
  return text.replace(pattern, (all: string, ...rest: unknown[]) => {
    // Without named groups, the last argument is the text.
    const last = rest.at(-1) as string | Readonly<Record<string, string | undefined>>;
    const [named, at] = typeof last === 'string' ? [{}, rest.at(-2)] : [last, rest.at(-3)];
    const groups = Object.fromEntries(Object.entries(named).map(([name, found]) => [name, found ?? '']));
    const start = at as number;
    const end = start + all.length;
    const [before, after] = [text.slice(Math.max(0, start - CONTEXT), start), text.slice(end, end + CONTEXT)];
    const said = words({ all, before, after, groups });
    if (said === undefined) return all;
    // A letter may be next to digits, but not to words.
    const gap = /\p{L}$/u.test(before) && /^\p{L}/u.test(said) ? ' ' : '';
    return `${gap}${said}${/\p{L}$/u.test(said) && /^\p{L}/u.test(after) ? ' ' : ''}`;
  });
}

/** Lookbehind: a number begins here, not in the middle of a number or a name. */
const START = String.raw`(?<![\p{L}\d_]|\d[.,:/-])`;
const SPACE = '[\u00a0\u202f\u2009 ]';

/** Lists the rules in order: longer constructs first, single digits last. */
function rulesOf(numbers: Numbers): readonly Rule[] {
  return [
    ...romanRules(numbers),
    ...dateRules(numbers),
    ...timeRules(numbers),
    ...codeRules(numbers),
    ...rangeRules(numbers),
    ...moneyRules(numbers),
    ...unitRules(numbers),
    ...ordinalRules(numbers),
    ...plainRules(numbers),
  ];
}

const REGNAL = `(?=[IVX])(?<roman>X{0,3}(?:IX|IV|V?I{0,3}))(?<=[IVX])`;
const ROMAN = `(?=[IVXLC])(?<roman>(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?<=[IVXLC])`;

/** "Louis XIV", "Chapter IV", "XXe siècle", "XX. Jahrhundert". In other contexts, letters stay letters. */
function romanRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  const { isGerman, isEnglish } = numbers;
  const end = isGerman ? String.raw`\.?(?![\p{L}\d.])` : String.raw`(?![\p{L}\d]|\.\p{L})`;
  return [
    [
      pattern`(?<=(?<!\p{L})(?:${RULERS})\s)${REGNAL}(?:er(?!\p{L}))?${end}`,
      ({ all, after, groups: { roman = '' } }) => {
        // "Elizabeth I think" has a pronoun, and "John V. Smith" an initial.
        const isPronoun =
          roman === 'I' && isEnglish && !/^(?:[,.;:!?)'’]|$| (?:of|was|is|and)\b)/u.test(after);
        const isInitial = roman.length === 1 && /^\.\s+\p{Lu}/u.test(`${all.slice(roman.length)}${after}`);
        if (isPronoun || isInitial) return undefined;
        const isEnd =
          all.endsWith('.') && (after === '' || /^["'”’)]*(?:\s*$|\s+\p{Lu}\p{Ll}+\s+\p{Ll})/u.test(after));
        return `${row.regnal(romanValue(roman), numbers)}${isEnd ? '.' : ''}`;
      },
    ],
    [
      pattern`(?<=(?<!\p{L})(?:${row.numbered})\s)${ROMAN}(?![\p{L}\d]|\.\p{L})`,
      ({ groups: { roman = '' } }) => numbers.cardinal(romanValue(roman)),
    ],
    [
      pattern`(?<![\p{L}\d.])${ROMAN}${row.century ?? '(?!)'}`,
      ({ groups: { roman = '' } }) => numbers.ordinal(romanValue(roman)),
    ],
  ];
}

/** "2024-03-05", "05.03.2024", "am 5.3." */
function dateRules(numbers: Numbers): Rule[] {
  const { row, tag, isEnglish, months } = numbers;
  const said = (day: string, month: string, year: string, before: string): string | undefined => {
    const name = months[Number(month) - 1];
    if (name === undefined || !isDay(day)) return undefined;
    if (row.inDates === undefined) return `${name} ${numbers.ordinal(Number(day))}, ${numbers.year(year)}`;
    return [row.day(Number(day), numbers, { before, after: '' }), name, numbers.year(year)].join(row.inDates);
  };
  const isMonthFirst = tag === 'en' || tag === 'en-US';
  return [
    [
      /(?<![\p{L}\d.,/-])(?<year>\d{4})(?<mark>[-/])(?<month>\d\d)\k<mark>(?<day>\d\d)(?:T(?=\d\d:)|(?![\d/-]|[.,]\d))/gu,
      ({ all, before, groups: { year = '', month = '', day = '' } }) => {
        const date = said(day, month, year, before);
        return date && (all.endsWith('T') ? `${date} ` : date);
      },
    ],
    [
      /(?<![\p{L}\d.,/-])(?<first>\d{1,2})(?<mark>[./-])(?<second>\d{1,2})\k<mark>(?<year>[12]\d{3}|(?<=\d\d.\d\d.)\d\d)(?![\p{L}\d/-]|[.,]\d)/gu,
      ({ before, groups: { first = '', mark = '', second = '', year = '' } }) => {
        if (year.length === 2 && (mark === '-' || isEnglish)) return undefined;
        if (!isMonthFirst || mark === '.' || Number(first) > 12) return said(first, second, year, before);
        if (Number(second) > 12) return said(second, first, year, before);
        // The order of day and month is unknown.
        const [one, other] = [first, second].map((digits) => numbers.cardinal(Number(digits)));
        return `${one} ${row.slash} ${other} ${row.slash} ${numbers.year(year)}`;
      },
    ],
    [
      /(?<=(?<!\p{L})(?:am|vom|zum|bis|ab|den|der|dem)\s)(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?!\d)/giu,
      ({ groups: { day = '', month = '' } }) =>
        numbers.isGerman && isDay(day) && months[Number(month) - 1]
          ? `${numbers.ordinal(Number(day), 'n')} ${numbers.ordinal(Number(month), 'n')}`
          : undefined,
    ],
    ...writtenDateRules(numbers),
  ];
}

function isDay(digits: string): boolean {
  return Number(digits) >= 1 && Number(digits) <= 31;
}

/** "3. Mai 2024", "May 3, 2024": the month is in words already. */
function writtenDateRules(numbers: Numbers): Rule[] {
  const { row, isEnglish, months } = numbers;
  const short = isEnglish ? '|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.?' : '';
  const names = `(?:${months.join('|')}${short})(?!\\p{L})`;
  return [
    [
      new RegExp(
        String.raw`(?<![\p{L}\d.,/-])(?<day>\d{1,2})(?:st|nd|rd|th|er|[º°.])?(?=\s(?:de\s|of\s)?${names})`,
        'giu',
      ),
      ({ before, after, groups: { day = '' } }) =>
        isDay(day) ? row.day(Number(day), numbers, { before, after }) : undefined,
    ],
    [
      pattern`(?<=(?<!\p{L})${names}\s)(?<day>\d{1,2})(?:st|nd|rd|th)?(?![\p{L}\d:%]|[.,/-]\d)`,
      ({ groups: { day = '' } }) => (isEnglish && isDay(day) ? numbers.ordinal(Number(day)) : undefined),
    ],
    [
      new RegExp(
        String.raw`(?<=(?<!\p{L})(?:${names}|${ORDINAL_DAY}),?\s(?:de\s|del\s)?)(?<year>[12]\d{3})(?![\p{L}\d%]|[.,:/]\d)`,
        'giu',
      ),
      ({ groups: { year = '' } }) => numbers.year(year),
    ],
  ];
}

/** The day of "May fifth, 2024", which is in words already. */
const ORDINAL_DAY = String.raw`(?:first|second|third|\p{L}{3,12}th|twenty-\p{L}{4,8}|thirty-first)(?!\p{L})`;

const AM_PM = String.raw`\s?[ap]\.?m\b`;

/** "9:00–17:00", "14h30", "6.30pm", "7 Uhr" */
function timeRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  const { hourSign = '(?!)' } = row;
  return [
    [
      pattern`(?<=\d(?:${AM_PM})?)\s?[-–—]\s?(?=\d{1,2}(?:[:h][0-5]\d(?![\d:])|${hourSign}|${AM_PM}))`,
      () => ` ${row.to} `,
    ],
    [
      pattern`(?<![\p{L}\d.,:/])(?<hour>\d{1,2})(?<mark>[:h.])(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?(?<sign>${hourSign})?(?<half>${AM_PM})?(?![\p{L}\d]|[:.,]\d)`,
      ({ before, groups: { hour = '', mark, minute = '', second = '', sign = '', half = '' } }) => {
        if (Number(hour) > 24 || (mark === '.' && sign + half === '')) return undefined;
        const isSure = hour.length === 2 || sign !== '' || (row.timeWords?.test(before) ?? true);
        if (!isSure) return `${numbers.whole(hour)} ${numbers.whole(minute)}`;
        const time = row.time(Number(hour), Number(minute), numbers);
        const end = half === '' ? '' : ` ${half.trim()}`;
        const seconds =
          second &&
          ` ${numbers.named(String(Number(second)), { style: 'unit', unit: 'second', unitDisplay: 'long' })}`;
        return (half === '' ? time : time.replace(" o'clock", '')) + seconds + end;
      },
    ],
    [
      pattern`(?<![\p{L}\d.,:/])(?<hour>\d{1,2})${hourSign}`,
      ({ groups: { hour = '' } }) => (Number(hour) <= 24 ? row.time(Number(hour), 0, numbers) : undefined),
    ],
  ];
}

/** Telephone numbers, IP addresses and versions, which are not quantities. */
function codeRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  const spelled = (all: string) =>
    [...all.matchAll(/\d+/gu)].map(([digits]) => numbers.digits(digits)).join(', ');
  return [
    [
      /(?<![\p{L}\d+])\+(?:\d{8,15}|\d{1,4}(?:[ \-./]\(?\d{1,9}\)?){1,7})(?![\p{L}\d])/gu,
      ({ all }) => (all.replace(/\D/gu, '').length < 8 ? undefined : `${row.plus} ${spelled(all)}`),
    ],
    [
      /(?<![\p{L}\d.-])(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\p{L}\d]|[-.]\d)/gu,
      ({ all }) => spelled(all),
    ],
    [
      /(?<![\p{L}\d.,]|[vV]\d)(?<version>[vV]?)(?<parts>\d{1,9}(?:\.\d{1,9}){2,9})(?!\d|\.\d)/gu,
      ({ groups: { version = '', parts = '' } }) => {
        const isQuantity = numbers.grouping.exec(parts)?.[0] === parts;
        const words = parts.split('.').map((part) => numbers.whole(part));
        return isQuantity ? undefined : `${version && `${version} `}${words.join(` ${row.point} `)}`;
      },
    ],
  ];
}

/** "10–20": writes "to" between the two numbers. */
function rangeRules(numbers: Numbers): Rule[] {
  const { to } = numbers.row;
  return [
    [/(?<=\d[%€$£°]?)\s?[–—]\s?(?=[€$£]?\d)/gu, () => ` ${to} `],
    [
      /(?<![\p{L}\d\-–/.,:])(?<from>\d{1,4}(?:[.,]\d{1,3})?)-(?<until>\d{1,4}(?:[.,]\d{1,3})?)(?![\p{L}\d\-–/]|[.,:]\d)/gu,
      ({ groups: { from = '', until = '' } }) =>
        numbers.value(from) < numbers.value(until) && (from.length === until.length || until.length <= 3)
          ? `${from} ${to} ${until}`
          : undefined,
    ],
  ];
}

const CODES: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£', JPY: '¥' };
const NAMED_CODES = 'CHF|SEK|NOK|DKK|PLN|CZK|HUF|INR|CNY|CAD|AUD|BRL|MXN|TRY|RUB|UAH|KRW|ZAR|NZD|SGD|HKD';

/** "$5.50", "5,50 €", "1,5 Mio. €", "3 Mrd." */
function moneyRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  const words = Object.keys(row.scales).filter((scale) => scale.length > 1);
  // A single letter after a space may be the next word.
  const letters = Object.keys(row.scales).filter((scale) => scale.length === 1);
  const long = eitherOf(words);
  const either = String.raw`(?:\s?(?<word>${long})|(?<letter>${eitherOf(letters)}))(?![\p{L}\d])`;
  const loose = String.raw`\s?(?<word>${long}|${eitherOf(letters)})`;
  const sign = String.raw`(?<sign>R\$|[$€£¥]|(?:${Object.keys(CODES).join('|')}|${NAMED_CODES})(?!\p{L}))`;
  const minus = String.raw`(?<minus>(?<![\p{L}\d])[-−]\s?)?`;
  const said = ({ groups: { minus, amount = '', word, letter, sign = '' } }: RuleMatch) =>
    (minus ? `${row.minus} ` : '') +
    moneyInWords(numbers, { amount, scale: row.scales[word || letter || ''], sign });
  return [
    [pattern`(?<![\p{L}\d$])${minus}${sign}\s?(?<amount>${numbers.pattern})(?:${either})?(?![\d%])`, said],
    [pattern`${START}${minus}(?<amount>${numbers.pattern})(?:${loose})?\s?${sign}(?!\s?\d)`, said],
    [
      pattern`${START}(?<amount>${numbers.pattern})\s?(?<word>${long})(?![\p{L}\d])`,
      ({ groups: { amount = '', word = '' } }) => scaled(numbers, amount, row.scales[word]),
    ],
  ];
}

function eitherOf(words: readonly string[]): string {
  if (words.length === 0) return '(?!)';
  const longestFirst = words.toSorted((one, other) => other.length - one.length);
  return longestFirst.map((word) => word.replace(/[.^]/gu, '\\$&')).join('|');
}

function scaled(numbers: Numbers, amount: string, scale: Forms | undefined): string | undefined {
  if (!scale) return undefined;
  const form = numbers.form(amount, scale);
  return `${numbers.written(amount, form)} ${form}`;
}

interface Money {
  readonly amount: string;
  readonly scale: Forms | undefined;
  readonly sign: string;
}

function moneyInWords(numbers: Numbers, { amount, scale, sign: written }: Money): string {
  const { row } = numbers;
  const sign = CODES[written] ?? written;
  const currency = row.currencies[sign];
  const named = {
    style: 'currency',
    currency: CURRENCY_SIGNS[sign] ?? sign,
    currencyDisplay: 'name',
  } as const;
  if (scale !== undefined) {
    const name = currency?.[1] ?? numbers.nameOf(2, named);
    return `${scaled(numbers, amount, scale)} ${row.ofScale(name)}${name}`;
  }
  if (!currency) return numbers.named(amount, named);
  const { whole, mark, fraction } = numbers.parts(amount);
  if (mark === '' || fraction.length !== 2) {
    return numbers.counted(amount, numbers.form(amount, currency));
  }
  const cents = row.cents[sign];
  const count = String(Number(fraction));
  const hundredths = () => {
    if (count === '0') return '';
    return cents ? numbers.counted(count, numbers.form(count, cents)) : numbers.whole(count);
  };
  if (Number(whole) === 0 && count !== '0' && cents) return hundredths();
  const main = numbers.counted(amount.slice(0, -3), numbers.form(whole, currency));
  if (count === '0') return main;
  return row.and === undefined ? `${main} ${numbers.whole(count)}` : `${main} ${row.and} ${hundredths()}`;
}

const CURRENCY_SIGNS: Readonly<Record<string, string>> = { R$: 'BRL' };

/** Signs of units, with their names in Unicode CLDR. */
const UNITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    entriesOf(`
      % percent, °C celsius, °F fahrenheit, ° degree, km kilometer, m meter, cm centimeter, mm millimeter, mi mile,
      yd yard, ft foot, kg kilogram, lb pound, lbs pound, oz ounce, l liter, L liter, ml milliliter, mL milliliter,
      ha hectare, h hour, min minute, s second, ms millisecond, kB kilobyte, KB kilobyte, MB megabyte, GB gigabyte,
      TB terabyte, Mbit/s megabit-per-second, Mbps megabit-per-second, km/h kilometer-per-hour,
      kmh kilometer-per-hour, mph mile-per-hour, m/s meter-per-second`),
  ),
  '° C': 'celsius',
};
const PREFIXES = ['k', 'M', 'G', 'm', 'µ', 'h'];
const PREFIXED = ['W', 'Wh', 'V', 'Hz', 'g', 'Pa'];
/** Units of length, which also have areas and volumes. */
const LENGTHS = ['km', 'm', 'cm', 'mm'];

function unitRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  const own = new Map<string, Forms>(Object.entries(row.units));
  const prefixes = row.prefixes.split(' ');
  for (const [at, prefix] of PREFIXES.entries())
    for (const sign of PREFIXED) {
      const unit = row.units[sign];
      if (unit) own.set(prefix + sign, [prefixed(prefixes[at], unit[0]), prefixed(prefixes[at], unit[1])]);
    }
  for (const sign of LENGTHS) {
    const named = { style: 'unit', unit: UNITS[sign], unitDisplay: 'long' } as const;
    const forms = [numbers.nameOf(1, named), numbers.nameOf(2, named)] as const;
    for (const two of ['²', '^2']) own.set(sign + two, row.square(forms));
    for (const three of ['³', '^3']) own.set(sign + three, row.cubic(forms));
  }
  const sign = eitherOf([...new Set([...own.keys(), ...Object.keys(UNITS)])]);
  return [
    [
      pattern`${START}(?<minus>(?<![\p{L}\d)])[-−]\s?)?(?<amount>${numbers.pattern})(?<gap>${SPACE}?|-)(?<sign>${sign})(?![\p{L}\p{M}\d²³/^]|['’]\p{L})`,
      ({ all, groups: { minus, amount = '', gap = '', sign = '' } }) => {
        if (!isMeasure({ amount, gap, sign })) return undefined;
        const unit = own.get(sign);
        const before = minus ? `${row.minus} ` : '';
        // "A five kilometer run": after a hyphen, a unit is singular.
        const count = gap === '-' ? '1' : amount;
        if (unit) return before + numbers.counted(amount, numbers.form(count, unit));
        const named = UNITS[sign];
        if (named === undefined) return all;
        const how = { style: 'unit', unit: named, unitDisplay: 'long' } as const;
        return before + numbers.counted(amount, numbers.nameOf(numbers.value(count), how));
      },
    ],
  ];
}

/** False for decades ("the 1990s", "the 80s") and for "5-m", which may be anything. */
function isMeasure({ amount, gap, sign }: Readonly<Record<'amount' | 'gap' | 'sign', string>>): boolean {
  if (gap === '-') return sign.length > 1;
  return sign !== 's' || gap !== '' || !/^(?:\d0|[12]\d\d0)$/u.test(amount);
}

function prefixed(prefix = '', unit = ''): string {
  return prefix + unit.charAt(0).toLowerCase() + unit.slice(1);
}

function ordinalRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  if (numbers.isGerman) return germanOrdinals(numbers);
  const endings = Object.keys(row.ordinals).sort((a, b) => b.length - a.length);
  const rules: Rule[] = [
    [
      pattern`${START}(?<number>\d{1,6})\.?(?<ending>${endings.join('|')})(?![\p{L}\d])`,
      ({ groups: { number = '', ending = '' } }) =>
        /^0/u.test(number) ? undefined : numbers.ordinal(Number(number), ending),
    ],
  ];
  if (numbers.isEnglish)
    rules.push([
      /(?<![\p{L}\d.,])['’]?(?<century>\d\d)?(?<decade>[2-9]0|10|(?<=\d\d)00)['’]?s(?![\p{L}\d])/gu,
      ({ groups: { century = '', decade = '' } }) => {
        if (decade === '00') return `${numbers.year(`${century}00`)}s`;
        const word = numbers.cardinal(Number(decade)).replace(/y$/u, 'ie');
        return `${century && `${numbers.cardinal(Number(century))} `}${word}s`;
      },
    ]);
  return rules;
}

/** "der 3. Versuch", "im 20. Jahrhundert", "die 1990er". The words before tell an ordinal from the end of a sentence. */
function germanOrdinals(numbers: Numbers): Rule[] {
  return [
    [
      /(?<=(?<!\p{L})(?:der|die|das|den|dem|des|am|im|vom|zum|zur|beim|eine?|einen|einem|einer|jede[rnms]?|diese[rnms]?|sein(?:en|em|e)?|ihr(?:en|em|e)?)\s)(?<number>\d{1,4})\.(?=\s\p{L})/giu,
      ({ before, after, groups: { number = '' } }) =>
        /^0/u.test(number) ? undefined : numbers.row.day(Number(number), numbers, { before, after }),
    ],
    [
      /(?<![\p{L}\d.,])(?<number>\d{2,4})er(?![\p{L}\d])/gu,
      ({ groups: { number = '' } }) => (/0$/u.test(number) ? `${numbers.year(number)}er` : undefined),
    ],
  ];
}

function plainRules(numbers: Numbers): Rule[] {
  const { row } = numbers;
  const signs = Object.keys(row.fractions).join('');
  const alone = (sign: string) => row.fractions[sign]?.[0] ?? sign;
  return [
    [
      /(?<=(?<![\d/.,])(?:\d{1,4} )?)(?<![\d/.,])(?:1\/2|1\/4|3\/4|1\/3|2\/3)(?=\s\p{L})/gu,
      ({ all }) => COMMON.get(all),
    ],
    [
      pattern`${START}(?<whole>\d{1,9})\s?(?<sign>[${signs}])`,
      ({ groups: { whole = '', sign = '' } }) => `${numbers.whole(whole)}${row.fractions[sign]?.[1] ?? sign}`,
    ],
    [pattern`[${signs}]`, ({ all }) => alone(all)],
    [
      pattern`(?<![\p{L}\d_]|\d[.,/])(?<minus>(?<![\p{L}\d)\]][ ]?)[-−](?=\d))?(?<amount>${numbers.pattern})(?!\d|[.,/]\d)`,
      ({ before, after, groups: { minus, amount = '' } }) =>
        (minus ? `${row.minus} ` : '') + inText(numbers, amount, { before, after }),
    ],
    // All remaining digits, said one by one if they are not a number.
    [/\d+(?:\.\d+)?/gu, ({ all }) => numbers.written(all)],
  ];
}

const COMMON = new Map(entriesOf('1/2 ½, 1/4 ¼, 3/4 ¾, 1/3 ⅓, 2/3 ⅔'));

/** Writes a number in a sentence: four digits may be a year, and the number may agree with the noun after it. */
function inText(
  numbers: Numbers,
  amount: string,
  { before, after }: Pick<RuleMatch, 'before' | 'after'>,
): string {
  const { row } = numbers;
  const noun = /^\s(\p{L}+)(?!\p{L})/u.exec(after)?.[1] ?? '';
  if (/^\p{L}/u.test(after)) return numbers.written(amount);
  if (/^\d{4}$/u.test(amount)) {
    const counts =
      numbers.isEnglish &&
      /^(?!(?:was|is|has|as|its|this|his|does)$)\p{Ll}{2,}s$|^people$|^(?:men|women|children)$/u.test(noun);
    if (!counts) return numbers.year(amount);
  }
  const isLabel = /\p{Lu}\p{Ll}{3,}\s$/u.test(before);
  const value = numbers.value(amount);
  const isOne = value === 1;
  const isFit = isOne ? !isLabel : /s$/u.test(noun);
  return numbers.written(amount, isFit && row.counted?.test(noun) ? noun : undefined);
}
