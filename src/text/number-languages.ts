/** Words and rules around numbers, by language. Number words, units, months and most currencies come from Unicode CLDR. */
import { entriesOf } from '../kit/words.ts';
import type { SpelloutData } from './spellout.ts';

/** A noun that is counted, in singular and plural. */
export type Forms = readonly [one: string, many: string];
type Table<T> = Readonly<Record<string, T>>;

/** Writes numbers of a language in words. */
export interface Say {
  /** The cardinal by itself, or with the gender of the noun that is counted. */
  cardinal(number: number, gender?: 'masculine' | 'feminine'): string;
  ordinal(number: number, ending?: string): string;
}

export interface NumberLanguage {
  load(tag: string): Promise<SpelloutData>;
  /** CLDR rule sets of cardinals: by themselves, with masculine nouns, with feminine nouns. */
  readonly cardinals: readonly [plain: string, masculine: string, feminine: string];
  /** CLDR rule set of years from 1100 to 1999 and from 2010 to 2099; other years are cardinals. */
  readonly year?: string;
  /** CLDR rule sets of ordinals by the letters after the digits. */
  readonly ordinals: Table<string>;
  /** CLDR rule set of an ordinal by itself. */
  readonly ordinal: string;
  readonly point: string;
  readonly comma: string;
  /** True if decimals are said digit by digit; otherwise they are said as a number. */
  readonly isDigitwise?: boolean;
  /** True if a space may separate thousands. */
  readonly hasSpaces?: boolean;
  readonly minus: string;
  readonly plus: string;
  readonly to: string;
  readonly slash: string;
  /** Matches feminine nouns. */
  readonly feminine: RegExp;
  /** Matches nouns after a number with which the number agrees. */
  readonly counted?: RegExp;
  /** True if only the number 1 agrees with its noun. */
  readonly onlyOneAgrees?: boolean;
  /** Returns the day before a month in words. */
  day(day: number, say: Say, around: { readonly before: string; readonly after: string }): string;
  /** The text between day, month and year. Without it, the month comes first, as in English. */
  readonly inDates?: string;
  time(hour: number, minute: number, say: Say): string;
  /** Matches words before a time. Without one, an hour of one digit may be something else: "John 3:16". */
  readonly timeWords?: RegExp;
  /** Pattern of the word after a time, which `time` says itself. */
  readonly hourSign?: string;
  readonly currencies: Table<Forms>;
  /** The names of hundredths by currency sign. */
  readonly cents: Table<Forms>;
  /** The word between an amount and its hundredths. Without it, the hundredths are not named: "5 Euro 50". */
  readonly and?: string;
  /** Words and abbreviations of large numbers, such as "million". */
  readonly scales: Table<Forms>;
  /** Returns the word between "million" and a currency. */
  ofScale(currency: string): string;
  readonly units: Table<Forms>;
  /** Unit prefixes: kilo, mega, giga, milli, micro, hecto. */
  readonly prefixes: string;
  readonly square: (unit: Forms) => Forms;
  readonly cubic: (unit: Forms) => Forms;
  /** Fractions such as "½": by themselves, and after a whole number. */
  readonly fractions: Table<Forms>;
  /** Pattern of words before a Roman numeral that is said as a cardinal. */
  readonly numbered: string;
  /** Returns a Roman numeral after the name of a ruler. */
  regnal(number: number, say: Say): string;
  /** Pattern of the text after a Roman numeral that is an ordinal: "XXe siècle", "XX secolo". */
  readonly century?: string;
}

/** Parses `km Kilometer, t Tonne|Tonnen`. A word without `|` has one form. */
function forms(table: string): Table<Forms> {
  const rows = entriesOf(table).map(([sign, words]): [string, Forms] => {
    const [one = '', many = one] = words.split('|');
    return [sign, [one, many]];
  });
  return Object.fromEntries(rows);
}

const twoDigits = (minute: number, zero: string, say: Say) =>
  `${minute < 10 ? `${zero} ` : ''}${say.cardinal(minute)}`;

