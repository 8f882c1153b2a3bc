import { type Context, createContext, Script } from 'node:vm';
import { codeOf, usageError } from '../../error.ts';
import { unitsAt } from '../unicode.ts';
import type { Replacement, Usage, WordTree } from './words.ts';

/** It has the flags g and u. */
export interface Pattern {
  readonly expression: RegExp;
  /** It has the form of the second argument of String.replace(). */
  readonly replacement: string;
  /** It names the file and the line. */
  readonly place: string;
  readonly usage?: Usage;
}

/** Milliseconds for the paragraphs of one piece: each limited run takes 50 µs. */
const LONGEST_SEARCH = 1000;

/** UTF-16 units: a replacement may repeat the text around it. */
const LONGEST_RESULT = 4 * 1024 * 1024;

interface Rules {
  readonly words: WordTree;
  readonly patterns: readonly Pattern[];
}

type Find = (from: number) => Replacement | undefined;

/**
 * The first match counts, then the longest, then the earlier line; a word comes before a pattern. A replacement is not
 * searched again.
 */
export class PatternReplacer {
  readonly #lexicon: Rules;
  readonly #script = new Script('work()');
  /** Making a context takes a millisecond. */
  readonly #context: Context = createContext();
  #searching: Pattern | undefined;

  constructor(lexicon: Rules) {
    this.#lexicon = lexicon;
  }

  /** @throws TtsError (usage) with the line of a slow expression */
  replace(paragraphs: readonly string[]): readonly string[] {
    let result: readonly string[] = [];
    this.#context.work = () => {
      result = paragraphs.map((paragraph) => this.#replace(paragraph));
    };
    try {
      this.#script.runInContext(this.#context, { timeout: LONGEST_SEARCH });
    } catch (cause) {
      if (cause instanceof RangeError)
        throw usageError(
          `${this.#searching?.place}: its replacements make the text too long`,
          'use a shorter replacement',
          cause,
        );
      if (codeOf(cause) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw cause;
      throw usageError(
        `${this.#searching?.place}: the regular expression takes too long`,
        'avoid repetitions within repetitions, such as (a+)+',
        cause,
      );
    }
    return result;
  }

  #replace(text: string): string {
    const { words, patterns } = this.#lexicon;
    const finds: Find[] = [
      (from) => words.find(text, from),
      ...patterns.map((pattern) => this.#finder(pattern, text)),
    ];
    const found = finds.map((find) => find(0));
    let result = '';
    let at = 0;
    for (let best = first(found); best; best = first(found)) {
      result += text.slice(at, best.start) + best.spoken;
      if (best.usage) best.usage.isUsed = true;
      if (result.length > LONGEST_RESULT) throw new RangeError('too long');
      at = best.end;
      for (const [index, find] of finds.entries()) {
        const stale = found[index];
        if (stale && stale.start < at) found[index] = find(at);
      }
    }
    return result + text.slice(at);
  }

  #finder(pattern: Pattern, text: string): Find {
    const { expression, replacement, usage } = pattern;
    const here = new RegExp(expression.source, expression.flags.replace('g', 'y'));
    return (from) => {
      this.#searching = pattern;
      const match = nextMatch(expression, text, from);
      if (!match) return undefined;
      here.lastIndex = match.start;
      const replaced = text.replace(here, replacement);
      const spoken = replaced.slice(match.start, replaced.length - (text.length - match.end));
      return { ...match, spoken, usage };
    };
  }
}

function nextMatch(
  expression: RegExp,
  text: string,
  from: number,
): { start: number; end: number } | undefined {
  expression.lastIndex = from;
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    if (match[0] !== '') return { start: match.index, end: match.index + match[0].length };
    expression.lastIndex += unitsAt(text, expression.lastIndex);
  }
  return undefined;
}

function first(found: readonly (Replacement | undefined)[]): Replacement | undefined {
  let best: Replacement | undefined;
  for (const next of found) {
    if (!next) continue;
    const isLonger = next.start === best?.start && next.end > best.end;
    if (!best || next.start < best.start || isLonger) best = next;
  }
  return best;
}
