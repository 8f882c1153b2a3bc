/** Writes addresses, file names and abbreviations as an English reader says them. */

import { entriesOf } from '../kit/words.ts';
import { MONTHS, type Rule, spokenBy } from './english-values.ts';
import { RULERS, romanValue } from './roman.ts';
import { NAMED_CHARACTERS, pattern } from './unicode.ts';

const SCHEME = String.raw`[a-z][a-z\d+.-]{1,15}:\/\/[^\s<>"]{0,2000}[^\s<>"'.,;:!?)\]}*_]`;
const LABEL = String.raw`[a-z\d][\w-]{0,62}`;
const TAIL = String.raw`(?::\d{2,5}(?!\w))?(?:\/[^\s<>"]{0,2000}[^\s<>"'.,;:!?)\]}*_]|\/)?`;
const MAIL = String.raw`[\w.+-]{1,64}@${LABEL}(?:\.${LABEL}){1,5}`;
const NUMBERED = String.raw`\d{1,3}(?:\.\d{1,3}){3}(?=[:/])${TAIL}`;
const LOCAL = `localhost(?=[:/])${TAIL}`;
/** The last part is all lower or all upper case: otherwise a space may be missing after a sentence. */
const NAME = String.raw`(?!(?:[A-Za-z]\.){2}|(?:Mr|Mrs|Ms|Dr|St|No|Vol|Fig|pp?|vs|etc|Inc|Ltd|Co|Jr|Sr)\.)[A-Za-z][\w-]{0,62}(?:\.[\w-]{1,63}){0,8}\.(?:[a-z]{2,24}\d?|[A-Z]{2,5}|mp[34]|7z)(?![\w.]*\w)${TAIL}`;
const HIDDEN = String.raw`(?<=^|[\s(])\.[A-Za-z][A-Za-z_-]{2,30}(?=[\s,;:.)]|$)`;
const ADDRESS = new RegExp(
  String.raw`(?<![\w.@+/-])(${[SCHEME, `mailto:${MAIL}`, MAIL, NUMBERED, LOCAL].map((part) => `(?:${caseless(part)})`).join('|')}|${NAME})|(${HIDDEN})`,
  'u',
);

