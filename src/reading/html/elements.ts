/** Names of elements, in small letters and without a prefix. */
type Names = ReadonlySet<string>;

const named = (names: string): Names => new Set(names.split(' '));

/** What stands in one of them is a block of its own. */
export const BLOCKS = named(
  'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre search section ' +
    'summary table tbody td tfoot th thead tr ul',
);

/** Nothing in them is meant for a reader of the text. */
export const SILENT = named(
  'audio button canvas command datalist head iframe input map meter noscript progress rp rtc script select style svg ' +
    'template textarea title video',
);

/** The parts of a web page that surround its text. */
export const PAGE_FURNITURE = named('aside footer nav');

/** Roles of a web page's parts that surround its text. */
export const FURNITURE_ROLES = named('navigation complementary contentinfo search banner');

/** Their text ends like a sentence, whatever its last character. */
export const CLOSED = named('caption dd dt figcaption h1 h2 h3 h4 h5 h6 legend li summary td th');

/** They follow each other like lines. */
export const TIGHT = named('dd dt li td th');

/** @returns 1 for the highest heading, `undefined` for other elements */
export function headingLevel(name: string): number | undefined {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : undefined;
}

/** @param name as it is written: `m:math` is `math` */
export function localName(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(colon + 1);
}
