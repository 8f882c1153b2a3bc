import { type TtsError, usageError } from '../error.ts';
import { parseLine } from './lexicon-line.ts';
import type { Pattern } from './lexicon-patterns.ts';
import { WordTree } from './lexicon-words.ts';

/** How words are spoken that a voice would get wrong. */
export interface Lexicon {
  readonly words: WordTree;
  readonly patterns: readonly Pattern[];
}

/**
 * Reads a lexicon, one entry a line; empty lines and lines that begin with "#" say nothing:
 *
 *     word = spoken form             a whole word (or words), in just this case; "word =" leaves it out
 *     word /i = spoken form          in any case; the /i may stand at the end of the line as well
 *     re:/(\d+)km/i = $1 kilometres  a regular expression of JavaScript
 *
 * The equals sign is the first with white space on both sides, or else the first.
 *
 * @param name of the file, for errors
 * @throws TtsError usage, for the first bad line, with its number
 */
export function readLexicon(source: string, name: string): Lexicon {
  const words = new WordTree();
  const patterns: Pattern[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, line] of source.split('\n').entries()) {
    const number = index + 1;
    const place = `${name}, line ${number}`;
    const entry = parseLine(line, place);
    if (entry === undefined) continue;
    if ('expression' in entry) {
      patterns.push({ ...entry, place });
      continue;
    }
    const [plain = ''] = formsOf(entry.word);
    const key = entry.ignoresCase ? `${plain.toLowerCase()} /i` : plain;
    const earlier = lineOf.get(key);
    if (earlier !== undefined) throw isThere(place, entry.word, earlier);
    lineOf.set(key, number);
    for (const word of formsOf(entry.word)) words.add({ ...entry, word });
  }
  return { words, patterns };
}

/** A word as texts may write it: its accents as letters or as marks (Unicode NFC and NFD), its apostrophe straight or curly. */
function formsOf(word: string): string[] {
  const straight = word.replaceAll('’', "'").normalize('NFC');
  const forms = [straight, straight.normalize('NFD')];
  return [...new Set(forms.flatMap((form) => [form, form.replaceAll("'", '’')]))];
}

function isThere(place: string, word: string, earlier: number): TtsError {
  return usageError(`${place}: "${word}" is already on line ${earlier}`, 'keep one of the two lines');
}
