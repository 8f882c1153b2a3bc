/** Measures how much text the blocks of a page hold, for `html-main.ts`. */
import { type Attributes, BLOCKS, headingLevel, localName, meaningsOf } from './html-elements.ts';
import type { MarkupHandler } from './html-parse.ts';

/** A block of a page. Amounts are characters without white space; an East Asian character counts as three. */
export interface Region {
  readonly name: string;
  readonly parent: Region | undefined;
  /** The index of the region, in page order. */
  readonly at: number;
  /** The index after the last region inside. */
  end: number;
  /** 1 for the highest heading, 0 for other regions. */
  readonly level: number;
  /** True if it declares itself the text of the page, or one of its texts. */
  readonly isMain: boolean;
  /** True if it declares itself to be beside the text of the page. */
  readonly isBeside: boolean;
  readonly isDialog: boolean;
  /** The words of its `id` and classes, in lower case. */
  readonly signs: ReadonlySet<string>;
  /** Amount of text outside links, without inner regions. */
  own: number;
  ownLinked: number;
  lastCharacter: string;
}

const MAIN = new Set(['main', 'article']);
const BESIDE = new Set('form nav aside footer navigation complementary contentinfo search banner'.split(' '));
const DIALOGS = new Set(['dialog', 'alertdialog']);
/** Further blocks count towards the region around them. */
const MOST_REGIONS = 200_000;

/** Collects the regions of a page, and how much text they have. */
export class Regions implements MarkupHandler {
  readonly all: Region[] = [];
  /** For each open element, the region around it if it is a region itself. */
  readonly #around: (Region | undefined)[] = [];
  #current: Region;
  #links = 0;

  constructor() {
    this.#current = this.#add('html', {}, undefined);
  }

  get current(): Region {
    return this.#current;
  }

  open(tag: string, attributes: Attributes): void {
    const name = localName(tag);
    if (name === 'a') this.#links += 1;
    const isRegion = BLOCKS.has(name) && this.all.length < MOST_REGIONS;
    this.#around.push(isRegion ? this.#current : undefined);
    if (isRegion) this.#current = this.#add(name, attributes, this.#current);
  }

  text(text: string): void {
    const amount = amountOf(text);
    if (amount === 0) return;
    this.#current.lastCharacter = text.trimEnd().slice(-1);
    if (this.#links > 0) this.#current.ownLinked += amount;
    else this.#current.own += amount;
  }

  close(tag: string): void {
    if (localName(tag) === 'a') this.#links -= 1;
    const around = this.#around.pop();
    if (!around) return;
    this.#current.end = this.all.length;
    this.#current = around;
  }

  #add(name: string, attributes: Attributes, parent: Region | undefined): Region {
    const meanings = [name, ...meaningsOf(attributes)];
    const region: Region = {
      name,
      parent,
      at: this.all.length,
      end: Number.POSITIVE_INFINITY,
      level: headingLevel(name) ?? 0,
      isMain: meanings.some((meaning) => MAIN.has(meaning)) || /articlebody/i.test(attributes.itemprop ?? ''),
      isBeside: meanings.some((meaning) => BESIDE.has(meaning)),
      isDialog: meanings.some((meaning) => DIALOGS.has(meaning)),
      signs: signsOf(attributes),
      own: 0,
      ownLinked: 0,
      lastCharacter: '',
    };
    this.all.push(region);
    return region;
  }
}

function amountOf(text: string): number {
  let amount = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0x20 && code !== 0xa0) amount += isWide(code) ? 3 : 1;
  }
  return amount;
}

/** True for kana, Chinese characters and Hangul. */
function isWide(code: number): boolean {
  return (code >= 0x3040 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af);
}

/** UTF-16 units of the id and the classes that are looked at. */
const LONGEST_SIGNS = 500;
/** Classes that say what a page is about or has, and those of page builders. */
const NO_SIGN = /^(?:tag|category|cat)-|elementor|(?:^|[-_])(?:has|no|with|js)[-_]/u;
/** Words that may precede "comments" in the name of a comment section. */
const OWNER =
  /^(?:post|entry|article|users?|readers?|blog|fb|facebook|wp|disqus|the|section|block|list|js|div|area)$/u;

function signsOf({ id = '', class: classes = '' }: Attributes): ReadonlySet<string> {
  const signs = new Set<string>();
  if (id === '' && classes === '') return signs;
  for (const name of `${id} ${classes}`.slice(0, LONGEST_SIGNS).split(/\s+/u)) {
    if (NO_SIGN.test(name)) continue;
    const words = name
      .replace(/([a-z])([A-Z])/gu, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/u);
    for (const [at, word] of words.entries())
      if (at === 0 || !word.startsWith('comment') || OWNER.test(words[at - 1] ?? '')) signs.add(word);
  }
  return signs;
}
