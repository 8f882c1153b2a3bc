import type { Style } from './engine.ts';

/**
 * The words that `instructions` understand. To add a word, add it to a row.
 * `{much}` is an optional word of degree, `{number}` a number, `{digits}` a number in digits, `{not}` a negation; the rest is
 * a regular expression for whole words, in any case. Rows are tried in order, and each consumes what it understands.
 * A negation before a leading `{much}` is a degree: "not loud" is a bit quieter. Other negated words change nothing.
 */
interface WordRow {
  readonly changes: keyof Style;
  readonly says: readonly string[];
  /** This factor has the degree as its power. */
  readonly by?: number;
  /** "Twice as fast", "twice as slow", "20 % faster", "20 % slower". */
  readonly measure?: 'times' | 'divided' | 'more' | 'less';
}

/** "Why not slower?" and "Can't you speak up?" are wishes. */
const NOT = [
  "(?<!why )(?!(?:ca|could|wo|would)n't you)[a-z]+n't",
  '(?<!why )(?:do |does |must |need |may |try )?not',
  'dont|cannot|never|no|nor|neither',
].join('|');

/** "Don't stop shouting" is a wish. */
const NEGATIVE = [
  NOT,
  `(?<!(?:${NOT}) )(?:without|avoid(?:ing)?|stop|quit|refrain from)`,
  'hardly|barely|instead of|rather than|anything but|far from',
].join('|');

/** These words may stand between a negation and what it negates. */
const AMONG = [
  'a|all|an|any|as|at|be|being|bit|circumstances|ever|even|extremely|get|getting|go|going|have|having|in|it|like|little|lot',
  'make|making|me|means|more|much|my|need|quite|rather|read|reading|really|slightly|so|somewhat|sound|sounding|speak',
  'speaking|talk|talking|that|the|to|too|touch|use|using|very|want|way|with|you|your',
  'for|of|keep|keeping|kind|let|start|starting|such|super|supposed|awfully|especially|exactly|excessively|incredibly',
  'overly|particularly|terribly|unnecessarily',
].join('|');

/** "Not loud enough" asks for more. */
const NEGATION = `(?:${NEGATIVE})(?! (?:[\\w']+ ){1,3}enough)(?: (?:${AMONG}))*`;

/** Carries a negation on, as in "don't shout or whisper". */
const CARRIED = `(?:${NEGATIVE})(?: (?!and |but |then )[\\w']+){1,4},? or(?: (?:${AMONG}))* $`;

/** Each degree is the power of a row's factor: "very slowly" counts twice. */
export const DEGREES: Readonly<Record<string, number>> = {
  'a tiny bit': 0.25,
  'a little bit': 0.5,
  'a bit': 0.5,
  'a little': 0.5,
  'a touch': 0.5,
  slightly: 0.5,
  somewhat: 0.5,
  rather: 1,
  quite: 1,
  more: 1,
  so: 1,
  'a lot': 2,
  much: 2,
  very: 2,
  really: 2,
  far: 2,
  extremely: 3,
};

const DENIED = -0.5;

/** The word before does not count in "slow down, too". */
const OPPOSITES: Readonly<Record<string, number>> = {
  [`${NEGATION} less`]: 0.5,
  [NEGATION]: DENIED,
  less: -1,
  too: -0.5,
};

/** Besides `0.8`, `1.5x`, `80%`, `1/2` and `1½`. */
const NUMBERS: Readonly<Record<string, number>> = {
  'one and a half': 1.5,
  'three quarters': 0.75,
  'two thirds': 2 / 3,
  '(?:a|one) quarter': 0.25,
  '(?:a|one) third': 1 / 3,
  '(?:a|one) half': 0.5,
  quarter: 0.25,
  half: 0.5,
  twice: 2,
  double: 2,
  two: 2,
  triple: 3,
  three: 3,
  four: 4,
};

const SPEED = '(?:speed|rate|pace|tempo)';
const FAST = '(?:fast|quick|quickly|rapidly)';
const SLOW = '(?:slow|slowly)';
const PAUSES = '(?:pauses?|breaks?|gaps?|silences?)';
const BETWEEN = '(?: (?:between|after) (?:the |each |every )?sentences?)?';
const NORMAL = '(?:of )?(?:the )?(?:normal |usual )?';

