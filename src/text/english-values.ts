/** Writes values as an English reader says them, for voices that would misread them or say letters and signs. */

import { entriesOf } from '../kit/words.ts';
import {
  BEFORE_NAME,
  FRACTION,
  isSingular,
  NUMBER,
  perInEnglish,
  START,
  unitsInEnglish,
} from './english-units.ts';
import { pattern } from './unicode.ts';

/**
 * Writes money, sizes, measures, dates, times, versions and expressions in words. Plain numbers stay in digits.
 * @param text with ASCII quotation marks and dashes
 */
export function valuesInEnglish(text: string): string {
  if (WITHOUT_VALUES.test(text)) return text;
  const digits = spokenBy(DIGITS, text);
  const money = moneyInEnglish(spokenBy(DATES, digits));
  const measures = unitsInEnglish(spokenBy(LENGTHS, scaledInEnglish(spokenBy(RANGES, money))));
  return spokenBy([...EXPRESSIONS, ...LISTS], measures);
}

/** Matches most sentences of prose. Every rule needs a digit, or a sign that is not listed here. */
const WITHOUT_VALUES = /^[a-z\s.,;!?'"]*$/iu;

/** A pattern and its replacement; a function gets the match and then its groups, `undefined` if absent. */
export type Rule = readonly [
  pattern: RegExp,
  spoken: string | ((all: string, ...groups: string[]) => string),
];

/** Applies the rules in order. */
export function spokenBy(rules: readonly Rule[], text: string): string {
  // The overloads of `replace` take a string or a function, but no union of them.
  return rules.reduce((spoken, [pattern, words]) => spoken.replace(pattern, words as string), text);
}

const SUPERSCRIPT = '[⁰¹²³⁴-⁹]';

/** Unusual digits, and numbers with separators between the digits. */
const DIGITS: readonly Rule[] = [
  [/[\uff01-\uff5e\u{1d7ce}-\u{1d7ff}]/gu, (sign) => sign.normalize('NFKC')],
  [/[\u2460-\u249b\u24ea]/gu, (sign) => ` ${sign.normalize('NFKC').replace(/[^\d]/gu, '')} `],
  [/[\u2044\u2215]/gu, '/'],
  // A superscript note number does not belong to the word before it.
  [pattern`(?<=\p{L}{2})(?![²³](?!${SUPERSCRIPT}))(?=${SUPERSCRIPT})`, ' '],
  [
    pattern`(?<=[\d\p{L})])(?:[⁺⁻]${SUPERSCRIPT}{1,20}|${SUPERSCRIPT}{2,20}|[⁰¹⁴-⁹])`,
    (power) => `^${power.normalize('NFKC').replace('\u2212', '-')} `,
  ],
  [/(?<=\d)[₀-₉]{1,20}/gu, (index) => ` base ${index.normalize('NFKC')} `],
  [/[₀-₉]{1,20}(?=\d)/gu, (index) => `${index.normalize('NFKC')} `],
  // 1'000'000, 1_000_000, and the thin spaces of ISO 80000.
  [/(?<![\w.,'])\d{1,3}(?:(?<mark>[_'\u00a0\u202f\u2009])\d{3})(?:\k<mark>\d{3}){0,9}(?![\w'])/gu, joined],
  [/(?<![\w.,]|\d )[1-9]\d{0,2}(?: \d{3}){0,3} 000(?![\w.,]\d|\d| \d)/gu, joined],
  // 1.000.000 and 1.000,50, but not IP addresses.
  [
    /(?<![\w.,])[1-9]\d{0,2}(?:\.\d{3}){2,5}(?!\w|[.,]\d)/gu,
    (all) => (isAddress(all) ? all : withCommas(all)),
  ],
  [
    /(?<![\w.,])([1-9]\d{0,2}(?:\.\d{3}){1,5}),(\d{1,9})(?!\w|[.,]\d)/gu,
    (_, whole = '', rest) => `${withCommas(whole)}.${rest}`,
  ],
  // 0,5 and 1,5 kg: in a list, spaces follow commas.
  [/(?<![\w.,([{])0,(?=\d{1,9}(?![\w,]|\s?[€£¥₹₩₽₿]))/gu, '0.'],
  [
    /(?<![\w.,$€£¥₹₩₽₿])(\d{1,3}),(\d{1,2})(?=\s?(?:[%°]|(?:[kcmµ]?[mgl]|km\/h|[kM]W|[kMGT]B)(?![\w/])))/gu,
    '$1.$2',
  ],
  // IPv6 and MAC addresses.
  [
    /(?<![\w:.])(?=[\da-f:]{0,40}(?:::|(?::[\da-f]{2,4}){5}))(?=:{0,2}[\da-f])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?![\w:]|\.\d)/giu,
    (all) => (/\d/u.test(all) ? [...all.toUpperCase()].join(' ').replaceAll(':', 'colon') : all),
  ],
  // 5,00,000
  [/(?<![\d.,])\d{1,2}(?:,\d\d){1,5},\d{3}(?![,\d])/gu, joined],
  [/(?<=\d)\.{2,3}(?=\d)/gu, ' to '],
];

/** Keeps the separators: without them, a number of four digits would be read as a year. */
function withCommas(number: string): string {
  return number.replaceAll('.', ',');
}

/** Writes digits with commas, which make them a quantity whatever is next to them. */
function joined(number: string): string {
  return number.replace(/\D/gu, '').replace(/\B(?=(?:\d{3})+$)/gu, ',');
}

export const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

function date(year: string, month: string, day: string): string | undefined {
  const name = MONTHS[Number(month) - 1];
  if (!name || Number(day) < 1 || Number(day) > 31) return undefined;
  return `${name} ${Number(day)}, ${year}`;
}

const SIDES_OF_UTC = new Map(entriesOf('+ plus, - minus'));

function zoneOf([zulu, sign, hours = '', minutes = '']: readonly string[]): string {
  if (!sign) return zulu ? ' UTC' : '';
  return ` UTC ${SIDES_OF_UTC.get(sign)} ${Number(hours)}${minutes === '00' ? '' : ` ${minutes}`}`;
}

const DATES: readonly Rule[] = [
  [
    /(?<![\w.,/-])(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,]\d{1,9})?(?:(Z\b)|([+-])(\d\d):?(\d\d))?)?(?![\w/]|-\d)/gu,
    (all, ...[year = '', , month = '', day = '', time, seconds = '', ...zone]) => {
      const found = date(year, month, day);
      return found && time ? `${found}, ${time}${seconds}${zoneOf(zone)}` : (found ?? all);
    },
  ],
  // Dates with points, as in Germany and its neighbours, always have the day first.
  [
    /(?<![\w.,/-])(\d{1,2})\.(\d{1,2})\.([12]\d{3})(?![\w/-]|\.\d)/gu,
    (all, day, month, year) => date(year, month, day) ?? all,
  ],
  // In 3/4/2024, the order of day and month is unknown.
  [
    /(?<![\w.,/-])(\d{1,2})\/(\d{1,2})\/([12]\d{3})(?![\w/-]|\.\d)/gu,
    (_, first, second, year) => {
      if (Number(second) > 12) return date(year, first, second) ?? `${first} slash ${second} slash ${year}`;
      if (Number(first) > 12) return date(year, second, first) ?? `${first} slash ${second} slash ${year}`;
      return `${Number(first)} slash ${Number(second)} slash ${year}`;
    },
  ],
  [/(?<=\b(?:UTC|GMT)\s?)[-+](?=\d)/gu, (sign) => ` ${SIDES_OF_UTC.get(sign)} `],
  [/(?<=\d:\d{1,3})-(?=\d{1,3}(?![\w-]))/gu, ' to '],
  // Zeros that voices may drop: in seconds, in the hour after midnight, and in a full hour.
  [
    /(?<![\w:.,])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])/gu,
    (_, hours, minutes, seconds) =>
      `${hours}:${minutes}${seconds === '00' ? '' : ` and ${counted(String(Number(seconds)), 'second', 'seconds')}`}`,
  ],
  [/(?<![\w:.,])0?0:(?=[0-5]\d(?![\d:]))/gu, '0 '],
  [/(?<![\w:.,])(\d{1,2}):00(?!\s?[ap]\.?m|[\d:]|\s?(?:o'clock|hours|UTC|GMT))/giu, "$1 o'clock"],
  // After a name, a verse or a score; elsewhere a ratio.
  [
    pattern`(?<=(?!(?:Ratio|Odds|Scale|The)\b)\p{Lu}\p{Ll}{1,20}\.?\s)(\d{1,3}):(\d|\d{3})(?![\d:]|\.\d)`,
    '$1, $2',
  ],
  [/(?<![\w:.,])(\d{1,4}):(\d|\d{3,5})(?![\d:]|\.\d)/gu, '$1 to $2'],
  // Versions, sections and addresses.
  [
    /(?<![\w.,])(v?)(\d{1,9}(?:\.\d{1,9}){2,9})(?:(?=[-+ ,;:!?)]|\.?(?:\s|$))|(?=[a-z]))/giu,
    (_, version, numbers) => version + dotted(numbers, version === ''),
  ],
];

function dotted(numbers: string, mayBeAddress: boolean): string {
  const parts = numbers.split('.');
  const isTelephone = /^\d{3}\.\d{3}\.\d{4}$/u.test(numbers);
  if (isTelephone) return parts.map((part) => [...part].join(' ')).join(', ');
  return parts.join(mayBeAddress && isAddress(numbers) ? ' dot ' : ' point ');
}

function isAddress(numbers: string): boolean {
  const parts = numbers.split('.');
  return parts.length === 4 && parts.every((part) => Number(part) < 256);
}

/** Currencies by sign: singular, plural, and singular and plural of the hundredth. */
const CURRENCIES = new Map(
  entriesOf(`
    $ dollar|dollars|cent|cents, € euro|euros|euro cent|euro cents, £ pound|pounds|penny|pence, ¥ yen|yen|sen|sen,
    ₹ rupee|rupees|paisa|paise, ₩ won|won|jeon|jeon, ₽ ruble|rubles|kopeck|kopecks, ₿ bitcoin|bitcoins, ¢ cent|cents`).map(
    ([sign, names]) => [sign, names.split('|')] as const,
  ),
);
/** Currencies without the name of the hundredth: "three pounds fifty". */
const SHORT = '€£';
const DOLLARS = new Map(
  entriesOf(
    'US U S, A Australian, AU Australian, C Canadian, CA Canadian, HK Hong Kong, NZ New Zealand, S Singapore',
  ),
);

const SCALES = new Map(
  entriesOf(`
    k thousand, m million, mn million, mio million, mln million, b billion, bn billion, bln billion, t trillion,
    tn trillion, trn trillion`),
);
const SCALE = String.raw`(?:\s?(?:mn|mio|mln|bn|bln|tn|trn)|[kmbt]|\s(?:hundred|thousand|million|billion|trillion))(?![\p{L}\d])`;
const SIGN = '[$€£¥₹₩₽₿]';
/** "1,234.50", "1.234,50", "1 234,50" without its spaces, "3,50", ".50". */
const AMOUNT = String.raw`(?:\d{1,3}(?:\.\d{3}){1,6},\d\d(?![\d,])|\d{1,3}(?:\.\d{3}){2,6}(?![\d,.])|\d+,\d\d(?![\d,])|${NUMBER}|\.\d+)`;

const MONEY = new RegExp(
  String.raw`(?<![\w$.]|\d,)(?<minus>-\s?)?(?:(?<![A-Z])(?<land>US|AU?|CA?|HK|NZ|S))?(?<sign>${SIGN})\s?(?<inner>-)?(?<amount>${AMOUNT})(?<scale>${SCALE})?(?:\s?/\s?(?<per>\p{L}{1,20}))?`,
  'giu',
);
const MONEY_SIGN_LAST = new RegExp(
  String.raw`(?<![\w.]|\d,)(?<minus>-)?(?<amount>${AMOUNT})(?<scale>${SCALE})?(?:(?<sign>[$€£¥₹₩₽₿¢])|\s(?<spaced>[€£¥₹₩₽₿¢]))(?!\s?\d)(?:\s?/\s?(?<per>\p{L}{1,20}))?`,
  'giu',
);
const FROM_TO: Rule = [
  new RegExp(
    String.raw`(?<![\w$.]|\d,)(?<sign>${SIGN})(?<from>${AMOUNT})(?<scale>${SCALE})?\s?(?:-|to)\s?\k<sign>?(?=\d)`,
    'giu',
  ),
  (_, sign = '', from = '', scale = '') => `${amountOf(from)}${scaleOf(scale)} to ${sign}`,
];

/** Amounts that the voice reads correctly itself. */
const READ =
  /^\$[1-9](?:\d{0,3}|\d{0,2}(?:,\d{3})+)(?:\.\d\d|(?:\.\d{1,9})?\s(?:hundred|thousand|million|billion|trillion))?$/u;

function moneyInEnglish(text: string): string {
  return spokenBy([FROM_TO], text)
    .replace(MONEY, (all: string, ...found: unknown[]) =>
      READ.test(all) ? all : inWords(found.at(-1) as Sum),
    )
    .replace(MONEY_SIGN_LAST, (...found: unknown[]) => inWords(found.at(-1) as Sum))
    .replace(/[€£¥₹₩₽₿¢]/gu, (sign) => ` ${CURRENCIES.get(sign)?.[1]} `);
}

interface Sum {
  readonly minus?: string;
  readonly inner?: string;
  readonly land?: string;
  readonly sign?: string;
  readonly spaced?: string;
  readonly amount: string;
  readonly scale?: string;
  readonly per?: string;
}

function inWords({ minus, inner, land = '', sign, spaced, per, ...sum }: Sum): string {
  const before = minus || inner ? 'minus ' : '';
  const after = per === undefined ? '' : perInEnglish(per);
  const country = DOLLARS.get(land.toUpperCase());
  const parts = partsOf(sum, sign ?? spaced ?? '', country === undefined ? '' : `${country} `);
  return before + parts.join(' ') + after;
}

function partsOf(
  { amount, scale = '' }: Pick<Sum, 'amount' | 'scale'>,
  sign: string,
  land: string,
): string[] {
  const [one = '', many = '', cent = '', cents] = CURRENCIES.get(sign) ?? [];
  const main = (count: string) => `${count} ${land}${count === '1' ? one : many}`;
  const number = amountOf(amount);
  const [, whole = '', hundredths] = /^([\d,]*)\.(\d\d)$/u.exec(number) ?? [];
  if (scale !== '') return [number + scaleOf(scale), land + many];
  if (hundredths === undefined || cents === undefined) return [main(number)];
  const count = hundredths === '00' ? '' : String(Number(hundredths));
  const rest = count && `${count} ${count === '1' ? cent : cents}`;
  if (/^0*$/u.test(whole)) return [rest || main('0')];
  return [main(whole), ...(count ? [SHORT.includes(sign) ? count : rest] : [])];
}

function amountOf(written: string): string {
  const isEuropean = /,\d\d$/u.test(written) || /\.\d{3}\./u.test(written);
  const number = isEuropean ? written.replaceAll(/[.,]/gu, (mark) => (mark === '.' ? ',' : '.')) : written;
  return number.startsWith('.') ? `0${number}` : number;
}

function scaleOf(written: string): string {
  const scale = written.trim();
  return scale === '' ? '' : ` ${SCALES.get(scale.toLowerCase()) ?? scale}`;
}

/** Nouns that are counted in thousands, millions or billions: they tell a scale letter from a name. */
const COUNTED =
  'people|users?|views?|downloads?|parameters?|params?|tokens?|records|rows|requests|devices|dollars|euros|pounds|followers|subscribers|customers|visitors|visits|copies|years|deaths|cases|jobs|models?|budget|deal|fund|fundings?|valuations?|investments?|loan|LLM';
const SCALED = pattern`(?<![A-Za-z]\d{0,9}-)${START}(?<number>${NUMBER})(?:(?<sureScale>\s?(?:bn|bln|mn|mln|mio|tn|trn))|(?<letter>[kKMB])|(?<lower>\s?m))(?<more>\+?)(?![\p{L}\d/'])(?<counted>\s(?:${COUNTED})\b)?`;

/** "1.5M", "10k": a letter that may belong to the name of a place or a thing stays. */
function scaledInEnglish(text: string): string {
  return text.replace(SCALED, (all: string, ...found: unknown[]) => {
    const { number, sureScale, letter, lower, more, counted } = found.at(-1) as Readonly<
      Record<string, string | undefined>
    >;
    const before = text.slice(Math.max(0, Number(found.at(-3)) - 20), Number(found.at(-3)));
    const isName = BEFORE_NAME.test(before) || /^(?:[248]K|401k|3M)$/u.test(`${number}${letter}`);
    const isSize = number?.includes('.') || counted;
    const isScale = sureScale || (lower ? counted : !isName && (letter !== 'B' || isSize));
    if (!isScale) return all;
    const scale = sureScale ?? letter ?? lower ?? '';
    return `${number}${scaleOf(scale)}${more ? ' plus' : ''}${counted ?? ''}`;
  });
}

const MANY = new Map(entriesOf('10 tens, 100 hundreds, 1000 thousands, 10000 tens of thousands'));

const RANGES: readonly Rule[] = [
  [
    /(?<=\d\s?[ap]\.?m\.?)\s?-\s?(?=\d|(?:noon|midnight)\b)|(?<=\b(?:noon|midnight))\s?-\s?(?=\d)|(?<=\d)\s?-\s?(?=\d{1,2}(?::\d\d)?\s?[ap]\.?m\b)/giu,
    ' to ',
  ],
  [/(?<=\d(?:st|nd|rd|th))-(?=\d{1,4}(?:st|nd|rd|th)\b)|(?<=\d)-(?=\d{1,3},\d{3}(?!\d))/gu, ' to '],
  [/(?<=(?<![\d/])\d{1,2}\/\d{1,2})-(?=\d{1,2}(?:\/\d{1,2})?(?![\d/]))/gu, ' to '],
  [/(?<![\w.,])(1,?0{1,4}|10,000)s(?= of\s)/gu, (all, number) => MANY.get(number.replace(',', '')) ?? all],
  // Ranges of whole numbers are read correctly by the voice.
  [/(?<=\d\.\d{1,9}(?:[%kKM]|\s?°[CF]?)?|\d[%kKMB°])-(?=\d)/gu, ' to '],
  [/(?<![\w.,/-])(\d{1,3})-(?=\d{1,2}\/\d{1,2}(?![\w/]))/gu, '$1 '],
  // "1/4-inch": before a hyphen, the voice would say the slash.
  [/(?<=(?<![\w.,/-])\d{1,2}\/\d{1,2})-(?=[a-z])/gu, ' '],
  // The voice would drop the point of a decimal before letters or a slash.
  [/(?<=\d\.\d{1,9})\/(?=(?:5|10|20|100)(?![\w.,]))/gu, ' out of '],
  [/(?<=\d\.\d{1,9})\/(?=\d)|(?<![\d/]\d{0,9})(?<=\d)\/(?=\d{1,9}\.\d)/gu, ' over '],
  [pattern`(?<![\w.,])(${NUMBER})x(?!\w|\s?[-+*/=<>^])`, (_, number) => counted(number, 'time', 'times')],
  [/(?<=\d\s?[a-zA-Z]{0,2})\s[x×]\s(?=\d)|(?<=[1-9]\d{0,5})x(?=\d)/gu, ' by '],
];

/** Feet and minutes share a sign: after feet, less than twelve inches follow. */
const LENGTHS: readonly Rule[] = [
  [
    /(?<=°\s?)(\d{1,2})'\s?(?:(\d{1,2}(?:\.\d{1,9})?)")?\s?([NSEW]\b)?/gu,
    (_, minutes, seconds, side) =>
      ` ${minutes} minutes${seconds ? ` ${seconds} seconds` : ''}${side ? ` ${SIDES.get(side)}` : ''}`,
  ],
  [/(?<![\w.,'"])(\d{1,2})\s?(?:'|ft\.?)\s?((?:1[01]|\d)(?:\.\d)?)\s?(?:"|''|in\b\.?)/gu, '$1 foot $2'],
  [/(?<![\w.,'"])(\d{1,2})'(1[01]|\d)(?![\d'"]|[.,]\d)/gu, '$1 foot $2'],
  [/(?<![\w.,])(\d{1,3})'(\d\d)"(?!\w)/gu, '$1 minutes $2 seconds'],
  [
    pattern`(?<!(?:^|[\s(])"[^"]{0,200})(?<![\w.,])(${FRACTION}|\d{1,4}(?:\.\d{1,4})?)"(?![\w"])`,
    (_, inches) => counted(inches, 'inch', 'inches'),
  ],
  [/(?<!(?:^|[\s(])'[^']{0,200}|[\w.,])(\d{1,4})'(?=\s(?:tall|high|long|wide|deep|by|x)\b|$)/gu, '$1 feet'],
  [/°\s?C\b|℃/gu, '°C'],
  [/(?<![\d.,])1\s?°C?(?![\p{L}])/gu, (one) => `1 degree${one.endsWith('C') ? ' Celsius' : ''}`],
  // "m" means minutes next to hours or seconds.
  [
    /(?<![\w.,])(\d{1,3})h\s?(\d{1,2})m?(?:in)?(?!\w)/gu,
    (_, hours, minutes) => `${counted(hours, 'hour', 'hours')} ${counted(minutes, 'minute', 'minutes')}`,
  ],
  [
    /(?<![\w.,])(\d{1,3})m\s?(\d{1,2}(?:\.\d{1,3})?)s(?!\w)/gu,
    (_, minutes, seconds) =>
      `${counted(minutes, 'minute', 'minutes')} ${counted(seconds, 'second', 'seconds')}`,
  ],
  [/(?<=hours? )(\d{1,2})m(?!\w)/gu, '$1 minutes'],
  [/(?<![\w.,])(\d{1,3})m(?= (?:ago|later|timeout|delay)\b)/gu, '$1 minutes'],
];
const SIDES = new Map(entriesOf('N north, S south, E east, W west'));

function counted(number: string, one: string, many: string): string {
  return `${number} ${isSingular(number) ? one : many}`;
}

/** Lookarounds for the end of the left operand and the start of the right one. */
const LEFT = String.raw`(?<=[\w)\]%°"'+]\s?)`;
const RIGHT = String.raw`(?=\s?[\w($.-])`;
/** Operands: numbers, and single letters, which are variables. */
const OPERAND = String.raw`(?:\d|(?<![\w'])[a-zA-Z]|\))`;
const NEXT = String.raw`(?:-?[\d(]|[a-zA-Z](?![\w']))`;

const EXPRESSIONS: readonly Rule[] = [
  [/(?<=\d)\s?(?:[·⋅×])\s?(?=\d)/gu, ' times '],
  [/\+\/?-(?=\s?\d)/gu, ' plus or minus '],
  [pattern`${LEFT}(?:!==?|≠|=/=)${RIGHT}`, ' is not equal to '],
  [pattern`${LEFT}(?:<=|≤|⩽)(?![=>])${RIGHT}`, ' is at most '],
  [pattern`${LEFT}(?:>=|≥|⩾)${RIGHT}`, ' is at least '],
  [/(?:<=|≤|⩽)(?=\s?[\d.$-])/gu, ' at most '],
  [/(?:>=|≥|⩾)(?=\s?[\d.$-])/gu, ' at least '],
  [/(?<=[\w)]\s)(?:-{1,2}>|=>)(?=\s[\w(])/gu, ' to '],
  [/(?<=[\w)\]]\s?)===?(?=\s?[\w("'-])/gu, ' equals '],
  [/(?<=\w\s?)([-+*/])=(?=\s?[\w(])/gu, (_, sign) => ` ${ASSIGNED.get(sign)} equals `],
  // Without an operand before it, ">" or "<" may be a quote mark or part of a tag.
  [
    new RegExp(
      `(?<=(?:${OPERAND}|\\d\\s?[\\p{L}/%°]{1,12})\\s?)(?<!</?[a-z][a-z\\d]{0,9})>\\s?(?=-?\\d)`,
      'giu',
    ),
    ' is greater than ',
  ],
  [new RegExp(`(?<=(?:${OPERAND}|\\d\\s?[\\p{L}/%°]{1,12})\\s?)<\\s?(?=-?\\d)`, 'giu'), ' is less than '],
  [pattern`(?<=(?:${OPERAND})\s)>(?=\s${NEXT})`, ' is greater than '],
  [pattern`(?<=(?:${OPERAND})\s)<(?=\s${NEXT})`, ' is less than '],
  [/(?<=^|[\s(])<\s?(?=[$.]?\d)/gu, ' less than '],
  [/(?<=[^\s>]\s|\()>(?=[$.]?\d)/gu, ' more than '],
  [/(?<=^|[\s(])~\s?(?=[$.]?\d)/gu, ' about '],
  [pattern`(?<=${OPERAND})(?:\*\*|\^)\(?(-?[\w.]{1,9})\)?`, (_, power) => powerOf(power)],
  [pattern`(?<=${OPERAND}\s?)\*(?=\s?${NEXT})`, ' times '],
  [pattern`(?<=[\d%]\s?|${OPERAND}\s)\+(?=\s?[\d.]|\s${NEXT})`, ' plus '],
  [/(?<=[\w)]\s)\+(?=\s[\w($])/gu, ' plus '],
  [/(?<=\d)\s?\/\s?(?=\d{1,9}\s?=)|(?<=\d)\s\/\s(?=\d)/gu, ' divided by '],
  [pattern`(?<=${OPERAND})\s?-\s?(?=${NEXT}\w{0,9}(?:\.\d{1,9})?\s?(?:=|equals))`, ' minus '],
  [
    /(?<![\w.,-])(\d{1,9}) - (\d{1,9})(?![\w,-]|\.\d)/gu,
    (_, from, to) => `${from} ${Number(from) < Number(to) ? 'to' : 'minus'} ${to}`,
  ],
  [/(?<=[\w)]\s)-(?=\s[a-z]\s?=)/gu, ' minus '],
  [
    /(?<![\w.,/-])(\d{1,2})-(\d{1,2})(?![\w/-]|[.,]\d)/gu,
    (all, from, to) => (Number(from) > Number(to) ? `${from} to ${to}` : all),
  ],
  [/(?<=^|[\s(])-(?=\.\d)/gu, ' minus 0'],
  [/(?<=^|[\s(])-(?=\d{1,9}\/\d)/gu, ' minus '],
  [/(?<![\w&])#(?=\d{1,9}(?!\w))/gu, 'number '],
  [/(?<!\w)([A-GJ])#(?![\w#])/gu, '$1 sharp'],
  // Names in program code: "snake_case".
  [/(?<=\w)_{1,3}(?=\w)|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)/gu, ' '],
];
const ASSIGNED = new Map(entriesOf('+ plus, - minus, * times, / divided by'));

const YEAR = String.raw`(?:1[1-9]|20)\d\d`;
const MONTH = MONTHS.join('|');
const BEFORE_YEAR = [
  ...'in by since from until till before after circa born died flourished reigned year years early late mid'.split(
    ' ',
  ),
  `(?:year|spring|summer|autumn|fall|winter|beginning|end|${MONTH}) of`,
]
  .map((words) => words.replace(/^\w/u, (first) => `[${first.toUpperCase()}${first}]`))
  .join('|');
const AFTER_YEAR =
  'AD|CE|BCE?|and|or|to|but|when|while|as|at|by|for|from|in|on|that|which|who|until|after|before|with|the|an?|he|she|it|they|we|I|his|her|its|their|there|this|was|were|is|had|has|did|would|could';
/** A year before 1800, known by the words around it: the voice would say a quantity. */
const OLD_YEAR = pattern`(?<=\(|\(1[0-7]\d\d to |(?:(?<!\d )\b(?:${BEFORE_YEAR}|AD)|\b(?:${MONTH})(?: \d{1,2}(?:st|nd|rd|th)?)?,?)[\s-])(?!1000)1[0-7]\d\d(?=["')]*(?:[;:!?)]|[.,](?!\d)|\s*$)|\s(?:(?:${AFTER_YEAR})\b|\p{Lu}\p{Ll}))`;

/** A number in a list; groups of four digits, telephone numbers and days of a month are excluded. */
const LISTED = String.raw`(?<![\w.,:/+-]|\d |${MONTHS.join(' |')} )(?:[1-9]\d{0,2}-)?(?:[1-9]\d{1,2}|[1-9]\d{4,8})`;

/** Long quantities: they end in zeros or a noun follows, unlike order numbers, postcodes and telephone numbers. */
const LONG =
  /(?<![\w.,:/#+-]|\d |[A-Z]{2} )(?:[1-9]\d{2,6}00|[1-9]\d{0,5}0{6}|[1-9]\d{4,8}(?= (?:people|[a-z]{3,20}s)\b))(?!\w|[.,]\d|-\d| \d)/gu;

/** Before another number ("10, 20"), the voice would say digits one by one. An inaudible dash separates them. */
const LISTS: readonly Rule[] = [
  [
    pattern`(?<![\w.,:/$-])${YEAR}(?:(?:,|,? (?:and|or|to|until|through)) ${YEAR}(?![\w/-]|[.,:]\d))+`,
    (years) => years.replace(/\d{4}/gu, yearInWords),
  ],
  [
    pattern`(?<![\w.,:/$-])(${YEAR})(?:-| to )(\d\d)(?![\w/-]|[.,:]\d)`,
    (all, year = '', end = '') => (end > year.slice(2) ? `${yearInWords(year)} to ${end}` : all),
  ],
  [
    pattern`(?<=\()(${YEAR})-(${YEAR})(?=\))`,
    (_, from = '', to = '') => `${yearInWords(from)} to ${yearInWords(to)}`,
  ],
  [OLD_YEAR, yearInWords],
  [
    /(?<![\w.,$])(?!1000)(1[0-7]\d0)'?s(?!\w)/gu,
    (_, decade = '') =>
      `${yearInWords(decade)
        .replace(/(\d)$/u, '$1s')
        .replace(/hundred$/u, 'hundreds')}`,
  ],
  // "9/11" is a date: the voice would say an unusual fraction.
  [/(?<![\w.,/-])([2-9]|1[0-2])\/(1[1345789]|2[1-9]|3[01])(?![\w/-]|[.,]\d)/gu, '$1 - $2'],
  [LONG, joined],
  [/(?<![\w.,])\d{10,20}(?!\w|[.,]\d)/gu, (digits) => [...digits].join(' ')],
  // The voice does not recognise a number directly before a sign.
  [/(?<=\d,\d{3}(?:\.\d{1,9})?)(?=[+*/=])/gu, ' '],
  [
    pattern`(?<=${LISTED}[,;:]) (?=\d)|(?<=${LISTED}) (?=\(\d)|(?<=(?<![\w.,:/+-]|\d )\d) (?=\(\d{4}\))`,
    ' - ',
  ],
];

/** The first two digits of years in words, from 10. */
const CENTURIES =
  'ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty'.split(
    ', ',
  );

function yearInWords(year: string): string {
  const rest = Number(year.slice(2));
  if (year.startsWith('200')) return rest === 0 ? year : `two thousand ${rest}`;
  const words = rest === 0 ? 'hundred' : rest < 10 ? `oh ${rest}` : String(rest);
  return `${CENTURIES[Number(year.slice(0, 2)) - 10]} ${words}`;
}

function powerOf(power: string): string {
  if (power === '2') return ' squared ';
  if (power === '3') return ' cubed ';
  return ` to the power of ${power.replace('-', 'minus ')} `;
}
