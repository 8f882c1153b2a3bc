/** Finds the main text of a web page among menus, teasers and comments. */
import type { Region } from './html-regions.ts';

/** Characters outside links that make a block a paragraph of prose. */
const PROSE = 66;
/** Characters of prose. A page with fewer is read without removing its lists and edges. */
const FEWEST = 250;

/**
 * Returns the regions of a page that are its main text. Amounts of prose decide: what an element, a role or a name claims
 * only counts where enough prose stays.
 */
export function mainRegions(all: readonly Region[]): ReadonlySet<Region> {
  const page = new MeasuredPage(all);
  leaveOutBeside(page);
  leaveOutNamed(page);
  leaveOutTeasers(page);
  const main = mainOf(page);
  const kept = withHeadline(page, main);
  if (proseIn(kept) < FEWEST) return kept;
  const around = containersOfProse(kept);
  dropLinks(page, kept, around);
  dropEdges(kept, around);
  dropBareHeadings(all, kept);
  return kept;
}

/** True if less than half of the prose of a page is its text. */
export function leavesOutMost(all: readonly Region[], text: ReadonlySet<Region>): boolean {
  return 2 * proseIn(text) < proseIn(all);
}

function proseIn(regions: Iterable<Region>): number {
  return [...regions].reduce((sum, region) => sum + proseOf(region), 0);
}

/** What a region contains, including all inner regions that are not left out. */
interface Amounts {
  /** Characters outside links. */
  words: number;
  linked: number;
  /** Characters of paragraphs of prose. */
  prose: number;
  /** The number of first-level headings. */
  titles: number;
  linkedHeadings: number;
}

const NOTHING: Amounts = { words: 0, linked: 0, prose: 0, titles: 0, linkedHeadings: 0 };
const AMOUNTS = Object.keys(NOTHING) as (keyof Amounts)[];

class MeasuredPage {
  readonly all: readonly Region[];
  readonly root: Region;
  readonly #out = new Set<Region>();
  #amounts: readonly Amounts[] = [];

  constructor(all: readonly Region[]) {
    this.all = all;
    this.root = all[0] as Region;
    this.#measure();
  }

  of(region: Region): Amounts {
    return this.#amounts[region.at] ?? NOTHING;
  }

  get whole(): Amounts {
    return this.of(this.root);
  }

  isOut(region: Region): boolean {
    return this.#out.has(region);
  }

  /**
   * Leaves out regions with everything in them, but undoes it if too little prose stays. The headline always stays.
   * @param share of the prose that must stay
   */
  leaveOut(share: number, isMeant: (region: Region) => boolean): void {
    const before = this.whole;
    const out: Region[] = [];
    for (const region of this.all) {
      const { parent } = region;
      if (!parent || isRoot(region) || this.isOut(region)) continue;
      const isInside = this.isOut(parent);
      if (!isInside && (!isMeant(region) || this.holdsHeadline(region))) continue;
      this.#out.add(region);
      out.push(region);
    }
    if (out.length === 0) return;
    this.#measure();
    const { prose, words } = this.whole;
    if (words > 0 && prose >= share * before.prose && (before.prose > 0 || words >= share * before.words))
      return;
    for (const region of out) this.#out.delete(region);
    this.#measure();
  }

  /** True for a region around the only headline of the page. */
  holdsHeadline(region: Region): boolean {
    const { titles } = this.whole;
    return titles === 1 && this.of(region).titles === 1;
  }

  #measure(): void {
    const amounts = this.all.map(ownAmounts);
    for (const region of this.all.toReversed()) {
      const inner = amounts[region.at];
      const outer = region.parent && amounts[region.parent.at];
      if (!inner || !outer || this.isOut(region)) continue;
      for (const amount of AMOUNTS) outer[amount] += inner[amount];
    }
    this.#amounts = amounts;
  }
}

function ownAmounts(region: Region): Amounts {
  return {
    words: region.own,
    linked: region.ownLinked,
    prose: proseOf(region),
    titles: Number(isTitle(region)),
    linkedHeadings: Number(isLinkedHeading(region)),
  };
}

function proseOf({ own, ownLinked }: Region): number {
  return own >= PROSE && ownLinked < own ? own : 0;
}

function isRoot({ name }: Region): boolean {
  return name === 'html' || name === 'body';
}

function isLinkedHeading({ level, own, ownLinked }: Region): boolean {
  return level > 0 && own === 0 && ownLinked > 10;
}

function leaveOutBeside(page: MeasuredPage): void {
  const { prose, words } = page.whole;
  const isMost = (region: Region) =>
    prose > 0 ? page.of(region).prose > 0.6 * prose : 2 * page.of(region).words > words;
  page.leaveOut(0.1, (region) => region.isDialog || (region.isBeside && !isMost(region)));
}