const ROWS: readonly WordRow[] = [
  {
    changes: 'pause',
    says: [`(?:${PAUSES} )?{number} as long(?: ${PAUSES})?${BETWEEN}`, `{number} the ${PAUSES}${BETWEEN}`],
    measure: 'times',
  },
  {
    changes: 'pause',
    says: [`{number} longer ${PAUSES}${BETWEEN}`, `pause {number} longer${BETWEEN}`],
    measure: 'more',
  },
  {
    changes: 'pause',
    says: [`{number} shorter ${PAUSES}${BETWEEN}`, `pause {number} shorter${BETWEEN}`],
    measure: 'less',
  },
  {
    changes: 'pause',
    says: [
      `{much} (?:longer|long|more|bigger|extra) ${PAUSES}${BETWEEN}`,
      `(?:paus(?:e|ing)|wait(?:ing)?) {much} (?:longer|more|long)${BETWEEN}`,
      `(?:mak(?:e|ing) )?${PAUSES}${BETWEEN} {much} longer`,
    ],
    by: 2,
  },
  {
    changes: 'pause',
    says: [
      `{much} (?:shorter|short|fewer|less|smaller) ${PAUSES}${BETWEEN}`,
      `paus(?:e|ing) {much} (?:shorter|less)${BETWEEN}`,
      `(?:mak(?:e|ing) )?${PAUSES}${BETWEEN} {much} shorter`,
    ],
    by: 0.5,
  },
  { changes: 'pause', says: [`{not} (?:${PAUSES}|pausing)${BETWEEN}`], by: 0 },
  { changes: 'pause', says: ['paus(?:e|ing) (?:between|after) (?:the |each |every )?sentences?'], by: 2 },

  { changes: 'rate', says: [`{number} as ${SLOW}`], measure: 'divided' },
  {
    changes: 'rate',
    says: [`{number} (?:as ${FAST}|${NORMAL}${SPEED})`, `${SPEED} (?:of |to |at )?{number}`],
    measure: 'times',
  },
  {
    changes: 'rate',
    says: ['{number} (?:faster|quicker)', '(?:faster|quicker) by {number}'],
    measure: 'more',
  },
  { changes: 'rate', says: ['{number} slower', 'slower by {number}'], measure: 'less' },
  {
    changes: 'pitch',
    says: [`{number} (?:as high|${NORMAL}pitch)`, 'pitch (?:of |to |at )?{number}'],
    measure: 'times',
  },
  { changes: 'pitch', says: ['{number} higher', 'higher by {number}'], measure: 'more' },
  { changes: 'pitch', says: ['{number} (?:deeper|lower)', '(?:deeper|lower) by {number}'], measure: 'less' },
  {
    changes: 'loudness',
    says: [`{number} (?:as loud(?:ly)?|${NORMAL}volume)`, 'volume (?:of |to |at )?{number}'],
    measure: 'times',
  },
  { changes: 'loudness', says: ['{number} louder', 'louder by {number}'], measure: 'more' },
  {
    changes: 'loudness',
    says: ['{number} (?:quieter|softer)', '(?:quieter|softer) by {number}'],
    measure: 'less',
  },
  { changes: 'rate', says: ['(?<number>{digits}x)'], measure: 'times' },

  {
    changes: 'rate',
    says: [
      'slow(?:ed|ing)? down {much}',
      `{much} (?:slow(?:ly|er)?|unhurried(?:ly)?|leisurely)(?: ${SPEED})?`,
      `{much} (?:low|lower|reduced) ${SPEED}`,
    ],
    by: 0.8,
  },
  {
    changes: 'rate',
    says: [
      `{much} (?:fast(?:er)?|quick(?:ly|er)?|rapid(?:ly)?|swift(?:ly)?|brisk(?:ly)?|hurried(?:ly)?)(?: ${SPEED})?`,
      'speed(?:ed|ing)? up {much}',
      'hurry(?:ing)?(?: up)?',
      'rush(?:ing|ed)?',
      `{much} (?:high|higher|increased) ${SPEED}`,
    ],
    by: 1.25,
  },
  {
    changes: 'loudness',
    says: ['(?:less|too much) (?:shouting|whispering)', '(?:shout|whisper) less'],
    by: 1,
  },
  { changes: 'loudness', says: ['whisper(?:ing|ed|s)?'], by: 0.3 },
  {
    changes: 'loudness',
    says: [
      '{much} (?:loud(?:ly|er)?|(?:high|higher|full) volume)',
      'shout(?:ing|ed)?',
      'speak(?:ing)? up',
      'turn(?:ed|ing)?(?: it| the volume)? up',
      'rais(?:e|ed|ing) (?:the volume|(?:the|your) voice)',
    ],
    by: 1.5,
  },
  {
    changes: 'loudness',
    says: [
      '{much} (?:soft(?:ly|er)?|quiet(?:ly|er)?|gentl(?:e|y|er)|(?:low|lower|reduced) volume|hushed)',
      'turn(?:ed|ing)?(?: it| the volume)? down',
      'lower(?:ed|ing)? (?:the volume|(?:the|your) voice)',
    ],
    by: 0.5,
  },
  {
    changes: 'pitch',
    says: ['{much} (?:deep(?:ly|er)?|low(?:er)?(?:[- ]pitch(?:ed)?)?)(?: (?:voice|tone))?'],
    by: 0.8,
  },
  {
    changes: 'pitch',
    says: ['{much} (?:high(?:er)?(?:[- ]pitch(?:ed)?)?|shrill|squeaky)(?: (?:voice|tone))?'],
    by: 1.25,
  },
];

