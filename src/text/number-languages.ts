/** What a language says around its numbers. The words of numbers, units, months and most currencies are those of Unicode CLDR. */
import type { SpelloutData } from './spellout.ts';

type Forms = readonly [one: string, many: string];

interface DateParts {
  readonly day: number;
  /** In words. */
  readonly month: string;
  readonly year: string;
}

interface TimeParts {
  readonly hour: number;
  readonly minute: number;
}

/** A few characters of the text. */
interface Around {
  readonly before: string;
  readonly behind: string;
}

/** How the numbers of a language are said. */
export interface Say {
  /** By itself, or with the gender of what is counted. */
  cardinal(number: number, gender?: 'masculine' | 'feminine'): string;
  ordinal(number: number, ending?: string): string;
}

export interface NumberLanguage {
  readonly language: string;
  load(tag: string): Promise<SpelloutData>;
  /** The rules of cardinals: by themselves, of masculine nouns, of feminine nouns. */
  readonly cardinals: readonly [plain: string, masculine: string, feminine: string];
  /** The rules of years from 1100 to 1999, and of those that follow. */
  readonly year?: string;
  /** The rules of ordinals, by what stands behind the digits. */
  readonly ordinals: Readonly<Record<string, string>>;
  /** The ordinal by itself. */
  readonly ordinal: string;
  readonly point: string;
  readonly comma: string;
  /** What follows a decimal mark is said digit by digit, and otherwise as a number. */
  readonly isDigitwise: boolean;
  /** A space may part thousands. */
  readonly hasSpaces?: boolean;
  readonly minus: string;
  readonly plus: string;
  readonly to: string;
  readonly slash: string;
  /** A noun with this shape is feminine. */
  readonly feminine: RegExp;
  /** Its numbers agree with such a noun behind them. */
  readonly counted?: RegExp;
  /** Of its numbers, 1 alone does. */
  readonly onlyOneAgrees?: boolean;
  date(date: DateParts, say: Say, before: string): string;
  /** The day in front of a written month. */
  day(day: number, say: Say, around: Around): string;
  time(time: TimeParts, say: Say): string;
  /** What stands in front of a time or behind it. Without it, hours of one digit may be something else: "John 3:16". */
  readonly timeWords?: RegExp;
  /** What stands behind a time, and is said by it. */
  readonly hourSign: string;
  readonly currencies: Readonly<Record<string, Forms>>;
  /** Hundredths by the sign of the currency. */
  readonly cents: Readonly<Record<string, Forms>>;
  /** Between the whole and its hundredths, which are named after "and" only. */
  readonly and: string;
  readonly namesCents: boolean;
  /** Words and signs for many of something, which may be money. */
  readonly scales: Readonly<Record<string, Forms>>;
  /** Between "million" and a currency. */
  ofScale(currency: string): string;
  readonly units: Readonly<Record<string, Forms>>;
  /** Of units: kilo, mega, giga, milli, micro, hecto. */
  readonly prefixes: readonly string[];
  readonly square: (unit: Forms) => Forms;
  readonly cubic: (unit: Forms) => Forms;
  /** "½": by itself, and behind a whole. */
  readonly fractions: Readonly<Record<string, readonly [alone: string, behind: string]>>;
  /** What stands in front of a Roman number that is said as a cardinal. */
  readonly numbered: string;
  /** A Roman number behind the name of a ruler. */
  regnal(number: number, say: Say): string;
  /** "XXe siècle", "XX secolo": what stands behind a Roman number that is an ordinal. */
  readonly century?: string;
}

const same = (word: string): Forms => [word, word];
const plural = (word: string): Forms => [word, `${word}s`];
const twoDigits = (minute: number, zero: string, say: Say) =>
  `${minute < 10 ? `${zero} ` : ''}${say.cardinal(minute)}`;

/** The ending of a German ordinal by what stands in front of it. */
function germanEnding(before: string): string {
  if (/\b(?:in|mit|von|bei|nach|seit|aus|zu|an|auf|während|wegen) der\s$/iu.test(before)) return 'n';
  if (/\b(?:der|die|das|diese|jede|eine)\s$/iu.test(before)) return '';
  if (/\b(?:ein|kein|mein|sein|ihr)\s$/iu.test(before)) return 'r';
  return /\b(?:den|dem|des|am|im|vom|zum|zur|beim|einen|einem|einer|dieser|diesem|jeden|jedem|und|bis)\s$/iu.test(
    before,
  )
    ? 'n'
    : 'r';
}