const COMMENTS = 'comment comments commentlist respond disqus';
/** Names of parts that are not the main text, each with a condition. */
const SIGNS: readonly { readonly names: string; holds?(amounts: Amounts): boolean }[] = [
  { names: COMMENTS },
  {
    names:
      'newsletter subscribe subscription signup sidebar cookie cookies consent gdpr onetrust cookiebot usercentrics didomi ' +
      'breadcrumb breadcrumbs navbar navigation footer colophon advert advertisement sponsor sponsored ' +
      'tagcloud byline dateline pagination pager toolbar paywall outbrain taboola relatedposts ' +
      'disclosure affiliate disclaimer authorbox postmetadata sociable copyrights crumbs',
  },
  {
    names: 'share sharing social socials sharedaddy print',
    holds: ({ words }) => words < 130,
  },
  {
    names: 'meta utility menu nav widget widgets author copyright tags banner search login modal popup cta',
    holds: ({ prose, linked }) => prose === 0 || linked > 0,
  },
  {
    names:
      'teaser teasers related recommended recommendations recommendation popular trending promo promotion ads ad',
    holds: ({ words, linked }) => linked > 0.1 * words,
  },
];
/** The share of the prose from which on parts with one name are the text itself. */
const MOST_NAMED = 0.5;

function leaveOutNamed(page: MeasuredPage): void {
  for (const { names, holds } of SIGNS)
    for (const name of names.split(' ')) {
      const areComments = names === COMMENTS;
      const most = areComments ? 1 : MOST_NAMED;
      page.leaveOut(areComments ? 0.1 : 0.5, (region) => {
        if (!region.signs.has(name) || region.level > 0) return false;
        const amounts = page.of(region);
        return amounts.prose <= most * page.whole.prose && (holds?.(amounts) ?? true);
      });
    }
}

/** Characters of a teaser in addition to its heading. */
const LONGEST_TEASER = 500;

/** Leaves out lists of other articles: each has a linked heading and few words. */
function leaveOutTeasers(page: MeasuredPage): void {
  const { linkedHeadings, titles, prose } = page.whole;
  if (linkedHeadings < 2) return;
  const headline =
    titles > 0
      ? undefined
      : page.all.find((region) => !page.isOut(region) && region.level < 3 && isLinkedHeading(region));
  page.leaveOut(0.4, (region) => {
    const amounts = page.of(region);
    if (region.level > 0 || amounts.linkedHeadings === 0 || (headline && holds(region, headline)))
      return false;
    return amounts.prose < 0.3 * prose && amounts.words <= LONGEST_TEASER * amounts.linkedHeadings;
  });
}

function holds(outer: Region, inner: Region): boolean {
  return inner.at >= outer.at && inner.at < outer.end;
}

/** The least shares of prose and of words in the main part; and of words on a page without prose. */
const MAIN_PROSE = 0.7;
const MAIN_WORDS = 0.5;
const FEWEST_WORDS = 0.2;

/** Returns the part that declares itself the text and has most of the prose; otherwise the whole page. */
function mainOf(page: MeasuredPage): Region {
  const { whole, root, all } = page;
  const candidates = all.filter(
    (region) => region.isMain && !page.isOut(region) && page.of(region).words > 0,
  );
  if (whole.prose === 0) {
    const texts = candidates.filter(({ name }) => name === 'article');
    const found = texts.length > 1 ? candidates.find(({ name }) => name === 'main') : candidates.at(-1);
    return found && page.of(found).words >= FEWEST_WORDS * whole.words ? found : root;
  }
  const hasMost = (region: Region) => {
    const { prose, words } = page.of(region);
    return prose >= MAIN_PROSE * whole.prose && words >= MAIN_WORDS * whole.words;
  };
  return candidates.findLast(hasMost) ?? root;
}

/** Ancestors of the main part that may also contain its lead. */
const NEAR = 3;

/** Adds the page's only headline with its header, and paragraphs of a lead, to the main part. */
function withHeadline(page: MeasuredPage, main: Region): Set<Region> {
  const before = page.all.filter((region) => region.at < main.at && !page.isOut(region));
  const titles = page.of(main).titles > 0 ? [] : before.filter(isTitle);
  const title = titles.length === 1 ? titles[0] : undefined;
  const header = title && (ancestors(title).find(({ name }) => name === 'header') ?? title);
  const near = ancestors(main)
    .slice(1, NEAR + 1)
    .filter((region) => !isRoot(region));
  const isLead = (region: Region) =>
    proseOf(region) > 0 &&
    region.ownLinked * 4 < region.own &&
    ((title && region.at > title.at) || near.some((each) => holds(each, region)));
  return new Set(
    page.all.filter(
      (region) =>
        !page.isOut(region) &&
        (holds(main, region) || (header && holds(header, region)) || (region.at < main.at && isLead(region))),
    ),
  );
}

