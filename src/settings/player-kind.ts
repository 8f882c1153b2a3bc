import type { Kind } from './kind.ts';

/** A word of a command line: pieces in quotes or without, side by side; or one that cannot be read. */
const WORD = /\s*((?:'[^']*'|"(?:\\.|[^"\\])*"|\\[\s'"\\]|[^\s'"])+)|\s*(\S)/gsy;
const PIECE = /'([^']*)'|"((?:\\.|[^"\\])*)"|\\([\s'"\\])|([^\s'"])/gs;

/**
 * A program and its arguments, split as a shell splits words but run without one: quotes keep words together, and
 * nothing is expanded. A backslash that stands before neither a space, a quote nor a backslash is just that, for the
 * sake of paths under Windows. In a config file it may be a list as well.
 */
export const command: Kind<readonly string[]> = {
  allowed: 'a program with its arguments, quotes closed',
  text: split,
  data: (data) => {
    if (typeof data === 'string') return split(data);
    if (!Array.isArray(data) || !data.every((word) => typeof word === 'string')) return undefined;
    return data[0] ? data : undefined;
  },
};

function split(text: string): readonly string[] | undefined {
  const words = [...text.trimEnd().matchAll(WORD)];
  if (words.some(([, word]) => word === undefined)) return undefined;
  const plain = words.map(([, word = '']) => word.replace(PIECE, unquoted));
  return plain[0] ? plain : undefined;
}

type Groups = readonly [string, single?: string, double?: string, escaped?: string, bare?: string];

function unquoted(...[, single, double, escaped, bare]: Groups): string {
  return single ?? double?.replace(/\\([\\"$`])/g, '$1') ?? escaped ?? bare ?? '';
}
