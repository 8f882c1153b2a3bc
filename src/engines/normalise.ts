/** Makes English text readable for Flite. */
import { entriesOf, withoutEscapes } from '../kit/words.ts';
import { type Rule, spokenBy, valuesInEnglish } from '../text/english-values.ts';
import { addressesInEnglish, CALENDAR, shortFormsInEnglish } from '../text/english-words.ts';
import { romanValue } from '../text/roman.ts';
import { pattern } from '../text/unicode.ts';

/** Returns printable ASCII without accents, with symbols in words, and without other scripts; '' if no word is left. */
export function normalise(text: string): string {
  const written = spokenBy(PUNCTUATION, headingSpoken(withoutEscapes(text)));
  const ascii = spokenBy(SIGNS, addressesInEnglish(spokenBy(ABBREVIATIONS, written), inWords))
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .replace(LETTER, englishLetter)
    .replace(/[^\x20-\x7e]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/ (?=[,.;:!?])/gu, '')
    .trim();
  return /[a-z0-9]/iu.test(ascii) ? ascii : '';
}

function inWords(text: string): string {
  return spokenBy(FRACTIONS, valuesInEnglish(shortFormsInEnglish(text)));
}

function englishLetter(letter: string): string {
  const spoken = LETTERS.get(letter.toLowerCase()) ?? '';
  const isCapital = letter !== letter.toLowerCase();
  return isCapital ? spoken.charAt(0).toUpperCase() + spoken.slice(1) : spoken;
}