function isTitle({ level, own, ownLinked }: Region): boolean {
  return level === 1 && own + ownLinked > 0;
}

/** Returns the region and all regions around it, from the inside out. */
function ancestors(region: Region): readonly Region[] {
  const all: Region[] = [];
  for (let each: Region | undefined = region; each; each = each.parent) all.push(each);
  return all;
}

/** Returns the regions directly around paragraphs of prose. Their other children belong to the prose. */
function containersOfProse(kept: ReadonlySet<Region>): ReadonlySet<Region> {
  const around = new Set<Region>();
  for (const region of kept) if (proseOf(region) > 0 && region.parent) around.add(region.parent);
  return around;
}

function isIn(containers: ReadonlySet<Region>, { parent }: Region): boolean {
  return parent !== undefined && containers.has(parent);
}

/** The share of linked characters above which a region is a list of links. */
const MOST_LINKED = 0.5;
const ITEMS = new Set(['li', 'tr', 'td', 'th', 'dd', 'dt']);

/** Drops lists of links. Beside a paragraph of prose, they stay: they may be its sources. */
function dropLinks(page: MeasuredPage, kept: Set<Region>, around: ReadonlySet<Region>): void {
  for (const region of page.all) {
    if (!kept.has(region) || region.level > 0 || ITEMS.has(region.name)) continue;
    const { words, linked, prose } = page.of(region);
    if (prose > 0 || linked === 0 || linked <= MOST_LINKED * (linked + words) || page.holdsHeadline(region))
      continue;
    if (!isIn(around, region) || isLineOfLinks(region))
      for (const each of page.all.slice(region.at, region.end)) kept.delete(each);
  }
}

/** Characters. */
const LONG_LINK = 26;
const LISTS = new Set('ul ol table tbody thead dl'.split(' '));

/** True for a row of links below a text, such as its topics; not for lists, and not for sentences with a link. */
function isLineOfLinks({ name, own, ownLinked }: Region): boolean {
  if (LISTS.has(name)) return false;
  return name !== 'p' || (own > 0 && ownLinked >= LONG_LINK);
}

/** Characters. At the edges of the text, a shorter paragraph is a date or a name, unless it ends like a sentence. */
const SHORT = 30;

/** Drops what comes before the first paragraph of prose and after the last one, except headings. */
function dropEdges(kept: Set<Region>, around: ReadonlySet<Region>): void {
  const filled = [...kept].filter(({ own, ownLinked }) => own + ownLinked > 0);
  const first = filled.findIndex((region) => proseOf(region) > 0);
  const last = filled.findLastIndex((region) => proseOf(region) > 0);
  for (const region of filled.slice(0, first)) {
    const stays = region.level > 0 || isIn(around, region) || belongsToText(region);
    if (!stays) kept.delete(region);
  }
  for (const region of filled.slice(last + 1)) {
    const isInText = isIn(around, region) && region.own > 0;
    if (region.level === 0 && !isInText && !belongsToText(region)) kept.delete(region);
  }
}

function belongsToText({ name, own, ownLinked, lastCharacter }: Region): boolean {
  if (name === 'p') return ownLinked === 0 && (own >= SHORT || /[.!?…]/u.test(lastCharacter));
  return ITEMS.has(name) || name === 'pre';
}

/** Characters of a line such as "More on this:". */
const LONGEST_INTRODUCTION = 50;

/** Drops headings and introductory lines whose content was left out. */
function dropBareHeadings(page: readonly Region[], kept: Set<Region>): void {
  let next: Region | undefined;
  let isCut = true;
  for (const region of page.toReversed()) {
    if (region.own + region.ownLinked === 0) continue;
    if (!kept.has(region)) {
      isCut = true;
      continue;
    }
    const leadsTo = next === undefined || (next.level > 0 && next.level <= region.level);
    const isBare =
      region.level > 0 ? isCut && leadsTo : isCut && next !== undefined && isIntroduction(region);
    if (isBare) kept.delete(region);
    else {
      next = region;
      isCut = false;
    }
  }
}

function isIntroduction({ name, own, ownLinked, lastCharacter }: Region): boolean {
  return (
    !ITEMS.has(name) && name !== 'pre' && own + ownLinked < LONGEST_INTRODUCTION && lastCharacter === ':'
  );
}
