/** Units of measure in English words. */

/** Names that have no plural in "s". */
const PLURALS: ReadonlyMap<string, string> = new Map([
  ['foot', 'feet'],
  ['inch', 'inches'],
  ['hertz', 'hertz'],
  ['kilohertz', 'kilohertz'],
  ['megahertz', 'megahertz'],
  ['gigahertz', 'gigahertz'],
  ['terahertz', 'terahertz'],
  ['lux', 'lux'],
]);

/** Signs with the same name differ in nothing that is heard. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    kilometer: 'km',
    meter: 'm',
    centimeter: 'cm',
    millimeter: 'mm',
    micrometer: 'µm',
    nanometer: 'nm',
    mile: 'mi',
    yard: 'yd yds',
    foot: 'ft',
    inch: 'in',
    hectare: 'ha',
    kilogram: 'kg',
    gram: 'g',
    milligram: 'mg',
    microgram: 'µg mcg',
    // Not "tonne", which sounds as "ton" does.
    'metric ton': 't',
    pound: 'lb lbs',
    ounce: 'oz',
    'fluid ounce': 'fl_oz',
    gallon: 'gal',
    tablespoon: 'tbsp',
    teaspoon: 'tsp',
    liter: 'l L',
    deciliter: 'dl dL',
    centiliter: 'cl cL',
    milliliter: 'ml mL',
    microliter: 'µl µL',
    day: 'd',
    hour: 'h hr hrs',
    minute: 'min mins',
    second: 's sec secs',
    millisecond: 'ms',
    microsecond: 'µs',
    nanosecond: 'ns',
    hertz: 'Hz',
    kilohertz: 'kHz',
    megahertz: 'MHz',
    gigahertz: 'GHz',
    terahertz: 'THz',
    kilobyte: 'KB kB',
    megabyte: 'MB',
    gigabyte: 'GB',
    terabyte: 'TB',
    petabyte: 'PB',
    kibibyte: 'KiB',
    mebibyte: 'MiB',
    gibibyte: 'GiB',
    tebibyte: 'TiB',
    kilobit: 'kb Kb kbit Kbit',
    megabit: 'Mb Mbit',
    gigabit: 'Gb Gbit',
    'kilobit per second': 'kbps Kbps',
    'megabit per second': 'Mbps',
    'gigabit per second': 'Gbps',
    volt: 'V',
    millivolt: 'mV',
    kilovolt: 'kV',
    amp: 'A',
    milliamp: 'mA',
    microamp: 'µA',
    'amp hour': 'Ah',
    'milliamp hour': 'mAh',
    watt: 'W',
    milliwatt: 'mW',
    kilowatt: 'kW',
    megawatt: 'MW',
    gigawatt: 'GW',
    'watt hour': 'Wh',
    'kilowatt hour': 'kWh',
    'megawatt hour': 'MWh',
    'gigawatt hour': 'GWh',
    kilojoule: 'kJ',
    megajoule: 'MJ',
    calorie: 'cal',
    kilocalorie: 'kcal',
    electronvolt: 'eV',
    kilonewton: 'kN',
    pascal: 'Pa',
    hectopascal: 'hPa',
    kilopascal: 'kPa',
    megapascal: 'MPa',
    'pound per square inch': 'psi',
    'millimeter of mercury': 'mmHg',
    ohm: 'Ω',
    kiloohm: 'kΩ',
    megaohm: 'MΩ',
    decibel: 'dB',
    lumen: 'lm',
    lux: 'lx',
    mole: 'mol',
    millimole: 'mmol',
    pixel: 'px',
    point: 'pt',
    megapixel: 'MP',
    'mile per hour': 'mph',
    'kilometer per hour': 'kph kmh',
    'revolution per minute': 'rpm',
    'beat per minute': 'bpm',
    'frame per second': 'fps',
    'part per million': 'ppm',
    'part per billion': 'ppb',
  }).flatMap(([name, signs]) =>
    signs.split(' ').map((sign): [string, string] => [sign.replace('_', ' '), name]),
  ),
);

/** What is counted for each of something, and is no sign of a unit. */
const WORDS_AFTER_PER = /^(?:[a-z]{3,20}|yr|wk|mo)$/u;
const SHORT_WORDS: ReadonlyMap<string, string> = new Map([
  ['yr', 'year'],
  ['wk', 'week'],
  ['mo', 'month'],
]);