const FILLERS: ReadonlySet<string> = new Set(
  [
    'a all also an and as at be but by could for i in is it kindly me my of or please should so that the then this to',
    'with would you your aloud everything keep make normal normally pace pitch pitched',
    'possible rate read reading say sentence sentences sound speak speaking speech speed spoken talk talking text than',
    'times tone use using usual voice volume want words',
  ].flatMap((line) => line.split(' ')),
);

const LIMITS: Readonly<Record<keyof Style, readonly [least: number, most: number]>> = {
  rate: [0.25, 4],
  pitch: [0.5, 2],
  loudness: [0.1, 2],
  pause: [0, 5],
};

/** UTF-16 units: parsing blocks other requests. */
const MOST_READ = 10_000;

/** The rest keeps its offset. */
const UNDERSTOOD = '\n';

interface Phrase {
  readonly words: string;
  readonly at: number;
}

interface Measured extends Phrase {
  readonly changes: keyof Style;
}

/** @returns the style, and the phrases without effect */
export function readInstructions(text: string): { style: Style; ignored: string[] } {
  const wanted = { rate: 1, pitch: 1, loudness: 1, pause: 1 };
  const measured: Measured[] = [];
  const whole = plain(text.slice(0, MOST_READ));
  let rest = whole;
  for (const { row, patterns } of readers()) {
    for (const pattern of patterns) {
      rest = rest.replace(pattern, (words: string, ...match) => {
        const at: number = match.at(-3);
        wanted[row.changes] *= factor(row, match.at(-1), isDeniedAt(whole, at));
        if (row.measure) measured.push({ words, at, changes: row.changes });
        return UNDERSTOOD.repeat(words.length);
      });
    }
  }
  const beyond = measured.filter(({ changes }) => wanted[changes] !== limited(changes, wanted[changes]));
  const ignored = [...phrases(rest), ...beyond].sort((one, other) => one.at - other.at);
  const unread = text.slice(MOST_READ).trim();
  return {
    style: rounded(wanted),
    ignored: [...ignored.map(({ words }) => words), ...(unread ? [unread] : [])],
  };
}

/** One line, `1½` as `1 1⁄2`. */
function plain(text: string): string {
  const apart = text.replace(/(?<=\d)(?=[¼-¾⅐-⅞])/gu, ' ');
  return apart.normalize('NFKC').replaceAll('’', "'").replace(/\s+/gu, ' ');
}

function phrases(rest: string): Phrase[] {
  const parts = rest.matchAll(/(?:[^\n,;:!?.]|\.(?=\d))+/gu);
  return Array.from(parts, ({ 0: part, index }) => ({ words: withoutFillers(part), at: index })).filter(
    ({ words }) => words,
  );
}

function factor({ by = 1, measure }: WordRow, groups: Caught | string, isDenied: boolean): number {
  if (typeof groups === 'string') return by;
  const { much, number, not } = groups;
  if (not !== undefined || (isDenied && 'not' in groups)) return 1;
  if (measure === undefined) return by ** (isDenied ? Math.min(degree(much), DENIED) : degree(much));
  return measuredFactor(measure, number ?? '1');
}

function measuredFactor(measure: NonNullable<WordRow['measure']>, number: string): number {
  const value = numberOf(number);
  if (measure === 'times') return value;
  // "Three times faster" means "three times as fast", and "100% faster" twice as fast.
  const isShare = value < 1 || PERCENT.test(number);
  if (measure === 'divided' || (measure === 'less' && !isShare)) return 1 / value;
  if (measure === 'less') return Math.max(0, 1 - value);
  return isShare ? 1 + value : value;
}