/** Returns the ending of a German ordinal by the words before it. */
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
  feminine:
    /^(?!(?:Auge|Ende|Experte|Gebäude|Gedanke|Junge|Käse|Kollege|Kunde|Name)(?!\p{L}))(?:\p{Lu}\p{L}*(?:e|ung|heit|keit|schaft|[ts]ion|tät)|Million|Person|Frau|Mutter|Schwester|Tochter|Nacht|Stadt|Hand|Tür|Zeit)(?!\p{L})/u,
  counted: /^(?!(?:Die|Eine|Keine)$)\p{Lu}\p{L}+$/u,
  onlyOneAgrees: true,
  inDates: ' ',
  day: (day, say, { before }) => say.ordinal(day, germanEnding(before)),
  time: (hour, minute, say) =>
    `${say.cardinal(hour, 'masculine')} Uhr${minute === 0 ? '' : ` ${say.cardinal(minute)}`}`,
  timeWords: /\b(?:um|ab|bis|gegen|von|seit|vor|nach|und)\s$/iu,
  hourSign: '\\s?Uhr(?!\\p{L})',
  currencies: forms('$ Dollar, € Euro, £ Pfund, ¥ Yen'),
  cents: forms('$ Cent, € Cent, £ Penny|Pence'),
  scales: forms(`
    Mio. Million|Millionen, Mio Million|Millionen, Mrd. Milliarde|Milliarden, Mrd Milliarde|Milliarden,
    Millionen Millionen, Milliarden Milliarden, Tausend Tausend, Tsd. Tausend`),
  ofScale: () => '',
  prefixes: 'Kilo Mega Giga Milli Mikro Hekto',
  units: forms(`
    W Watt, Wh Wattstunde|Wattstunden, V Volt, Hz Hertz, g Gramm, Pa Pascal, t Tonne|Tonnen, dB Dezibel,
    kcal Kilokalorie|Kilokalorien`),
  square: ([one, many]) => [`Quadrat${one.toLowerCase()}`, `Quadrat${many.toLowerCase()}`],
  cubic: ([one, many]) => [`Kubik${one.toLowerCase()}`, `Kubik${many.toLowerCase()}`],
  fractions: forms(`
    ½ ein halb|einhalb, ¼ ein Viertel| ein Viertel, ¾ drei Viertel| drei Viertel, ⅓ ein Drittel| ein Drittel,
    ⅔ zwei Drittel| zwei Drittel`),
  numbered: 'Kapitel|Band|Teil|Abschnitt|Akt|Szene|Buch|Artikel|Anhang|Weltkrieg|Tafel',
  regnal: (number, say) => `der ${capital(say.ordinal(number))}`,
};

const ENGLISH: NumberLanguage = {
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
  day: (day, say, { before, after }) =>
    `${/\b(?:the|a)\s$/iu.test(before) ? '' : 'the '}${say.ordinal(day)}${/^\sof\b/u.test(after) ? '' : ' of'}`,
  time: (hour, minute, say) =>
    minute === 0 ? `${say.cardinal(hour)} o'clock` : `${say.cardinal(hour)} ${twoDigits(minute, 'oh', say)}`,
  currencies: forms('$ dollar|dollars, € euro|euros, £ pound|pounds, ¥ yen'),
  cents: forms('$ cent|cents, € cent|cents, £ penny|pence'),
  and: 'and',
  scales: forms(`
    thousand thousand, million million, billion billion, trillion trillion, k thousand, K thousand,
    m million, M million, bn billion, B billion, tn trillion`),
  ofScale: () => '',
  prefixes: 'kilo mega giga milli micro hecto',
  units: forms(`
    W watt|watts, Wh watt hour|watt hours, V volt|volts, Hz hertz, g gram|grams, Pa pascal|pascals,
    t metric ton|metric tons, dB decibel|decibels, kcal kilocalorie|kilocalories`),
  square: ([one, many]) => [`square ${one}`, `square ${many}`],
  cubic: ([one, many]) => [`cubic ${one}`, `cubic ${many}`],
  fractions: forms(`
    ½ a half| and a half, ¼ a quarter| and a quarter, ¾ three quarters| and three quarters,
    ⅓ a third| and a third, ⅔ two thirds| and two thirds`),
  numbered: 'Chapter|Part|Book|Volume|Act|Scene|Section|Article|Appendix|War|Type|Phase|Title|Figure|Table',
  regnal: (number, say) => `the ${capital(say.ordinal(number))}`,
};