/** Words in front of the number of a place or a thing: "Seat 5 V" is no measure. */
export const BEFORE_NAME =
  /\b(?:apartment|apt\.?|block|building|chapter|class|exhibit|figure|fig\.?|flat|form|gate|grade|highway|hall|house|item|model|page|part|platform|room|route|row|seat|section|size|suite|table|terminal|track|type|unit|version)\s$/iu;

const SIGNS = [...NAMES.keys()].sort((one, other) => other.length - one.length).join('|');
const POWER = String.raw`(?:[²³]|\^?[23](?!\d))`;
export const NUMBER = String.raw`(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?`;
/** Here a number begins, and not in the middle of one. */
export const START = String.raw`(?<![\w.]|\d,)`;

const QUANTITY = new RegExp(
  String.raw`${START}(?<number>${NUMBER}|\.\d+)(?<gap>[ \u00a0\u202f\u2009-]?)(?<square>sq\.? |cu\.? )?(?<sign>${SIGNS})(?<power>${POWER})?(?:/(?<per>100 ?km|[\p{L}µ]{1,20})(?<perPower>${POWER})?)?(?<point>\.(?=[\s,;)]|$))?(?![\p{L}\p{M}\d_/]|['’]\p{L})`,
  'gu',
);

/** "5 km/h": "5 kilometers per hour". The number stays in digits. */
export function unitsInEnglish(text: string): string {
  return text.replace(QUANTITY, (all: string, ...rest: unknown[]) => {
    const parts = rest.at(-1) as Parts;
    const at = rest.at(-3) as number;
    return isQuantity(parts, text.slice(Math.max(0, at - 20), at)) ? (quantity(parts) ?? all) : all;
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
  // Those are years: "the 1990s", "the 80s".
  if (sign === 's' && /0$/u.test(number) && (number.length === 4 || number.length === 2)) return gap !== '';
  return gap !== ' ' || point !== undefined || !['in', 'd'].includes(sign);
}

function quantity({ number, gap, square, sign, power, per, perPower, point }: Parts): string | undefined {
  const name = NAMES.get(sign);
  if (!name) return undefined;
  const after = per === undefined ? '' : perUnit(per, perPower);
  if (after === undefined) return undefined;
  const isSingle = number === '1' || gap === '-';
  const kind = square ?? power;
  const space = kind && (/^sq|[²2]$/u.test(kind.trim()) ? 'square ' : 'cubic ');
  // The point of an abbreviation ends a sentence at the end only.
  const end =
    point && !/^(?:in|ft|lbs?|oz|hrs?|mins?|secs?|yds?|mi|gal|tbsp|tsp|sq|cu)$/u.test(sign) ? '.' : '';
  return `${number} ${space ?? ''}${isSingle ? name : plural(name)}${after}${end}`;
}

function perUnit(per: string, power: string | undefined): string | undefined {
  if (/^100 ?km$/u.test(per)) return ' per 100 kilometers';
  const word = WORDS_AFTER_PER.test(per) ? (SHORT_WORDS.get(per) ?? per) : undefined;
  const name = NAMES.get(per) ?? word;
  if (name === undefined) return undefined;
  if (!power) return ` per ${name}`;
  return ` per ${/[²2]/u.test(power) ? 'square' : 'cubic'} ${name}`;
}

/** What is behind the slash of a price: "$5/kg". */
export function perInEnglish(per: string): string {
  return perUnit(per, undefined) ?? ` per ${per}`;
}

/** The first noun has the plural: "miles per hour"; or the last: "kilowatt hours". */
function plural(name: string): string {
  const [head = '', ...tail] = name.split(/(?= per | of )/u);
  return (PLURALS.get(head) ?? `${head}s`) + tail.join('');
}
