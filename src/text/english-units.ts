/** Writes units of measure in English words. */
import { entriesOf } from '../kit/words.ts';
import { pattern } from './unicode.ts';

const PREFIXES = new Map(
  entriesOf(
    'n nano, µ micro, m milli, c centi, d deci, h hecto, k kilo, K kilo, M mega, G giga, T tera, P peta',
  ),
);

/** Unit names with their signs and prefixes; a dash means the unit without a prefix. */
const PREFIXED = [
  ['meter', 'm', '- n µ m c k'],
  ['gram', 'g', '- µ m k'],
  ['liter', 'l L', '- µ m c d'],
  ['second', 's', '- n µ m'],
  ['hertz', 'Hz', '- k M G T'],
  ['byte', 'B', 'k K M G T P'],
  ['bit', 'b bit', 'k K M G'],
  ['bit per second', 'bps', 'k K M G'],
  ['volt', 'V', '- m k'],
  ['amp', 'A', '- µ m'],
  ['amp hour', 'Ah', '- m'],
  ['watt', 'W', '- m k M G'],
  ['watt hour', 'Wh', '- k M G'],
  ['joule', 'J', 'k M'],
  ['calorie', 'cal', '- k'],
  ['newton', 'N', 'k'],
  ['pascal', 'Pa', '- h k M'],
  ['ohm', 'Ω', '- k M'],
  ['mole', 'mol', '- m'],
] as const;

/** Unit names by sign. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ...PREFIXED.flatMap(([name, signs, prefixes]) =>
    prefixes
      .split(' ')
      .map((prefix) => (prefix === '-' ? '' : prefix))
      .flatMap((prefix) =>
        signs.split(' ').map((sign) => [prefix + sign, (PREFIXES.get(prefix) ?? '') + name] as const),
      ),
  ),
  // Not "tonne", which sounds like "ton".
  ...entriesOf(`
    t metric ton, mcg microgram, lb pound, lbs pound, oz ounce, gal gallon, tbsp tablespoon, tsp teaspoon,
    Tbsp tablespoon, Tsp teaspoon, tbs tablespoon, qt quart, qts quart,
    mi mile, yd yard, yds yard, ft foot, in inch, ha hectare, yr year, yrs year, mos month, wk week, wks week,
    d day, h hour, hr hour, hrs hour, min minute, mins minute, sec second, secs second, KiB kibibyte, MiB mebibyte, GiB gibibyte, TiB tebibyte,
    eV electronvolt, psi pound per square inch, mmHg millimeter of mercury, dB decibel, lm lumen, lx lux, px pixel,
    pt point, MP megapixel, mph mile per hour, kph kilometer per hour, kmh kilometer per hour,
    rpm revolution per minute, bpm beat per minute, fps frame per second, ppm part per million,
    ppb part per billion`),
  ['fl oz', 'fluid ounce'],
]);

/** Words after "per" or a slash that are not unit signs. */
const WORDS_AFTER_PER = /^(?:[a-z]{3,20}|yr|wk|mo)$/u;
const SHORT_WORDS: ReadonlyMap<string, string> = new Map(entriesOf('yr year, wk week, mo month'));

/** Words before the number of a place or a thing: "Seat 5 V" is not a measure. */
export const BEFORE_NAME =
  /\b(?:apartment|apt\.?|block|building|chapter|class|exhibit|figure|fig\.?|flat|form|gate|grade|highway|hall|house|item|model|page|part|platform|room|route|row|seat|section|size|suite|table|terminal|track|type|unit|version)\s$/iu;

