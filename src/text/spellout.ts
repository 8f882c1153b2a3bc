/**
 * Numbers in words by the tables of Unicode CLDR, "Rule-Based Number Format":
 * https://unicode.org/reports/tr35/tr35-numbers.html#6-rule-based-number-formatting
 */

/** The content of a file of the package `cldr-rbnf`. */
export interface SpelloutData {
  readonly rbnf: { readonly rbnf: { readonly SpelloutRules: Readonly<Record<string, unknown>> } };
}

interface Rule {
  readonly base: number;
  /** The power of the radix that splits a number into multiple and remainder: 100 for "two hundred one". */
  readonly divisor: number;
  readonly text: string;
}

/** The first number that is not written in words. */
export const TOO_LARGE = 1e15;

/** The spell-out rules of one language. */
export class Spellout {
  readonly #data: Readonly<Record<string, unknown>>;
  readonly #plural: Intl.PluralRules;
  readonly #sets = new Map<string, readonly Rule[]>();

  constructor(data: SpelloutData, language: string) {
    this.#data = data.rbnf.rbnf.SpelloutRules;
    this.#plural = new Intl.PluralRules(language);
  }

  /**
   * @param number whole, from 0 up to `TOO_LARGE`
   * @param set the name of a rule set without "%spellout-": `cardinal-feminine`
   * @throws RangeError for a rule set that does not exist
   */
  words(number: number, set: string): string {
    return this.#spell(number, `%spellout-${set}`).replaceAll('\u00ad', '');
  }

  #spell(number: number, set: string): string {
    const rules = this.#rules(set);
    const at = rules.findLastIndex(({ base }) => base <= number);
    const rule = rules[at];
    if (!rule) throw new RangeError(`${set} has no word for ${number}`);
    const { base, divisor, text } = rule;
    const isWhole = number % divisor === 0;
    // This rule needs a remainder: "ciento uno", but "cien".
    const isForRest = text.includes('→') && isWhole && base % divisor !== 0;
    return this.#filled((isForRest && rules[at - 1]) || rule, number, set);
  }

  #filled({ text, divisor }: Rule, number: number, set: string): string {
    const rest = number % divisor;
    const times = Math.floor(number / divisor);
    return text
      .replace(/\[([^\]]*)\]/gu, rest === 0 ? '' : '$1')
      .replace(/\$\(cardinal,([^)]*)\)\$/gu, (_, forms: string) => this.#form(forms, times))
      .replace(/←([^←]*)←|→([^→]*)→|=([^=]*)=/gu, (_, before?: string, after?: string, same?: string) => {
        if (same !== undefined) return this.#spell(number, same);
        return before === undefined ? this.#spell(rest, after || set) : this.#spell(times, before || set);
      });
  }

  /** @param forms `one{million}other{millions}` */
  #form(forms: string, count: number): string {
    const named = new Map([...forms.matchAll(/(\w+)\{([^}]*)\}/gu)].map(([, name, form]) => [name, form]));
    return named.get(this.#plural.select(count)) ?? named.get('other') ?? '';
  }

  #rules(set: string): readonly Rule[] {
    const rules = this.#sets.get(set) ?? rulesIn(this.#data[set]);
    this.#sets.set(set, rules);
    return rules;
  }
}

/** Parses the rules of a set, except those for negative numbers and fractions. */
function rulesIn(written: unknown): readonly Rule[] {
  if (!Array.isArray(written)) return [];
  return written.flatMap(([key, text]: readonly [string, string]): Rule[] => {
    const [, digits, radix = '10'] = /^(\d+)(?:\/(\d+))?$/u.exec(key) ?? [];
    if (digits === undefined) return [];
    const base = Number(digits);
    // A leading apostrophe protects the space after it.
    return [
      { base, divisor: divisorOf(base, Number(radix)), text: text.replace(/;$/u, '').replace(/^'/u, '') },
    ];
  });
}

function divisorOf(base: number, radix: number): number {
  let divisor = 1;
  while (divisor * radix <= base) divisor *= radix;
  return divisor;
}
