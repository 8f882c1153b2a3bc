/** Formulas in TeX, as Markdown, web pages and books have them. */
import type { ReadOptions } from './reading.ts';

/** Words for TeX commands whose names do not say what they mean. */
const COMMANDS: Readonly<Record<string, string>> = {
  le: 'is at most',
  leq: 'is at most',
  ge: 'is at least',
  geq: 'is at least',
  ne: 'is not equal to',
  neq: 'is not equal to',
  approx: 'is about',
  equiv: 'is equivalent to',
  sim: 'is similar to',
  propto: 'is proportional to',
  ll: 'is much less than',
  gg: 'is much greater than',
  times: 'times',
  cdot: 'times',
  div: 'divided by',
  pm: 'plus or minus',
  mp: 'minus or plus',
  to: 'to',
  rightarrow: 'to',
  Rightarrow: 'implies',
  implies: 'implies',
  iff: 'if and only if',
  in: 'in',
  notin: 'not in',
  subset: 'is a subset of',
  cup: 'union',
  cap: 'intersection',
  forall: 'for all',
  exists: 'there is',
  infty: 'infinity',
  sum: 'sum',
  prod: 'product',
  int: 'integral',
  partial: 'partial',
  nabla: 'nabla',
  ldots: 'and so on',
  dots: 'and so on',
  cdots: 'and so on',
  degree: 'degrees',
  circ: 'degrees',
  ell: 'l',
};

/** Commands that only affect the look of a formula. */
const SHAPES =
  /\\(?:left|right|big|Big|bigg|Bigg|displaystyle|textstyle|limits|nolimits|quad|qquad|mathrm|mathbf|mathbb|mathcal|mathit|text|textbf|textit|operatorname|vec|hat|bar|tilde|overline|underline|boxed)\*?(?![A-Za-z])/gu;
const SPACES = /\\[,;:! ]|~|&|\\\\/gu;
const ENVIRONMENT = /\\(?:begin|end)\{[^{}]*\}(?:\{[^{}]*\})?/gu;

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\\d?t?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}/gu, ' $1 over $2 '],
  [/\\sqrt\s*\[([^[\]]*)\]\s*\{([^{}]*)\}/gu, ' root $1 of $2 '],
  [/\\sqrt\s*\{([^{}]*)\}/gu, ' square root of $1 '],
  [/(\\(?:sum|prod|int))_\{([^{}]*)\}\^\{?([^{}\s]*)\}?/gu, '$1 from $2 to $3 of '],
  [/\^\s*\{?\s*2\s*\}?(?!\d)/gu, ' squared '],
  [/\^\s*\{?\s*3\s*\}?(?!\d)/gu, ' cubed '],
  [/\^\s*(?:\{([^{}]*)\}|(\\?\p{L}+|\p{N}+))/gu, ' to the power of $1$2 '],
  [/_\s*(?:\{([^{}]*)\}|(\\?\p{L}|\p{N}))/gu, ' $1$2 '],
];

const OPERATORS: readonly (readonly [RegExp, string])[] = [
  [/=/gu, ' equals '],
  [/</gu, ' is less than '],
  [/>/gu, ' is greater than '],
  [/\+/gu, ' plus '],
  [/[-−]/gu, ' minus '],
  [/\*/gu, ' times '],
  [/\//gu, ' over '],
  [/(?<=\d)(?=\p{L})|(?<=\p{L})(?=\d)/gu, ' '],
];

/** Levels of nested fractions and roots that are read correctly. */
const DEPTH = 4;

/** Returns what to say for a formula in TeX. */
export function texWords(tex: string, math: ReadOptions['math']): string {
  return math === 'read' ? wordsOfTex(tex) : 'formula';
}

/** Returns what to say for a formula of MathML with this `alttext`, which authors write in words and programs in TeX. */
export function mathWords(alttext = '', math: ReadOptions['math']): string {
  const text = alttext.trim();
  return /[\\{}^_]/u.test(text) ? texWords(text, math) : text || 'formula';
}

/** Reads a TeX formula in words. They are English, like the names of the commands. */
function wordsOfTex(tex: string): string {
  let text = tex.replace(ENVIRONMENT, ' ').replace(SHAPES, ' ').replace(SPACES, ' ');
  // Without long runs of blanks, no pattern takes time in their square.
  for (let depth = 0; depth < DEPTH; depth += 1)
    text = SIGNS.reduce(
      (so, [pattern, words]) => so.replace(pattern, words),
      text.replace(/\s+/gu, ' '),
    ).replace(/\{([^{}\\]*)\}(?!\s*\{)/gu, ' $1 ');
  const named = text.replace(/\\([A-Za-z]+)/gu, (_, name: string) =>
    Object.hasOwn(COMMANDS, name) ? ` ${COMMANDS[name]} ` : ` ${name} `,
  );
  return OPERATORS.reduce((so, [pattern, words]) => so.replace(pattern, words), named)
    .replace(/[\\{}$^_|]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .replace(/ (?=[,.;:)])/gu, '')
    .trim();
}