const SIGNS = [...NAMES.keys()].sort((one, other) => other.length - one.length).join('|');
const POWER = String.raw`(?:[²³]|\^?[23](?!\d))`;
/** A fraction in one character, alone or behind a whole number: "½", "1½", "1 ½". */
export const FRACTION = String.raw`(?:\d{1,4} ?)?[¼-¾⅐-⅞]`;
export const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?`;
/** Lookbehind: a number begins here, not in the middle of one. */
export const START = String.raw`(?<![\w.]|\d,)`;

const QUANTITY = pattern`${START}(?<number>${FRACTION}|${NUMBER}|\.\d+)(?<gap>[ \u00a0\u202f\u2009-]?)(?<square>sq\.? |cu\.? )?(?<sign>${SIGNS})(?<power>${POWER})?(?:/(?<per>100 ?km|[\p{L}µ]{1,20})(?<perPower>${POWER})?)?(?<point>\.(?=[\s,;)]|$))?(?![\p{L}\p{M}\d_/]|['’]\p{L})(?<!-in(?=-\d))`;

/** "$2 per lb", "3/day". */
const PER = pattern`(?<=\sper )(?!(?:in|pt|d|A)\b)(?<square>sq\.? |cu\.? )?(?<sign>${SIGNS})(?![\p{L}\d/]|['’]\p{L})`;
const EACH =
  /(?<=\d\+?)\/(day|night|week|wk|month|mo|year|yr|hour|hr|minute|min|second|sec|person|user)(?!\w)/gu;

/** Writes "5 km/h" as "5 kilometers per hour". The number stays in digits. */
export function unitsInEnglish(text: string): string {
  const per = text
    .replace(EACH, (_, each: string) => perInEnglish(each))
    .replace(PER, (_, square: string | undefined, sign: string) => kindOf(square) + NAMES.get(sign));
  return per.replace(QUANTITY, (all: string, ...rest: unknown[]) => {
    const parts = rest.at(-1) as Parts;
    const at = rest.at(-3) as number;
    return isQuantity(parts, per.slice(Math.max(0, at - 20), at)) ? (quantity(parts) ?? all) : all;
  });
}

interface Parts {
  readonly number: string;
  readonly gap: string;
  readonly square?: string;
  readonly sign: string;
  readonly power?: string;
  readonly per?: string;
  readonly perPower?: string;
  readonly point?: string;
}

function isQuantity({ number, gap, square, sign, power, per, point }: Parts, before: string): boolean {
  if (power || per || square) return power === undefined || /^(?:.?m|ft|in|mi|yd)$/u.test(sign);
  if (sign === 'A') return number.includes('.');
  if (sign.length === 1 && BEFORE_NAME.test(before)) return false;
  // Decades, not seconds: "the 1990s", "the 80s".
  if (sign === 's' && /0$/u.test(number) && (number.length === 4 || number.length === 2)) return gap !== '';
  return gap !== ' ' || point !== undefined || !['in', 'd'].includes(sign);
}

function quantity({ number, gap, square, sign, power, per, perPower, point }: Parts): string | undefined {
  const name = NAMES.get(sign);
  if (!name) return undefined;
  const after = per === undefined ? '' : perUnit(per, perPower);
  if (after === undefined) return undefined;
  const isSingle = isSingular(number) || gap === '-';
  // A point after these units belongs to the abbreviation; after others, it ends the sentence.
  const end =
    point &&
    !/^(?:in|ft|lbs?|oz|yrs?|wks?|mos|hrs?|mins?|secs?|yds?|mi|gal|[Tt]b?sp?|qts?|sq|cu)$/u.test(sign)
      ? '.'
      : '';
  return `${number} ${kindOf(square ?? power)}${isSingle ? name : plural(name)}${after}${end}`;
}

/** "1 inch", "¾ inch". */
export function isSingular(number: string): boolean {
  return /^(?:1|\D)$/u.test(number);
}

/** @param kind the written mark of an area or a volume, such as "sq." or "³" */
function kindOf(kind: string | undefined): string {
  if (!kind) return '';
  return /^sq|[²2]$/u.test(kind.trim()) ? 'square ' : 'cubic ';
}

function perUnit(per: string, power: string | undefined): string | undefined {
  if (/^100 ?km$/u.test(per)) return ' per 100 kilometers';
  const word = WORDS_AFTER_PER.test(per) ? (SHORT_WORDS.get(per) ?? per) : undefined;
  const name = NAMES.get(per) ?? word;
  if (name === undefined) return undefined;
  if (!power) return ` per ${name}`;
  return ` per ${/[²2]/u.test(power) ? 'square' : 'cubic'} ${name}`;
}

/** Returns the words for a unit after a slash: "$5/kg". */
export function perInEnglish(per: string): string {
  return perUnit(per, undefined) ?? ` per ${per}`;
}

/** Puts the noun before "per" or "of" in the plural: "miles per hour", "kilowatt hours". */
function plural(name: string): string {
  const [head = '', ...tail] = name.split(/(?= per | of )/u);
  return pluralOf(head) + tail.join('');
}

function pluralOf(noun: string): string {
  if (/(?:hertz|lux)$/u.test(noun)) return noun;
  return noun === 'foot' ? 'feet' : noun === 'inch' ? 'inches' : `${noun}s`;
}