const GERMAN: NumberLanguage = {
  language: 'de',
  load: async () => (await import('cldr-rbnf/rbnf/de.json', { with: { type: 'json' } })).default,
  cardinals: ['numbering', 'cardinal-masculine', 'cardinal-feminine'],
  year: 'numbering-year',
  ordinals: { n: 'ordinal-n', r: 'ordinal-r', '': 'ordinal' },
  ordinal: 'ordinal',
  point: 'Punkt',
  comma: 'Komma',
  isDigitwise: true,
  minus: 'minus',
  plus: 'plus',
  to: 'bis',
  slash: 'Schrägstrich',
  feminine: /^\p{Lu}\p{L}*e(?!\p{L})|^Million$/u,
  counted: /^(?!(?:Die|Eine|Keine)$)\p{Lu}\p{L}+$/u,
  onlyOneAgrees: true,
  date: ({ day, month, year }, say, before) => `${say.ordinal(day, germanEnding(before))} ${month} ${year}`,
  day: (day, say, { before }) => say.ordinal(day, germanEnding(before)),
  time: ({ hour, minute }, say) =>
    `${say.cardinal(hour, 'masculine')} Uhr${minute === 0 ? '' : ` ${say.cardinal(minute)}`}`,
  timeWords: /\b(?:um|ab|bis|gegen|von|seit|vor|nach|und)\s$/iu,
  hourSign: '\\s?Uhr(?!\\p{L})',
  currencies: { $: same('Dollar'), '€': same('Euro'), '£': same('Pfund'), '¥': same('Yen') },
  cents: { $: same('Cent'), '€': same('Cent'), '£': ['Penny', 'Pence'] },
  and: '',
  namesCents: false,
  scales: {
    'Mio.': ['Million', 'Millionen'],
    Mio: ['Million', 'Millionen'],
    'Mrd.': ['Milliarde', 'Milliarden'],
    Mrd: ['Milliarde', 'Milliarden'],
    Millionen: same('Millionen'),
    Milliarden: same('Milliarden'),
    Tausend: same('Tausend'),
    'Tsd.': same('Tausend'),
  },
  ofScale: () => '',
  prefixes: 'Kilo Mega Giga Milli Mikro Hekto'.split(' '),
  units: {
    W: same('Watt'),
    Wh: ['Wattstunde', 'Wattstunden'],
    V: same('Volt'),
    Hz: same('Hertz'),
    g: same('Gramm'),
    Pa: same('Pascal'),
    t: ['Tonne', 'Tonnen'],
    dB: same('Dezibel'),
    kcal: ['Kilokalorie', 'Kilokalorien'],
  },
  square: ([one, many]) => [`Quadrat${one.toLowerCase()}`, `Quadrat${many.toLowerCase()}`],
  cubic: ([one, many]) => [`Kubik${one.toLowerCase()}`, `Kubik${many.toLowerCase()}`],
  fractions: {
    '½': ['ein halb', 'einhalb'],
    '¼': ['ein Viertel', ' ein Viertel'],
    '¾': ['drei Viertel', ' drei Viertel'],
    '⅓': ['ein Drittel', ' ein Drittel'],
    '⅔': ['zwei Drittel', ' zwei Drittel'],
  },
  numbered: 'Kapitel|Band|Teil|Abschnitt|Akt|Szene|Buch|Artikel|Anhang|Weltkrieg|Tafel',
  regnal: (number, say) => `der ${capital(say.ordinal(number))}`,
};

