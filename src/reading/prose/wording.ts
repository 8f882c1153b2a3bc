import { isListItem } from '../../text/lines.ts';
import type { Stage } from '../../text/live.ts';
import { PARAGRAPH_END } from '../../text/piece.ts';
import { lazy } from '../../text/unicode.ts';
import { joinedWord } from './divided.ts';
import type { TextFacts } from './facts.ts';

const LETTER = '[\\p{L}\\p{M}]';

/** `_italics_`, and `_more than one word_`. */
const italics = lazy(
  () =>
    /(?<![\p{L}\p{N}_\\/.@])_(?=[\p{L}\p{N}"'“‘(¿¡—-])((?:[^_\n]|\n(?!\s*\n)){0,599}[^_\s])_(?![\p{L}\p{N}_])/gu,
);
const openItalics = lazy(
  () => /(?<![\p{L}\p{N}_\\/.@])_(?=[\p{L}\p{N}"'“‘(¿¡—-]|$)(?:[^_\n]|\n(?!\s*\n)){0,600}$/u,
);

/** "wait--what", "wait--", "well -- perhaps". An option of a program begins with its hyphens. */
const typedDash = lazy(
  () => /(?<=[\p{L}\p{N}\p{M}]{2}|^[IAO]|[^\p{L}][IAO]|[,;.!?"'”’)_])--(?=[\p{L}\p{N}"'“”‘’(_]|\s|$)(?!-)/gu,
);
const spacedDash = lazy(() => /(?<=[\p{L}\p{N},;.!?"'”’)_] )--(?= [\p{L}\p{N}"'“‘(_])/gu);

/** The mark of a note looks like the one in "word.[1]". */
const noteMark = lazy(
  () => /(?<=[\p{L}\p{N}.,;:!?"'”’)\]_])\[(?:[1-9]\d{0,2}|[*†‡])\](?=[\s.,;:!?"'”’)—[_-]|$)/gu,
);

/**
 * "be-" at the end of a line, "fore" and what is attached to it in the next one; and the places that can take a line break: a
 * space, or an empty line.
 */
const divided = lazy(
  () =>
    new RegExp(
      `(?<hyphen>[-‐\\u00ad])(?=[^\\S\\n]*\\n)(?<=(?:^|[^‐\\p{L}\\p{M}\\u00ad-])(?<first>(?:${LETTER}{1,40}[-‐\\u00ad]){0,4}${LETTER}{1,40})[-‐\\u00ad])[^\\S\\n]*\\n[^\\S\\n]*(?<second>${LETTER}{1,40})(?<rest>[^\\s‐-]{0,40})(?<space> ?)|(?<=\\S) (?=\\S)|\\n(?=[^\\S\\n]*\\n)`,
      'gu',
    ),
);

/** What the next characters may change. */
const OPEN_END = /(?:(?:\u00ad|(?<![-‐])[-‐]{1,3})(?:[^\S\n]*\n[^\S\n]*\S{0,40})?|\[[\d*†‡]{0,3}\]?|--? ?)$/u;
const OPEN_BREAK = /\n[^\S\n]*\S{0,5}$/u;

const SINGLE_BREAK = /(?<!\n[^\S\n]*)\n(?![^\S\n]*(?:\n|$))/gu;

/** What the rules look for. */
const SIGNS = /[_[]|--|[-‐\u00ad][^\S\n]*\n/u;

/** UTF-16 units that rules look back on. */
const CONTEXT = 50;
/** UTF-16 units. Whoever writes this much at once is neither a model nor a person. */
const FAST = 1024;

/** Reads prose as people do: marks of italics and notes are silent, "--" is a dash, and divided words are whole. */
export class Wording implements Stage<string, string> {
  readonly #facts: TextFacts;
  /** What was given out last, as it is written. */
  #before = '';
  #held = '';
  /** A line break that stood in a divided word. */
  #owed = 0;

  constructor(facts: TextFacts) {
    this.#facts = facts;
  }

  *push(text: string): Generator<string> {
    const all = this.#held + text;
    const start = this.#openFrom(all, text.length >= FAST);
    this.#held = all.slice(start);
    yield* this.#read(all.slice(0, start));
  }

  *end(): Generator<string> {
    yield* this.#read(this.#held);
    this.#held = '';
  }

  #openFrom(text: string, isFast: boolean): number {
    const open = [OPEN_END];
    if (isFast) open.push(openItalics());
    if (this.#facts.isLinewise) open.push(OPEN_BREAK);
    return Math.min(...open.map((pattern) => pattern.exec(text)?.index ?? text.length));
  }

  *#read(text: string): Generator<string> {
    if (text === '') return;
    const before = this.#before;
    this.#before = (before + text).slice(-CONTEXT);
    const isAsWritten = this.#owed === 0 && !this.#facts.isLinewise && !SIGNS.test(before + text);
    if (isAsWritten || !this.#facts.isProse) return yield text;
    const spoken = this.#spoken(before + text, before.length);
    yield this.#whole(spoken, before.length).slice(before.length);
  }

  /** What stands before the place has left and stays as it is. */
  #spoken(text: string, from: number): string {
    const rules: readonly (readonly [RegExp, Say])[] = [
      [italics(), ([, inside = '']) => inside],
      [noteMark(), () => ''],
      [typedDash(), () => '—'],
      [spacedDash(), () => '—'],
    ];
    const spoken = rules.reduce((so, [pattern, sayIt]) => replacedFrom(so, from, pattern, sayIt), text);
    if (!this.#facts.isLinewise) return spoken;
    return replacedFrom(spoken, from, SINGLE_BREAK, ({ 0: written, index }) =>
      isInList(spoken, index) ? written : PARAGRAPH_END + written,
    );
  }

  /** Puts divided words together. The line break comes after the word, so the lines keep their numbers. */
  #whole(text: string, from: number): string {
    return replacedFrom(text, from, divided(), ({ 0: written, groups = {} }) => {
      const end = groups.hyphen && this.#joined(groups);
      if (groups.hyphen) return end === undefined ? written : this.#moved(end, groups);
      const paid = written === '\n' ? this.#owed : Math.min(1, this.#owed);
      this.#owed -= paid;
      if (paid === 0) return written;
      return '\n'.repeat(written === '\n' ? paid + 1 : paid);
    });
  }

  /** The rest of the word, without the hyphen. */
  #joined({ hyphen, first = '', second = '' }: Groups): string | undefined {
    if (hyphen === '\u00ad') return second;
    const visible = first.replaceAll('\u00ad', '');
    return joinedWord(visible, second, this.#facts)?.slice(visible.length);
  }

  #moved(end: string, { rest = '', space }: Groups): string {
    if (space === '') this.#owed += 1;
    return end + rest + (space && '\n');
  }
}

type Groups = Readonly<Record<string, string | undefined>>;

function isInList(text: string, at: number): boolean {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at).trimStart();
  return isListItem(line) && isListItem(text.slice(at + 1, at + 40).trimStart());
}

type Say = (match: RegExpExecArray) => string;

/** Replaces what begins at the place or after it. What stands before the place is only looked back on. */
function replacedFrom(text: string, from: number, pattern: RegExp, say: Say): string {
  let result = text.slice(0, from);
  let at = from;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    result += text.slice(at, match.index) + say(match);
    at = pattern.lastIndex;
  }
  return result + text.slice(at);
}