/** Makes the letters of a pattern match in any case. */
function caseless(pattern: string): string {
  return pattern.replace(/\[a-z/gu, '[A-Za-z');
}

const SIGNS: ReadonlyMap<string, string> = new Map(
  entriesOf(`
    . dot, / slash, @ at, - dash, _ underscore, ? question mark, = equals, & and, # hash, % percent, + plus,
    ~ tilde`),
);

/** @param others applied to the text between addresses */
export function addressesInEnglish(text: string, others: (text: string) => string): string {
  const parts = text.split(ADDRESS);
  let spoken = others(parts[0] ?? '');
  for (let at = 1; at < parts.length; at += 3)
    spoken += addressInWords(parts[at] ?? parts[at + 1] ?? '') + others(parts[at + 2] ?? '');
  return spoken;
}

function addressInWords(address: string): string {
  return address
    .replace(/^(\w+):\/\/\/?|^mailto:/u, (_, scheme) => (scheme ? `${scheme} ` : 'mail to '))
    .replace(/:(?=\d)/u, ' port ')
    .replace(/[./@\-_?=&#%+~]/gu, (sign) => ` ${SIGNS.get(sign)} `)
    .replace(/(?<=^| )(?:api|url|uri|id|ui|os)(?= |$)/gu, (word) => [...word.toUpperCase()].join(' '));
}

/** Initialisms that a voice would read as words. */
const SPELLED =
  'URL|URI|API|UI|AI|OS|EU|UN|UAE|UK|CEO|CIO|COO|CFO|FAQ|ETA|EPA|IRS|ID|AWS|DIY|UFO|IP|IQ|EV|IDE|CLI|GUI|UUID|CI|QA|AKA|CPU|GPU|TPU|NPU|ATM|NGO';
const INITIALS = pattern`(?<![\w&])(${SPELLED})(s|'s)?(?![\w&])`;

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const DAY = 'Mon|Tues?|Weds?|Thu(?:rs?)?|Fri|Sat|Sun';
const MONTH = 'Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec';
const ANY = `${DAY}|${MONTH}`;
const NAMES = [...DAYS, ...MONTHS].join('|');
/** Names of days and months, in full and short. */
export const CALENDAR = `${NAMES}|${ANY}`;

/** Expands the short name of a day or month, which its first three letters identify. */
function day(_: string, short = ''): string {
  const beginsAlike = (name: string) => name.slice(0, 3).toLowerCase() === short.slice(0, 3).toLowerCase();
  return [...DAYS, ...MONTHS].find(beginsAlike) ?? short;
}

const ROMAN = '((?=[IVXL]{2})(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3}))';
/** Words before a Roman numeral that the voice would spell. */
const IN_ROMAN =
  'Appendix|Apollo|Article|Book|Bowl|Canto|Class|Fantasy|Figure|Level|Mark|Phase|Rocky|Schedule|Stage|Table|Tier|Title|Type|Vatican|Volume|phase|stage|type';

function ordinalOf(number: number): string {
  const isTeen = number % 100 > 10 && number % 100 < 14;
  return `${number}${(isTeen ? undefined : ['th', 'st', 'nd', 'rd'][number % 10]) ?? 'th'}`;
}

/** Abbreviations with a point. At the end of the text, the point also ends the sentence. */
const ENDING = new Map(
  entriesOf(`
    approx approximately, Ltd Limited, Inc Incorporated, Corp Corporation, Blvd Boulevard, Dept Department,
    dept department, Govt Government, govt government, Assn Association, Bros Brothers, Jr Junior, Sr Senior,
    Rd Road, Ln Lane, Hwy Highway, Pkwy Parkway`),
);

const RULES: readonly Rule[] = [
  [
    /&(?:#(\d{1,3})|(amp|lt|gt|quot|apos|nbsp|copy|deg|euro|pound));/gu,
    (_, number, name = '') => NAMED_CHARACTERS[name] ?? String.fromCharCode(Number(number)),
  ],
  [
    pattern`(?=[IVXL])(?<=(?<!\w)(?:${RULERS})\s)(?:${ROMAN}|I(?=\sof\s))(?!\w|\.\p{L})`,
    (_, numeral) => `the ${ordinalOf(romanValue(numeral ?? 'I'))}`,
  ],
  [
    pattern`(?=[IVXL])(?<=(?<!\w)(?:${IN_ROMAN})\s)${ROMAN}(?!\w|\.\p{L})`,
    (_, numeral = '') => `${romanValue(numeral)}`,
  ],
  [
    pattern`(?<!\w)${ROMAN}(?:th)?(?=\s[Cc]entur(?:y|ies)\b)`,
    (_, numeral = '') => ordinalOf(romanValue(numeral)),
  ],
  [/(?<!\w)WW(I{1,2})(?!\w)/gu, (_, numeral = '') => `World War ${romanValue(numeral)}`],
  [/(?<!\w)Ms\.?(?=\s+["']?\p{Lu})/gu, 'Miz'],
  [/(?<!\w)Mx\.?(?=\s+["']?\p{Lu})/gu, 'Mix'],
  [/(?<!\w)Mt\.(?=\s+\p{Lu})/gu, 'Mount'],
  [/(?<!\w)Ft\.(?=\s+\p{Lu})/gu, 'Fort'],
  [pattern`(?<!\w)(${ANY})\.?(?=\s?[-/]\s?(?:${ANY}|May|June|July)(?!\w))`, day],
  [
    pattern`(?<=(?<!\w)(?:${NAMES}|(?:${NAMES}|(?:${ANY})\.?) \d{1,2}))\s?-\s?(${NAMES}|${ANY})(?![\w-])\.?`,
    (all, short) => ` to ${day(all, short)}`,
  ],
  [
    pattern`(?<!\w)(${ANY})\.?(?=,?\s(?:\d|(?:${MONTH}|May(?=\s\d)|June|July|January|February|March|April|August|September|October|November|December)\b))`,
    day,
  ],
  [pattern`(?<=\d(?:st|nd|rd|th)?(?: of)?[\s-])(${MONTH})\b(?:\.(?!\s*$))?`, day],
  // "Jan." and "Sun." are missing: they are also names and words.
  [
    /(?<!\w)(Mon|Tues?|Weds|Thu(?:rs?)?|Fri|Feb|Apr|Aug|Sept?|Oct|Nov|Dec)\.(?=(\s*$)|)/gu,
    (all, short, end) => day(all, short) + (end === undefined ? '' : '.'),
  ],
  [
    /(?<=\b(?:in|since|until|till|from|by|of|on|next|last|this|every|each|early|late|mid|to|and|or|before|after|for) )(Jan|Mar|Jun|Jul|Sat|Sun|Wed)\.(?=\s*$)/giu,
    (all, short) => `${day(all, short)}.`,
  ],
  [
    /(?<=\b(?:in|since|until|till|from|by|of|on|next|last|this|every|each|early|late|mid|to|and|or|before|after) )(Jan|Mar|Jun|Jul|Sat|Sun|Wed)\.(?=,|\s[a-z])/gu,
    day,
  ],
  [/^(\s*)(Jan|Mar|Jun|Jul|Sat|Sun|Wed)\.(?=\s*$)/gu, (all, space, short) => `${space}${day(all, short)}.`],
  [
    pattern`(?<!\w)(${[...ENDING.keys()].join('|')})\.(?=(["')]*\s*$)|)`,
    (_, short = '', end) => `${ENDING.get(short)}${end === undefined ? '' : '.'}`,
  ],
  [/(?<!\w)[Aa]pprox\.? (?=[\w$€£])/gu, 'approximately '],
  [/(?<!\w)(Rd|Ln|Hwy|Pkwy)(?![\w.])/gu, (all, short = '') => ENDING.get(short) ?? all],
  [/(?<!\w)TL;?DR(?!\w)/giu, 'T L D R'],
  [/(?<!\w)w\/o(?!\w)/gu, 'without'],
  [/(?<!\w)w\/(?=\s?[a-z])/gu, 'with '],
  [/(?<!\w)[Ee]xt\.\s?(?=\d)/gu, 'extension '],
  [/(?<!\w)[Tt]el\.:?\s?(?=[\d+(])/gu, 'telephone '],
  [/(?<!\w)[Aa]pt\.\s?(?=\d)/gu, 'apartment '],
  [
    /(?<!\w)([A-Z]{1,3})&([A-Z]{1,3})(s?)(?!\w)/gu,
    (_, left, right, end) => `${[...left].join(' ')} and ${[...right].join(' ')}${end && "'s"}`,
  ],
  [/\s?&{1,2}\s?/gu, ' and '],
  [INITIALS, (_, word, end) => [...word].join(' ') + (end ? "'s" : '')],
  // The voice would also spell the plural "s" of other initialisms.
  [/(?<!\w)([B-DF-HJ-NP-TV-XZ]{2,5})s(?!\w)/gu, (_, word) => `${[...word].join(' ')}'s`],
];

export function shortFormsInEnglish(text: string): string {
  return spokenBy(RULES, text);
}