const ENGLISH: NumberLanguage = {
  language: 'en',
  load: async () => (await import('cldr-rbnf/rbnf/en.json', { with: { type: 'json' } })).default,
  cardinals: ['cardinal', 'cardinal', 'cardinal'],
  year: 'numbering-year',
  ordinals: { st: 'ordinal', nd: 'ordinal', rd: 'ordinal', th: 'ordinal' },
  ordinal: 'ordinal',
  point: 'point',
  comma: 'comma',
  isDigitwise: true,
  minus: 'minus',
  plus: 'plus',
  to: 'to',
  slash: 'slash',
  feminine: /(?!)/u,
  date: ({ day, month, year }, say) => `${month} ${say.ordinal(day)}, ${year}`,
  day: (day, say, { before, behind }) =>
    `${/\b(?:the|a)\s$/iu.test(before) ? '' : 'the '}${say.ordinal(day)}${/^\sof\b/u.test(behind) ? '' : ' of'}`,
  time: ({ hour, minute }, say) =>
    minute === 0 ? `${say.cardinal(hour)} o'clock` : `${say.cardinal(hour)} ${twoDigits(minute, 'oh', say)}`,
  hourSign: '(?!)',
  currencies: { $: plural('dollar'), '€': plural('euro'), '£': plural('pound'), '¥': same('yen') },
  cents: { $: plural('cent'), '€': plural('cent'), '£': ['penny', 'pence'] },
  and: 'and',
  namesCents: true,
  scales: {
    thousand: same('thousand'),
    million: same('million'),
    billion: same('billion'),
    trillion: same('trillion'),
    k: same('thousand'),
    K: same('thousand'),
    m: same('million'),
    M: same('million'),
    bn: same('billion'),
    B: same('billion'),
    tn: same('trillion'),
  },
  ofScale: () => '',
  prefixes: 'kilo mega giga milli micro hecto'.split(' '),
  units: {
    W: plural('watt'),
    Wh: plural('watt hour'),
    V: plural('volt'),
    Hz: same('hertz'),
    g: plural('gram'),
    Pa: plural('pascal'),
    t: ['metric ton', 'metric tons'],
    dB: plural('decibel'),
    kcal: plural('kilocalorie'),
  },
  square: ([one, many]) => [`square ${one}`, `square ${many}`],
  cubic: ([one, many]) => [`cubic ${one}`, `cubic ${many}`],
  fractions: {
    '½': ['a half', ' and a half'],
    '¼': ['a quarter', ' and a quarter'],
    '¾': ['three quarters', ' and three quarters'],
    '⅓': ['a third', ' and a third'],
    '⅔': ['two thirds', ' and two thirds'],
  },
  numbered: 'Chapter|Part|Book|Volume|Act|Scene|Section|Article|Appendix|War|Type|Phase|Title|Figure|Table',
  regnal: (number, say) => `the ${capital(say.ordinal(number))}`,
};

