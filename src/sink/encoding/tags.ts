import type { Tags } from '../../audio/pcm.ts';

/** What the formats have words for. */
export interface Fields {
  readonly title?: string | undefined;
  readonly album?: string | undefined;
  readonly artist?: string | undefined;
  readonly albumArtist?: string | undefined;
  readonly narrator?: string | undefined;
  readonly date?: string | undefined;
  readonly year?: string | undefined;
  readonly genre?: string | undefined;
  readonly description?: string | undefined;
  readonly comment?: string | undefined;
  readonly language?: string | undefined;
  /** The code of ISO 639-2, such as `deu`. */
  readonly language3?: string | undefined;
  readonly series?: string | undefined;
  readonly seriesPart?: string | undefined;
  /** It has the form `Series #2`, which audiobookshelf reads. */
  readonly grouping?: string | undefined;
  /** It has the form `3/12`. */
  readonly track?: string | undefined;
}

export type Field = keyof Fields;

/** Puts tags into the words of players. A sound without a title and an author has no tags at all. */
export function fieldsOf(tags: Tags): Fields {
  const { title, author, language, date, description, series, narrator, album = title, track } = tags;
  const isNamed = [title, author, album].some((each) => each !== undefined);
  if (!isNamed) return {};
  return {
    title,
    album,
    artist: author,
    albumArtist: author,
    narrator,
    date,
    year: date === undefined ? undefined : /\d{4}/.exec(date)?.[0],
    genre: 'Audiobook',
    description,
    comment: narrator === undefined ? 'Spoken by tts' : `Spoken by tts: ${narrator}`,
    language,
    language3: languageCode(language),
    series: series?.name,
    seriesPart: series?.number,
    grouping: series && `${series.name}${series.number === undefined ? '' : ` #${series.number}`}`,
    track: track && `${track.number}/${track.count}`,
  };
}

/** The languages of ISO 639-1 that books are most often in. */
const CODES: Readonly<Record<string, string>> = {
  ar: 'ara',
  bg: 'bul',
  ca: 'cat',
  cs: 'ces',
  cy: 'cym',
  da: 'dan',
  de: 'deu',
  el: 'ell',
  en: 'eng',
  eo: 'epo',
  es: 'spa',
  et: 'est',
  eu: 'eus',
  fa: 'fas',
  fi: 'fin',
  fr: 'fra',
  ga: 'gle',
  he: 'heb',
  hi: 'hin',
  hr: 'hrv',
  hu: 'hun',
  id: 'ind',
  is: 'isl',
  it: 'ita',
  ja: 'jpn',
  ko: 'kor',
  la: 'lat',
  lt: 'lit',
  lv: 'lav',
  nb: 'nob',
  nl: 'nld',
  no: 'nor',
  pl: 'pol',
  pt: 'por',
  ro: 'ron',
  ru: 'rus',
  sk: 'slk',
  sl: 'slv',
  sr: 'srp',
  sv: 'swe',
  ta: 'tam',
  th: 'tha',
  tr: 'tur',
  uk: 'ukr',
  vi: 'vie',
  zh: 'zho',
};

/** @returns the code of ISO 639-2, such as `deu`, for a language tag */
export function languageCode(tag = ''): string | undefined {
  const [language = ''] = tag.toLowerCase().split('-');
  return /^[a-z]{3}$/.test(language) ? language : CODES[language];
}