/** Rewrites the start of a sentence: Roman numerals of chapters become digits, and drop caps join their words. */
function headingSpoken(sentence: string): string {
  return sentence
    .replace(NUMERAL, (written, before: string, numeral: string) => {
      const isTitle = !/[.!?]["”’']?\s*$/u.test(sentence) || numeral.length === sentence.trim().length - 1;
      return numeral.length > 1 || (SINGLE_NUMERAL.test(numeral) && isTitle)
        ? `${before}${romanValue(numeral)}`
        : written;
    })
    .replace(DROP_CAP, '$1$2$3$4$5');
}

/** Letters that Unicode does not decompose, with their ASCII spelling. */
const LETTERS = new Map(
  entriesOf('ß ss, æ ae, œ oe, ø o, ł l, đ d, ð th, þ th, ħ h, ı i, ŋ ng, ŧ t, ĸ k, ƒ f, ə e'),
);

const LETTER = new RegExp([...LETTERS.keys()].join('|'), 'giu');

/** A Roman numeral at the start of a sentence. */
const NUMERAL =
  /^(\s*["“‘']?)((?=[IVXLC])(?:C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?=\.?\s*$|\.\s+\p{Lu}(?!\.))/u;
/** The numerals of one letter that are read as numbers; the other letters are initials or grades. */
const SINGLE_NUMERAL = /^[IVX]$/u;

/** A drop cap separated from its word: "T HE lamps". */
const DROP_CAP = /^(\s*["“‘']?)(?:([B-HJ-NP-Z]) ([A-Z]{2,})|([AIO]) ([B-DF-HJ-NP-TV-Z]{1,2}))(?=\s)/u;

const FRACTIONS = entriesOf(`
  ½ a half, ⅓ a third, ⅔ two thirds, ¼ a quarter, ¾ three quarters, ⅕ a fifth, ⅖ two fifths, ⅗ three fifths,
  ⅘ four fifths, ⅙ a sixth, ⅚ five sixths, ⅐ a seventh, ⅛ an eighth, ⅜ three eighths, ⅝ five eighths,
  ⅞ seven eighths, ⅑ a ninth, ⅒ a tenth`).flatMap(([sign, name]): Rule[] => [
  [pattern`(\d)\s?${sign}`, `$1 and ${name} `],
  [pattern`${sign}`, ` ${name} `],
]);

/** Greek letters with their English names. */
const GREEK = new Map(
  entriesOf(`
    α alpha, β beta, γ gamma, δ delta, ε epsilon, ζ zeta, η eta, θ theta, ι iota, κ kappa, λ lambda, μ mu, ν nu, ξ xi,
    π pi, ρ rho, σ sigma, τ tau, υ upsilon, φ phi, ϕ phi, χ chi, ψ psi, ω omega`),
);

/** One Greek letter, such as that of a formula: those of Greek words have others next to them. */
const GREEK_LETTER = pattern`(?<!\p{Script=Greek}|\p{Script=Greek}{2}\s)\p{Script=Greek}(?!\p{Script=Greek}|\s\p{Script=Greek}{2})`;

const SIGNS: readonly Rule[] = [
  [/°\s?C\b/gu, ' degrees Celsius '],
  [/°\s?F\b/gu, ' degrees Fahrenheit '],
  [/℉/gu, ' degrees Fahrenheit '],
  [/[°˚]/gu, ' degrees '],
  [/§§?/gu, ' section '],
  [/¶/gu, ' paragraph '],
  [/№/gu, ' number '],
  [/‰/gu, ' per mille '],
  [/²/gu, ' squared '],
  [/³/gu, ' cubed '],
  [/µ/gu, ' micro '],
  // Omega, and the ohm sign, which looks the same.
  [/[Ω\u2126]/gu, ' ohms '],
  [GREEK_LETTER, (letter) => ` ${GREEK.get(letter.toLowerCase()) ?? letter} `],
  [/×/gu, ' times '],
  [/÷/gu, ' divided by '],
  [/±/gu, ' plus or minus '],
  [/√/gu, ' root of '],
  [/∞/gu, ' infinity '],
  [/≈/gu, ' about '],
  [/≠/gu, ' is not equal to '],
  [/≤/gu, ' at most '],
  [/≥/gu, ' at least '],
  [/[→⇒]/gu, ' to '],
  [/©/gu, ' copyright '],
  [/∑/gu, ' sum of '],
  [/∫/gu, ' integral of '],
];

const PUNCTUATION: readonly Rule[] = [
  [/μ(?=[a-z])/giu, 'µ'],
  [/[‘’‚‛′ʼ´]/gu, "'"],
  [/[“”„‟″«»‹›]/gu, '"'],
  [/(?<=\d)\s?[·⋅]\s?(?=\d)/gu, ' times '],
  // A dash with spaces between numbers is a range if it is short: "in 1990 — 5 years later".
  [
    /(\d(?:[%kKMB€£¥¢]|\s?[ap]\.?m\.?)?|\b(?:noon|midnight))(?:\s?[–‒]\s?|—)(?=[$€£¥]?\d|(?:noon|midnight)\b)/giu,
    '$1 to ',
  ],
  [pattern`(?<=(?<!\p{L})(?:${CALENDAR})\.?(?: \d{1,2})?\s?)[–‒](?=\s?(?:${CALENDAR})(?!\p{L}))`, '-'],
  [/(\d\s?(?:°\s?[CF]?|\p{L}{1,3}))[–‒](?=[$€£¥]?\d)/gu, '$1 to '],
  [/−\s?/gu, ' minus '],
  [/[‐‑]/gu, '-'],
  [/(?<!\s)\s*[–—―‒]+\s*/gu, ', '],
  [/…/gu, '...'],
  [/[。।]/gu, '. '],
  [/[、،]/gu, ', '],
  [/[·•‣◦]/gu, ', '],
  [/[¡¿]/gu, ''],
];

/** Titles, expanded only before a name. */
const TITLES = entriesOf(`
  Capt Captain, Col Colonel, Gen General, Lieut Lieutenant, Lt Lieutenant, Sgt Sergeant, Gov Governor, Sen Senator,
  Prof Professor, Rev Reverend, Hon Honourable, Messrs Messieurs, Maj Major, Adm Admiral, Cmdr Commander,
  Cpl Corporal, Pvt Private, Brig Brigadier, Rep Representative, Pres President, Supt Superintendent`).map(
  ([short, word]): Rule => [pattern`\b${short}\.(?=\s+["'“‘]?\p{Lu})`, word],
);

/** Abbreviations that are expanded only before a number. */
const BEFORE_NUMBERS = entriesOf(`
  Nos numbers, No number, pp pages, p page, Figs figures, Fig figure, Vol volume, Ch chapter, Sec section,
  Eq equation`).map(([short, word]): Rule => {
  const either = `[${short.charAt(0).toUpperCase()}${short.charAt(0).toLowerCase()}]${short.slice(1)}`;
  return [pattern`\b${either}\.\s*(?=\d)`, `${word} `];
});

/** Abbreviations of lives and reigns, behind a bracket or a comma: "(b. 1457, d. 1509)". */
const OF_LIVES = entriesOf('b born, d died, fl flourished, r reigned').map(
  ([short, word]): Rule => [pattern`(?<=[(,;]\s?)${short}\.\s?(?=(?:ca?\.\s?)?\d{3,4}(?!\d))`, `${word} `],
);

const ABBREVIATIONS: readonly Rule[] = [
  ...TITLES,
  ...BEFORE_NUMBERS,
  ...OF_LIVES,
  [/\bca?\.\s?(?=\d{3,4}(?!\d))/gu, 'circa '],
  [/\be\.\s?g\.,?(?=\s)/giu, 'for example,'],
  [/\bi\.\s?e\.,?(?=\s)/giu, 'that is,'],
  [/\bvs\.(?=\s)/giu, 'versus'],
  [/\bviz\.,?(?=\s)/giu, 'namely,'],
  [/\bcf\.(?=\s)/giu, 'compare'],
  [/&c\.(?=["'”’)]*\s*$)/giu, 'et cetera.'],
  [/(?<![\w=?])&c(?!\w|=)\.?/giu, 'et cetera'],
  [/&\s?Co\.(?=["'”’)]*\s*$)/gu, 'and Company.'],
  [/&\s?Co\./gu, 'and Company'],
];