const FRENCH: NumberLanguage = {
  load: async (tag) => {
    if (/^fr-BE\b/iu.test(tag))
      return (await import('cldr-rbnf/rbnf/fr-BE.json', { with: { type: 'json' } })).default;
    if (/^fr-CH\b/iu.test(tag))
      return (await import('cldr-rbnf/rbnf/fr-CH.json', { with: { type: 'json' } })).default;
    return (await import('cldr-rbnf/rbnf/fr.json', { with: { type: 'json' } })).default;
  },
  cardinals: ['cardinal-masculine', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: Object.fromEntries(
    entriesOf(
      'er ordinal-masculine, re ordinal-feminine, ère ordinal-feminine, e ordinal-masculine, ème ordinal-masculine, eme ordinal-masculine',
    ),
  ),
  ordinal: 'ordinal-masculine',
  point: 'point',
  comma: 'virgule',
  hasSpaces: true,
  minus: 'moins',
  plus: 'plus',
  to: 'à',
  slash: 'barre',
  feminine:
    /^(?:heure|minute|seconde|milliseconde|microseconde|tonne|semaine|année|journée|livre|once|couronne|roupie|calorie|kilocalorie|fois|page|personne|femme|fille|maison|chose|partie|ville|équipe|voiture|question|vie|table|chambre|place|voix|idée|étoile|nuit|main|chanson|lettre|ligne|école|\p{L}+[ts]ion)s?(?!\p{L})/u,
  counted:
    /^(?:heure|minute|seconde|tonne|semaine|année|journée|couronne|fois|page|personne|femme|fille|maison|chose|partie|ville|équipe|voiture|question|table|chambre|place|voix|idée|étoile|nuit|main|chanson|lettre|ligne|école|\p{L}+[ts]ion)s?$/u,
  day: (day, say) => (day === 1 ? 'premier' : say.cardinal(day)),
  inDates: ' ',
  time: (hour, minute, say) =>
    `${say.cardinal(hour, 'feminine')} heure${hour < 2 ? '' : 's'}${minute === 0 ? '' : ` ${say.cardinal(minute, 'feminine')}`}`,
  currencies: forms('$ dollar|dollars, € euro|euros, £ livre|livres, ¥ yen|yens'),
  cents: forms('$ cent|cents, € centime|centimes, £ penny|pence'),
  scales: forms(`
    million million, millions millions, milliard milliard, milliards milliards, M million|millions,
    Md milliard|milliards, Mds milliard|milliards`),
  ofScale: (currency) => (/^[aeiouyé]/u.test(currency) && currency !== 'yens' ? "d'" : 'de '),
  prefixes: 'kilo méga giga milli micro hecto',
  units: forms(`
    W watt|watts, Wh wattheure|wattheures, V volt|volts, Hz hertz, g gramme|grammes, Pa pascal|pascals,
    t tonne|tonnes, dB décibel|décibels, kcal kilocalorie|kilocalories`),
  square: ([one, many]) => [`${one} carré`, `${many} carrés`],
  cubic: ([one, many]) => [`${one} cube`, `${many} cubes`],
  fractions: forms(`
    ½ un demi| et demi, ¼ un quart| un quart, ¾ trois quarts| trois quarts, ⅓ un tiers| un tiers,
    ⅔ deux tiers| deux tiers`),
  numbered:
    'Chapitre|chapitre|Tome|tome|Partie|partie|Acte|acte|Scène|scène|Livre|livre|Article|article|Annexe|annexe|Volume|volume',
  regnal: (number, say) => (number === 1 ? 'premier' : say.cardinal(number)),
  century: '(?:e|ème|ᵉ)(?=\\s(?:siècle|arrondissement|République|dynastie)s?)',
};

const SPANISH: NumberLanguage = {
  load: async () => (await import('cldr-rbnf/rbnf/es.json', { with: { type: 'json' } })).default,
  cardinals: ['numbering', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: Object.fromEntries(
    entriesOf(
      'º ordinal-masculine, ª ordinal-feminine, er ordinal-masculine-adjective, ro ordinal-masculine, ra ordinal-feminine',
    ),
  ),
  ordinal: 'ordinal-masculine',
  point: 'punto',
  comma: 'coma',
  hasSpaces: true,
  minus: 'menos',
  plus: 'más',
  to: 'a',
  slash: 'barra',
  feminine:
    /^(?!(?:días?|idiomas?|problemas?|programas?|sistemas?|temas?)(?!\p{L}))(?:\p{L}*as?|ve(?:z|ces)|mujer(?:es)?|manos?|noches?|partes?|\p{L}+(?:[dt]ad(?:es)?|[cs]ión|[cs]iones))(?!\p{L})/u,
  counted:
    /^(?!(?:más|además|jamás|menos|entonces|antes|para|como|contra|hasta|hacia|cuando|pero|cada|esta|era|ahora|luego|cuanto|solo|todo|nada|las|los|unos|unas)$)(?:\p{Ll}{2,20}(?:[ao]s|es|[ao]|[dt]ad|[cs]ión)|mes|vez|mujer|noche|parte)$/u,
  day: (day, say) => say.cardinal(day),
  inDates: ' de ',
  time: (hour, minute, say) =>
    `${say.cardinal(hour, 'feminine')}${minute === 0 ? '' : ` ${twoDigits(minute, 'cero', say)}`}`,
  currencies: forms('$ dólar|dólares, € euro|euros, £ libra|libras, ¥ yen|yenes'),
  cents: forms('$ centavo|centavos, € céntimo|céntimos, £ penique|peniques'),
  and: 'con',
  scales: forms('millón millón, millones millones, mil mil, M millón|millones'),
  ofScale: () => 'de ',
  prefixes: 'kilo mega giga mili micro hecto',
  units: forms(`
    W vatio|vatios, Wh vatio hora|vatios hora, V voltio|voltios, Hz hercio|hercios, g gramo|gramos,
    Pa pascal|pascales, t tonelada|toneladas, dB decibelio|decibelios, kcal kilocaloría|kilocalorías`),
  square: ([one, many]) => [`${one} cuadrado`, `${many} cuadrados`],
  cubic: ([one, many]) => [`${one} cúbico`, `${many} cúbicos`],
  fractions: forms(`
    ½ medio| y medio, ¼ un cuarto| y cuarto, ¾ tres cuartos| y tres cuartos, ⅓ un tercio| y un tercio,
    ⅔ dos tercios| y dos tercios`),
  numbered:
    'siglo|Siglo|Capítulo|capítulo|Tomo|tomo|Parte|parte|Acto|acto|Escena|escena|Libro|libro|Artículo|artículo|Volumen|volumen|Mundial',
  regnal: (number, say) => (number <= 10 ? say.ordinal(number) : say.cardinal(number)),
};

const ITALIAN: NumberLanguage = {
  load: async () => (await import('cldr-rbnf/rbnf/it.json', { with: { type: 'json' } })).default,
  cardinals: ['numbering', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: { º: 'ordinal-masculine', ª: 'ordinal-feminine' },
  ordinal: 'ordinal-masculine',
  point: 'punto',
  comma: 'virgola',
  minus: 'meno',
  plus: 'più',
  to: 'a',
  slash: 'barra',
  feminine: /^(?:\p{L}*(?:a|[gsz]ione|tà)|mano|notte|parte|voce)(?!\p{L})/u,
  counted:
    /^(?!(?:dalla|della|nella|alla|sulla|prima|dopo|come|sono|ogni|anche|quando|una|uno)$)(?:\p{Ll}{3,20}(?:[aoe]|tà)|ora|città)$/u,
  onlyOneAgrees: true,
  day: (day, say) => (day === 1 ? 'primo' : say.cardinal(day)),
  inDates: ' ',
  time: (hour, minute, say) =>
    `${hour === 1 ? 'una' : say.cardinal(hour)}${minute === 0 ? '' : ` e ${say.cardinal(minute)}`}`,
  currencies: forms('$ dollaro|dollari, € euro, £ sterlina|sterline, ¥ yen'),
  cents: forms('$ centesimo|centesimi, € centesimo|centesimi, £ penny|pence'),
  and: 'e',
  scales: forms(`
    milione milione, milioni milioni, miliardo miliardo, miliardi miliardi, mln milione|milioni,
    mld miliardo|miliardi`),
  ofScale: () => 'di ',
  prefixes: 'kilo mega giga milli micro etto',
  units: forms(`
    W watt, Wh wattora, V volt, Hz hertz, g grammo|grammi, Pa pascal, t tonnellata|tonnellate, dB decibel,
    kcal chilocaloria|chilocalorie`),
  square: ([one, many]) => [`${one} quadrato`, `${many} quadrati`],
  cubic: ([one, many]) => [`${one} cubo`, `${many} cubi`],
  fractions: forms(`
    ½ mezzo| e mezzo, ¼ un quarto| e un quarto, ¾ tre quarti| e tre quarti, ⅓ un terzo| e un terzo,
    ⅔ due terzi| e due terzi`),
  numbered:
    'Capitolo|capitolo|Tomo|tomo|Parte|parte|Atto|atto|Scena|scena|Libro|libro|Articolo|articolo|Volume|volume',
  regnal: (number, say) => say.ordinal(number),
  century: '(?=\\s(?:secolo|secoli))',
};

const PORTUGUESE: NumberLanguage = {
  load: async (tag) =>
    /^pt-(?!BR)/iu.test(tag)
      ? (await import('cldr-rbnf/rbnf/pt-PT.json', { with: { type: 'json' } })).default
      : (await import('cldr-rbnf/rbnf/pt.json', { with: { type: 'json' } })).default,
  cardinals: ['cardinal-masculine', 'cardinal-masculine', 'cardinal-feminine'],
  ordinals: { º: 'ordinal-masculine', ª: 'ordinal-feminine', o: 'ordinal-masculine', a: 'ordinal-feminine' },
  ordinal: 'ordinal-masculine',
  point: 'ponto',
  comma: 'vírgula',
  minus: 'menos',
  plus: 'mais',
  to: 'a',
  slash: 'barra',
  feminine:
    /^(?!(?:dias?|idiomas?|problemas?|programas?|sistemas?|temas?|\p{L}*gramas?|coraç(?:ão|ões))(?!\p{L}))(?:\p{L}*as?|vez(?:es)?|mulher(?:es)?|mãos?|mães?|noites?|partes?|\p{L}+(?:dades?|[çs]ão|[çs]ões))(?!\p{L})/u,
  counted:
    /^(?!(?:mais|demais|jamais|menos|antes|para|como|contra|cada|quando|entre|era|agora|logo|todo|nada|das|dos|nas|nos|uns|umas|pela|pelo|pelas|pelos)$)(?:\p{Ll}{2,20}(?:[ao]s|es|[ao]|dade)|vez|mulher|mãe|noite|parte)$/u,
  day: (day, say) => (day === 1 ? 'primeiro' : say.cardinal(day)),
  inDates: ' de ',
  time: (hour, minute, say) =>
    minute === 0
      ? `${say.cardinal(hour, 'feminine')} hora${hour < 2 ? '' : 's'}`
      : `${say.cardinal(hour, 'feminine')} e ${say.cardinal(minute)}`,
  currencies: forms('$ dólar|dólares, € euro|euros, £ libra|libras, ¥ iene|ienes, R$ real|reais'),
  cents: forms('$ centavo|centavos, € cêntimo|cêntimos, £ péni|pence, R$ centavo|centavos'),
  and: 'e',
  scales: forms(`
    milhão milhão, milhões milhões, bilhão bilhão, bilhões bilhões, mil mil, mi milhão|milhões,
    bi bilhão|bilhões`),
  ofScale: () => 'de ',
  prefixes: 'quilo mega giga mili micro hecto',
  units: forms(`
    W watt|watts, Wh watt-hora|watts-hora, V volt|volts, Hz hertz, g grama|gramas, Pa pascal|pascais,
    t tonelada|toneladas, dB decibel|decibéis, kcal quilocaloria|quilocalorias`),
  square: ([one, many]) => [`${one} quadrado`, `${many} quadrados`],
  cubic: ([one, many]) => [`${one} cúbico`, `${many} cúbicos`],
  fractions: forms(`
    ½ meio| e meio, ¼ um quarto| e um quarto, ¾ três quartos| e três quartos, ⅓ um terço| e um terço,
    ⅔ dois terços| e dois terços`),
  numbered:
    'século|Século|Capítulo|capítulo|Tomo|tomo|Parte|parte|Ato|ato|Cena|cena|Livro|livro|Artigo|artigo|Volume|volume',
  regnal: (number, say) => (number <= 10 ? say.ordinal(number) : say.cardinal(number)),
};

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Number languages by the first subtag of a BCP 47 tag. */
export const NUMBER_LANGUAGES: Readonly<Record<string, NumberLanguage>> = {
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fr: FRENCH,
  it: ITALIAN,
  pt: PORTUGUESE,
};