const FRENCH: NumberLanguage = {
  language: 'fr',
  load: async () => (await import('cldr-rbnf/rbnf/fr.json', { with: { type: 'json' } })).default,
  cardinals: ['cardinal-masculine', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: {
    er: 'ordinal-masculine',
    re: 'ordinal-feminine',
    ère: 'ordinal-feminine',
    e: 'ordinal-masculine',
    ème: 'ordinal-masculine',
    eme: 'ordinal-masculine',
  },
  ordinal: 'ordinal-masculine',
  point: 'point',
  comma: 'virgule',
  isDigitwise: false,
  hasSpaces: true,
  minus: 'moins',
  plus: 'plus',
  to: 'à',
  slash: 'barre',
  feminine:
    /^(?:heure|minute|seconde|milliseconde|microseconde|tonne|semaine|année|journée|livre|once|couronne|roupie|calorie|kilocalorie|fois|page|personne|femme|fille|maison|chose|partie|semaine|ville|équipe|voiture|question|vie|table|chambre|place|voix|idée|étoile)s?(?!\p{L})/u,
  counted:
    /^(?:heure|minute|seconde|tonne|semaine|année|journée|couronne|fois|page|personne|femme|fille|maison|chose|partie|ville|équipe|voiture|question|table|chambre|place|voix|idée|étoile)s?$/u,
  date: ({ day, month, year }, say) => `${frenchDay(day, say)} ${month} ${year}`,
  day: frenchDay,
  time: ({ hour, minute }, say) =>
    `${say.cardinal(hour, 'feminine')} heure${hour < 2 ? '' : 's'}${minute === 0 ? '' : ` ${say.cardinal(minute, 'feminine')}`}`,
  hourSign: '(?!)',
  currencies: { $: plural('dollar'), '€': plural('euro'), '£': plural('livre'), '¥': plural('yen') },
  cents: { $: plural('cent'), '€': plural('centime'), '£': ['penny', 'pence'] },
  and: '',
  namesCents: false,
  scales: {
    million: same('million'),
    millions: same('millions'),
    milliard: same('milliard'),
    milliards: same('milliards'),
    M: ['million', 'millions'],
    Md: ['milliard', 'milliards'],
    Mds: ['milliard', 'milliards'],
  },
  ofScale: (currency) => (/^[aeiouyé]/u.test(currency) && currency !== 'yens' ? "d'" : 'de '),
  prefixes: 'kilo méga giga milli micro hecto'.split(' '),
  units: {
    W: plural('watt'),
    Wh: ['wattheure', 'wattheures'],
    V: plural('volt'),
    Hz: same('hertz'),
    g: plural('gramme'),
    Pa: plural('pascal'),
    t: plural('tonne'),
    dB: plural('décibel'),
    kcal: plural('kilocalorie'),
  },
  square: ([one, many]) => [`${one} carré`, `${many} carrés`],
  cubic: ([one, many]) => [`${one} cube`, `${many} cubes`],
  fractions: {
    '½': ['un demi', ' et demi'],
    '¼': ['un quart', ' un quart'],
    '¾': ['trois quarts', ' trois quarts'],
    '⅓': ['un tiers', ' un tiers'],
    '⅔': ['deux tiers', ' deux tiers'],
  },
  numbered:
    'Chapitre|chapitre|Tome|tome|Partie|partie|Acte|acte|Scène|scène|Livre|livre|Article|article|Annexe|annexe|Volume|volume',
  regnal: (number, say) => (number === 1 ? 'premier' : say.cardinal(number)),
  century: '(?:e|ème|ᵉ)(?=\\s(?:siècle|arrondissement|République|dynastie)s?)',
};

function frenchDay(day: number, say: Say): string {
  return day === 1 ? 'premier' : say.cardinal(day);
}

const SPANISH: NumberLanguage = {
  language: 'es',
  load: async () => (await import('cldr-rbnf/rbnf/es.json', { with: { type: 'json' } })).default,
  cardinals: ['numbering', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: {
    º: 'ordinal-masculine',
    ª: 'ordinal-feminine',
    er: 'ordinal-masculine-adjective',
    ro: 'ordinal-masculine',
    ra: 'ordinal-feminine',
  },
  ordinal: 'ordinal-masculine',
  point: 'punto',
  comma: 'coma',
  isDigitwise: false,
  hasSpaces: true,
  minus: 'menos',
  plus: 'más',
  to: 'a',
  slash: 'barra',
  feminine: /^(?!(?:días?|idiomas?|problemas?|programas?|sistemas?|temas?)(?!\p{L}))\p{L}*as?(?!\p{L})/u,
  counted:
    /^(?!(?:más|además|jamás|menos|entonces|antes|para|como|contra|hasta|hacia|cuando|pero|cada|esta|era|ahora|luego|cuanto|solo|todo|nada|las|los|unos|unas)$)\p{Ll}{2,20}(?:[ao]s|es|[ao])$/u,
  date: ({ day, month, year }, say) => `${say.cardinal(day)} de ${month} de ${year}`,
  day: (day, say) => say.cardinal(day),
  time: ({ hour, minute }, say) =>
    `${say.cardinal(hour, 'feminine')}${minute === 0 ? '' : ` ${twoDigits(minute, 'cero', say)}`}`,
  hourSign: '(?!)',
  currencies: { $: ['dólar', 'dólares'], '€': plural('euro'), '£': plural('libra'), '¥': ['yen', 'yenes'] },
  cents: { $: plural('centavo'), '€': plural('céntimo'), '£': plural('penique') },
  and: 'con',
  namesCents: true,
  scales: { millón: same('millón'), millones: same('millones'), mil: same('mil'), M: ['millón', 'millones'] },
  ofScale: () => 'de ',
  prefixes: 'kilo mega giga mili micro hecto'.split(' '),
  units: {
    W: plural('vatio'),
    Wh: ['vatio hora', 'vatios hora'],
    V: plural('voltio'),
    Hz: plural('hercio'),
    g: plural('gramo'),
    Pa: ['pascal', 'pascales'],
    t: plural('tonelada'),
    dB: ['decibelio', 'decibelios'],
    kcal: plural('kilocaloría'),
  },
  square: ([one, many]) => [`${one} cuadrado`, `${many} cuadrados`],
  cubic: ([one, many]) => [`${one} cúbico`, `${many} cúbicos`],
  fractions: {
    '½': ['medio', ' y medio'],
    '¼': ['un cuarto', ' y cuarto'],
    '¾': ['tres cuartos', ' y tres cuartos'],
    '⅓': ['un tercio', ' y un tercio'],
    '⅔': ['dos tercios', ' y dos tercios'],
  },
  numbered:
    'siglo|Siglo|Capítulo|capítulo|Tomo|tomo|Parte|parte|Acto|acto|Escena|escena|Libro|libro|Artículo|artículo|Volumen|volumen|Mundial',
  regnal: (number, say) => (number <= 10 ? say.ordinal(number) : say.cardinal(number)),
};

const ITALIAN: NumberLanguage = {
  language: 'it',
  load: async () => (await import('cldr-rbnf/rbnf/it.json', { with: { type: 'json' } })).default,
  cardinals: ['numbering', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: { º: 'ordinal-masculine', ª: 'ordinal-feminine' },
  ordinal: 'ordinal-masculine',
  point: 'punto',
  comma: 'virgola',
  isDigitwise: false,
  minus: 'meno',
  plus: 'più',
  to: 'a',
  slash: 'barra',
  feminine: /^\p{L}*a(?!\p{L})/u,
  counted:
    /^(?!(?:dalla|della|nella|alla|sulla|prima|dopo|come|sono|ogni|anche|quando|una|uno)$)\p{Ll}{3,20}[aoe]$/u,
  onlyOneAgrees: true,
  date: ({ day, month, year }, say) => `${italianDay(day, say)} ${month} ${year}`,
  day: italianDay,
  time: ({ hour, minute }, say) =>
    `${hour === 1 ? 'una' : say.cardinal(hour)}${minute === 0 ? '' : ` e ${say.cardinal(minute)}`}`,
  hourSign: '(?!)',
  currencies: {
    $: ['dollaro', 'dollari'],
    '€': same('euro'),
    '£': ['sterlina', 'sterline'],
    '¥': same('yen'),
  },
  cents: { $: ['centesimo', 'centesimi'], '€': ['centesimo', 'centesimi'], '£': ['penny', 'pence'] },
  and: 'e',
  namesCents: true,
  scales: {
    milione: same('milione'),
    milioni: same('milioni'),
    miliardo: same('miliardo'),
    miliardi: same('miliardi'),
    mln: ['milione', 'milioni'],
    mld: ['miliardo', 'miliardi'],
  },
  ofScale: () => 'di ',
  prefixes: 'kilo mega giga milli micro etto'.split(' '),
  units: {
    W: same('watt'),
    Wh: same('wattora'),
    V: same('volt'),
    Hz: same('hertz'),
    g: ['grammo', 'grammi'],
    Pa: same('pascal'),
    t: ['tonnellata', 'tonnellate'],
    dB: same('decibel'),
    kcal: ['chilocaloria', 'chilocalorie'],
  },
  square: ([one, many]) => [`${one} quadrato`, `${many} quadrati`],
  cubic: ([one, many]) => [`${one} cubo`, `${many} cubi`],
  fractions: {
    '½': ['mezzo', ' e mezzo'],
    '¼': ['un quarto', ' e un quarto'],
    '¾': ['tre quarti', ' e tre quarti'],
    '⅓': ['un terzo', ' e un terzo'],
    '⅔': ['due terzi', ' e due terzi'],
  },
  numbered:
    'Capitolo|capitolo|Tomo|tomo|Parte|parte|Atto|atto|Scena|scena|Libro|libro|Articolo|articolo|Volume|volume',
  regnal: (number, say) => say.ordinal(number),
  century: '(?=\\s(?:secolo|secoli))',
};

function italianDay(day: number, say: Say): string {
  return day === 1 ? 'primo' : say.cardinal(day);
}

const PORTUGUESE: NumberLanguage = {
  language: 'pt',
  load: async (tag) =>
    /^pt-(?!BR)/iu.test(tag)
      ? (await import('cldr-rbnf/rbnf/pt-PT.json', { with: { type: 'json' } })).default
      : (await import('cldr-rbnf/rbnf/pt.json', { with: { type: 'json' } })).default,
  cardinals: ['cardinal-masculine', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: { º: 'ordinal-masculine', ª: 'ordinal-feminine', o: 'ordinal-masculine', a: 'ordinal-feminine' },
  ordinal: 'ordinal-masculine',
  point: 'ponto',
  comma: 'vírgula',
  isDigitwise: false,
  minus: 'menos',
  plus: 'mais',
  to: 'a',
  slash: 'barra',
  feminine:
    /^(?!(?:dias?|idiomas?|problemas?|programas?|sistemas?|temas?|\p{L}*gramas?)(?!\p{L}))\p{L}*as?(?!\p{L})/u,
  counted:
    /^(?!(?:mais|demais|jamais|menos|antes|para|como|contra|cada|quando|entre|era|agora|logo|todo|nada|das|dos|nas|nos|uns|umas|pela|pelo|pelas|pelos)$)\p{Ll}{2,20}(?:[ao]s|es|[ao])$/u,
  date: ({ day, month, year }, say) => `${portugueseDay(day, say)} de ${month} de ${year}`,
  day: portugueseDay,
  time: ({ hour, minute }, say) =>
    minute === 0
      ? `${say.cardinal(hour, 'feminine')} hora${hour < 2 ? '' : 's'}`
      : `${say.cardinal(hour, 'feminine')} e ${say.cardinal(minute)}`,
  hourSign: '(?!)',
  currencies: {
    $: ['dólar', 'dólares'],
    '€': plural('euro'),
    '£': plural('libra'),
    '¥': plural('iene'),
    R$: ['real', 'reais'],
  },
  cents: { $: plural('centavo'), '€': plural('cêntimo'), '£': ['péni', 'pence'], R$: plural('centavo') },
  and: 'e',
  namesCents: true,
  scales: {
    milhão: same('milhão'),
    milhões: same('milhões'),
    bilhão: same('bilhão'),
    bilhões: same('bilhões'),
    mil: same('mil'),
    mi: ['milhão', 'milhões'],
    bi: ['bilhão', 'bilhões'],
  },
  ofScale: () => 'de ',
  prefixes: 'quilo mega giga mili micro hecto'.split(' '),
  units: {
    W: plural('watt'),
    Wh: ['watt-hora', 'watts-hora'],
    V: plural('volt'),
    Hz: same('hertz'),
    g: plural('grama'),
    Pa: ['pascal', 'pascais'],
    t: plural('tonelada'),
    dB: ['decibel', 'decibéis'],
    kcal: plural('quilocaloria'),
  },
  square: ([one, many]) => [`${one} quadrado`, `${many} quadrados`],
  cubic: ([one, many]) => [`${one} cúbico`, `${many} cúbicos`],
  fractions: {
    '½': ['meio', ' e meio'],
    '¼': ['um quarto', ' e um quarto'],
    '¾': ['três quartos', ' e três quartos'],
    '⅓': ['um terço', ' e um terço'],
    '⅔': ['dois terços', ' e dois terços'],
  },
  numbered:
    'século|Século|Capítulo|capítulo|Tomo|tomo|Parte|parte|Ato|ato|Cena|cena|Livro|livro|Artigo|artigo|Volume|volume',
  regnal: (number, say) => (number <= 10 ? say.ordinal(number) : say.cardinal(number)),
};

function portugueseDay(day: number, say: Say): string {
  return day === 1 ? 'primeiro' : say.cardinal(day);
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** By the first part of a tag. */
export const NUMBER_LANGUAGES: Readonly<Record<string, NumberLanguage>> = {
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  pt: PORTUGUESE,
};