function degree(words: string | undefined): number {
  if (words === undefined) return 1;
  return entryOf(OPPOSITES, words) ?? entryOf(DEGREES, words) ?? 1;
}

const PERCENT = /%|percent/iu;

/** 0.01 to 100: no product overflows. */
function numberOf(words: string): number {
  const value = entryOf(NUMBERS, words) ?? digitsOf(words) / (PERCENT.test(words) ? 100 : 1);
  return Math.max(0.01, Math.min(100, value));
}

function digitsOf(words: string): number {
  const fraction = /^(?:(\d+) )?(\d+)[/⁄](\d+)/u.exec(words);
  if (!fraction) return Number.parseFloat(words);
  const [whole, above, below] = fraction.slice(1).map((digits) => Number(digits ?? 0));
  return (whole ?? 0) + (above ?? 0) / (below ?? 1);
}

function entryOf(table: Readonly<Record<string, number>>, words: string): number | undefined {
  return Object.entries(table).find(([key]) => new RegExp(`^(?:${key})$`, 'iu').test(words))?.[1];
}

function limited(key: keyof Style, value: number): number {
  const [least, most] = LIMITS[key];
  return Math.max(least, Math.min(most, value));
}

function rounded(wanted: Style): Style {
  const within = (key: keyof Style) => Math.round(limited(key, wanted[key]) * 1000) / 1000;
  return {
    rate: within('rate'),
    pitch: within('pitch'),
    loudness: within('loudness'),
    pause: within('pause'),
  };
}

function withoutFillers(phrase: string): string {
  const words = phrase.split(' ').filter(Boolean);
  const says = (word: string) => !FILLERS.has(word.toLowerCase());
  const first = words.findIndex(says);
  return first < 0 ? '' : words.slice(first, words.findLastIndex(says) + 1).join(' ');
}

interface Caught {
  readonly much?: string | undefined;
  readonly number?: string | undefined;
  readonly not?: string | undefined;
}

/** `0.8`, `1/2` or `1 1/2`; no part of `0,8`, `-1` or `1/0.5`. */
const DIGITS = String.raw`(?<!\d,|[-/⁄])(?:(?:\d+ )?\d+[/⁄][1-9]\d*|\d*\.\d+|\d+)(?![/⁄]\d)`;
const NUMBER = `(?<number>${DIGITS}(?: ?%| percent\\b|x\\b)?|${alternatives(NUMBERS)})(?: times\\b)?`;

interface Reader {
  readonly row: WordRow;
  readonly patterns: readonly RegExp[];
}

let made: readonly Reader[] | undefined;

/** The patterns take 10 ms. */
export function readers(): readonly Reader[] {
  made ??= ROWS.map((row) => ({ row, patterns: row.says.map(pattern) }));
  return made;
}

function pattern(template: string): RegExp {
  const isPlain = !template.startsWith('{much} ') && !template.startsWith('{not} ');
  const source = template
    .replace(/ \{much\}$/u, `(?: (?<much>${alternatives(DEGREES)}))?`)
    .replace('{much} ', `(?:(?<much>${alternatives({ ...OPPOSITES, ...DEGREES })}) (?:more )?)?`)
    .replace('{not}', NEGATION)
    .replace('{number}', NUMBER)
    .replace('{digits}', DIGITS);
  const whole = isPlain ? `(?:(?<not>${NEGATION}) )?(?:${source})` : source;
  return new RegExp(String.raw`(?<![\w.'])(?:${whole})(?![\w'])`, 'giu');
}

function alternatives(words: Readonly<Record<string, number>>): string {
  return Object.keys(words).join('|');
}

const BEFORE = new RegExp(`(?<![\\w'])${CARRIED}`, 'iu');

/** UTF-16 units. */
const NEAR = 80;

function isDeniedAt(text: string, at: number): boolean {
  return BEFORE.test(text.slice(Math.max(0, at - NEAR), at));
}

const PLAIN_STYLE: Style = { rate: 1, pitch: 1, loudness: 1, pause: 1 };

export interface StyleWish {
  readonly style: Style;
  /** The phrases that have no effect. */
  readonly ignored: readonly string[];
}

/** The reader of instructions loads only where there are some. */
export async function styleOf(instructions = ''): Promise<StyleWish> {
  if (instructions === '') return { style: PLAIN_STYLE, ignored: [] };
  return readInstructions(instructions);
}
