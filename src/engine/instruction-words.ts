import type { Style } from './contract.ts';

/**
 * The words that `instructions` understand. To add a word, add it to a row.
 * `{much}` is an optional word of degree, `{number}` a number, `{digits}` a number in digits, `{not}` a negation; the rest is
 * a regular expression for whole words, in any case. Rows are tried in order, and each consumes what it understands.
 * A negation before a leading `{much}` is a degree: "not loud" is a bit quieter. Other negated words change nothing.
 */
export interface WordRow {
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
export const NEGATION = `(?:${NEGATIVE})(?! (?:[\\w']+ ){1,3}enough)(?: (?:${AMONG}))*`;

/** Carries a negation on, as in "don't shout or whisper". */
export const CARRIED = `(?:${NEGATIVE})(?: (?!and |but |then )[\\w']+){1,4},? or(?: (?:${AMONG}))* $`;

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

export const DENIED = -0.5;

/** The word before does not count in "slow down, too". */
export const OPPOSITES: Readonly<Record<string, number>> = {
  [`${NEGATION} less`]: 0.5,
  [NEGATION]: DENIED,
  less: -1,
  too: -0.5,
};

/** Besides `0.8`, `1.5x`, `80%`, `1/2` and `1½`. */
export const NUMBERS: Readonly<Record<string, number>> = {
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

export const ROWS: readonly WordRow[] = [
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

export const FILLERS: ReadonlySet<string> = new Set(
  [
    'a all also an and as at be but by could for i in is it kindly me my of or please should so that the then this to',
    'with would you your aloud everything keep make normal normally pace pitch pitched',
    'possible rate read reading say sentence sentences sound speak speaking speech speed spoken talk talking text than',
    'times tone use using usual voice volume want words',
  ].flatMap((line) => line.split(' ')),
);
