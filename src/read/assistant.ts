import { type Stage, WAITS } from '../text/stage.ts';
import { countCodePoints } from '../text/unicode.ts';
import { BEGUN, CITATION, ENCLOSURES, type Enclosure, isCitation, MARKS } from './model-marks.ts';

/** UTF-16 units. A thought in front of a whole text may be so long. */
const LONGEST_THOUGHT = 1024 * 1024;
/** UTF-16 units. A longer call in a block of code is spoken unchanged. */
const LONGEST_CALL = 65_536;
/** UTF-16 units. */
const LONGEST_CLOSING = 64;
/** UTF-16 units. Backticks further apart are no code. */
const LONGEST_CODE = 1000;
/** UTF-16 units in front of a citation. */
const SIGHT = 80;

const EVENT = new RegExp(
  [
    // Most characters begin nothing of it.
    '(?=[ \\t]?(?:[<[{【◁✿:`~\\ue200]|(?:file)?citet)|(?<![^\\n])[ \\t])(?:',
    '(?<fence>(?<![^\\n])[ \\t]*(?:`{3,}[^`\\n]*|~{3,}(?!~)[^\\n]*)\\n)|(?<code>`+)|',
    ...ENCLOSURES.map(({ opens }, at) => `(?<row${at}>${opens})|`),
    `(?<thoughtEnd>${endsWhere(({ mayEndOnly }) => mayEndOnly)})|`,
    // The end of a call without its beginning is one, too.
    `(?<mark>${[...MARKS.map(({ pattern }) => pattern), endsWhere(({ closes }) => /^<\/[^|]*$/u.test(closes) && closes !== '</details>')].join('|')})|`,
    `(?<citation>${CITATION}))`,
  ].join(''),
  'u',
);

/** A block of code in these may be a call. */
const OF_CALL = /(?:`{3}|~{3})(?:json|tool_calls?)\b/iu;
const NAME = /"(?:name|function|tool)"\s*:/u;
const ARGUMENTS = /"(?:arguments|parameters|input|args)"\s*:/u;
/** Gemma 3 calls tools in these: https://ai.google.dev/gemma/docs/capabilities/function-calling */
const OF_TOOL = /(?:`{3}|~{3})tool_(?:code|outputs?)\b/iu;
const PART_OF_FENCE = /(?:(?<![^\n])[ \t]*(?:[`~]{1,2}|`{3,}[^`\n]{0,60}|~{3,}(?!~)[^\n]{0,60})|`)$/u;
const PART_OF_CLOSING = /(?<![^\n])[ \t]*(?:[`~]+[ \t]*)?$/u;

/** Emoji with their modifiers. Signs such as "©" are text. */
const EMOJI =
  /(?![©®™])\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d(?=\p{Extended_Pictographic})|\u20e3|\p{Regional_Indicator}/gu;
const PART_OF_EMOJI = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d)+$|\r$/u;
/** UTF-16 units. In a longer run, each is taken out for itself. */
const LONGEST_EMOJI = 64;

/** A line that is written over counts with its last state. */
const WRITTEN_OVER = /(?<![^\n])[^\n]*\r(?!\n|$)/gu;
const PROGRESS =
  /(?:\d\s?%|(?<![█▓▒░▉-▏#=])[█▓▒░▉-▏#=]{3,}(?![█▓▒░▉-▏#=])|(?<!\d)\d+\/\d+)(?:(?![.!?]\s+\p{L})[^\n]){0,60}$/u;
/** A line that has only begun may be a progress bar. */
const BARE = /^[^\p{L}\n]{1,40}$/u;

export interface UnspokenOptions {
  /** It replaces each character that is taken out. */
  readonly filler?: string | undefined;
  /**
   * The text is heard while it is written. Otherwise nothing leaves before it is known whether the text begins with a thought,
   * whose end may be all that marks it.
   */
  readonly isLive?: boolean;
  readonly beginsInThought?: boolean;
  /**
   * It is called at most once, where all text so far turns out to be a thought that only ends.
   * @param units UTF-16 units of the answer that have come
   */
  readonly onAnswer?: ((units: number) => void) | undefined;
}

/** Where the stage is, if not in the text. */
interface SkippedRegion {
  /** What ends it is in the group `closes`; else it begins once more, inside. */
  readonly ends: RegExp;
  /** Beginnings without an end. */
  readonly depth: number;
  /** Code is spoken as it is. */
  readonly isCode: boolean;
}

/**
 * Takes out what a model writes and no listener wants: thoughts, calls of tools, control tokens, the numbers of sources, emoji,
 * and all but the last state of a progress bar. Code is left as it is, so a text about these marks can be spoken.
 * The result does not depend on the pieces, but for a label in front of a progress bar, which may have left.
 */
export class Unspoken implements Stage<string, string> {
  readonly #filler: string;
  #held = '';
  /** The end of what has left. */
  #last = '\n';
  #inside: SkippedRegion | undefined;
  /** A block of code is awaited that may be a call. */
  #awaitsCall = false;
  readonly #isLive: boolean;
  readonly #onAnswer: UnspokenOptions['onAnswer'];
  /** What came so far, as long as it may be a thought. A live text leaves with each piece. */
  #kept: string[] | undefined = [];
  #keptLength = 0;

  constructor({ filler = '', isLive = false, beginsInThought = false, onAnswer }: UnspokenOptions = {}) {
    this.#filler = filler;
    this.#isLive = isLive;
    this.#onAnswer = onAnswer;
    if (!beginsInThought) return;
    this.#kept = undefined;
    this.#inside = {
      ends: new RegExp(`(?<closes>${endsWhere(({ mayEndOnly }) => mayEndOnly)})`, 'u'),
      depth: 1,
      isCode: false,
    };
  }

  *push(text: string): Generator<string> {
    this.#held += text;
    yield* this.#pass(false);
    if (this.#isLive) yield* this.#kept?.splice(0) ?? [];
  }

  /** True for a line that may be written over, and for code that may have no end. */
  get isHolding(): boolean {
    if ((this.#inside && !this.#inside.isCode) || this.#awaitsCall) return false;
    return this.#held.startsWith('`') || this.#lineHeld < this.#held.length;
  }

  *flush(idle: number): Generator<string> {
    if (idle >= WAITS.sentence && /^[ \t]$/u.test(this.#held)) yield* this.#say(this.#pull(1));
    if (!this.isHolding || idle < WAITS.doubtful) return;
    const length = this.#held.startsWith('`') ? this.#held.length : settled(this.#held);
    yield* this.#say(this.#clean(this.#pull(length)));
    if (this.#isLive) yield* this.#kept?.splice(0) ?? [];
  }

  *end(): Generator<string> {
    yield* this.#pass(true);
    yield* this.#release();
  }

  *#pass(isEnd: boolean): Generator<string> {
    const open = isEnd ? 0 : this.#held.length - Math.min(settled(this.#held), this.#lineHeld);
    for (
      let [length, inside] = [-1, this.#inside];
      length !== this.#held.length || inside !== this.#inside;
    ) {
      [length, inside] = [this.#held.length, this.#inside];
      if (inside?.isCode) yield* this.#say(this.#codeIn(inside, isEnd));
      else if (inside) yield* this.#say(this.#skip(inside, isEnd));
      else yield* this.#take(Math.max(0, length - open), isEnd);
    }
  }

  /** @param sure UTF-16 units that no later piece changes */
  *#take(sure: number, isEnd: boolean): Generator<string> {
    const found = EVENT.exec(this.#held);
    if (!found?.groups || found.index >= sure) return yield* this.#say(this.#clean(this.#pull(sure)));
    yield* this.#say(this.#clean(this.#pull(found.index)));
    const { 0: all, groups } = found;
    const row = ENCLOSURES.find((_, at) => groups[`row${at}`] !== undefined);
    if (groups.fence && this.#last.endsWith('\n')) yield* this.#say(this.#block(all, isEnd));
    else if (groups.code) yield* this.#say(this.#codeSpan(all, isEnd));
    else if (row) {
      this.#inside = insideOf(row);
      yield* this.#release();
      yield* this.#say(this.#takenOut(this.#pull(all.length)));
    } else if (groups.thoughtEnd) yield* this.#endThought(all.length);
    else {
      const isSpoken = groups.fence ?? (groups.citation && !isCitation(this.#before(all), all));
      const mark = this.#pull(all.length);
      yield* this.#say(isSpoken ? mark : this.#takenOut(mark));
    }
  }

  #before(citation: string): string {
    return this.#last.slice(-SIGHT) + (/^[ \t]/u.exec(citation)?.[0] ?? '');
  }

  /** All before it was a thought. What has left is dropped behind this stage. */
  *#endThought(length: number): Generator<string> {
    const gone = (this.#kept ?? []).join('') + this.#pull(length);
    if (this.#kept) this.#onAnswer?.(this.#held.length);
    this.#kept = undefined;
    if (this.#filler !== '') yield this.#takenOut(gone);
  }

  *#say(text: string): Generator<string> {
    if (text === '') return;
    if (!this.#kept) return yield text;
    this.#kept.push(text);
    this.#keptLength += text.length;
    if (this.#keptLength > LONGEST_THOUGHT) yield* this.#release();
  }

  *#release(): Generator<string> {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    yield* kept;
  }

  #skip({ ends, depth }: SkippedRegion, isEnd: boolean): string {
    const found = ends.exec(this.#held);
    if (!found) {
      const kept = isEnd ? 0 : LONGEST_CLOSING;
      return this.#takenOut(this.#pull(Math.max(0, this.#held.length - kept)));
    }
    const end = found.index + found[0].length;
    if (!isEnd && this.#held.length < end + 2) return this.#takenOut(this.#pull(found.index));
    const isClosing = found.groups?.closes !== undefined;
    // A thought may name its own tag. So a paragraph ends all of it.
    const isLast = isClosing && (depth === 1 || this.#held.startsWith('\n\n', end));
    this.#inside = isLast ? undefined : { ends, depth: depth + (isClosing ? -1 : 1), isCode: false };
    return this.#takenOut(this.#pull(end));
  }

  #block(opening: string, isEnd: boolean): string {
    const ends = endOfCode(opening);
    const isTool = OF_TOOL.test(opening);
    if (!isTool && !OF_CALL.test(opening)) {
      this.#inside = { ends, depth: 1, isCode: true };
      return this.#pull(opening.length);
    }
    const rest = this.#held.slice(opening.length);
    const found = ends.exec(rest);
    const isWhole = found && (isEnd || found[0].endsWith('\n'));
    this.#awaitsCall = !isWhole && !isEnd && rest.length < LONGEST_CALL;
    if (this.#awaitsCall) return '';
    const length = found ? opening.length + found.index + found[0].length : this.#held.length;
    const block = this.#pull(length);
    return isTool || (NAME.test(block) && ARGUMENTS.test(block)) ? this.#takenOut(block) : block;
  }

  #codeIn({ ends }: SkippedRegion, isEnd: boolean): string {
    const found = ends.exec(this.#held);
    const isReal = found && (found.index > 0 || this.#last.endsWith('\n'));
    if (isReal && (isEnd || found[0].endsWith('\n'))) {
      this.#inside = undefined;
      return this.#clean(this.#pull(found.index + found[0].length));
    }
    const open = isEnd ? -1 : this.#held.search(PART_OF_CLOSING);
    const length = open < 0 ? this.#held.length : Math.min(open, this.#lineHeld);
    return this.#clean(this.#pull(length));
  }

  #codeSpan(ticks: string, isEnd: boolean): string {
    const seen = this.#held.slice(0, LONGEST_CODE);
    const paragraph = seen.indexOf('\n\n');
    const found = new RegExp(`(?<!\`)\`{${ticks.length}}(?!\`)`, 'u').exec(seen.slice(ticks.length));
    const end = found ? ticks.length + found.index + ticks.length : 0;
    const hasEnd = found && (paragraph < 0 || end < paragraph);
    const isSure = isEnd || paragraph >= 0 || seen.length === LONGEST_CODE;
    if (hasEnd ? end === this.#held.length && !isEnd : !isSure) return '';
    return this.#clean(this.#pull(hasEnd ? end : ticks.length));
  }

  /** A line that may be written over begins here. */
  get #lineHeld(): number {
    const start = this.#held.lastIndexOf('\n') + 1;
    const line = this.#held.slice(start);
    const isBare = BARE.test(line) && /\S/u.test(line) && (start > 0 || this.#last.endsWith('\n'));
    return isBare || PROGRESS.test(line) ? start : this.#held.length;
  }

  #clean(text: string): string {
    const takeOut = (found: string) => this.#takenOut(found);
    return text.replace(WRITTEN_OVER, takeOut).replace(EMOJI, takeOut);
  }

  #takenOut(text: string): string {
    return this.#filler === '' ? '' : this.#filler.repeat(countCodePoints(text));
  }

  #pull(length: number): string {
    const pulled = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (pulled !== '') this.#last = (this.#last + pulled.slice(-SIGHT)).slice(-SIGHT);
    return pulled;
  }
}

function insideOf({ opens, closes }: Enclosure): SkippedRegion {
  const nested = closes.startsWith('</') ? `|${opens}` : '';
  return { ends: new RegExp(`(?<closes>${closes})${nested}`, 'u'), depth: 1, isCode: false };
}

/** @param opening the first line of a block of code */
function endOfCode(opening: string): RegExp {
  const marks = /`+|~+/u.exec(opening)?.[0] ?? '';
  return new RegExp(`(?<![^\\n])[ \\t]*${marks}${marks.charAt(0)}*[ \\t]*(?:\\n|$)`, 'u');
}

function endsWhere(isMeant: (row: Enclosure) => boolean | undefined): string {
  return ENCLOSURES.filter(isMeant)
    .map(({ closes }) => closes)
    .join('|');
}

/** UTF-16 units of what no later piece changes. */
function settled(text: string): number {
  const tail = text.slice(-LONGEST_EMOJI);
  const emoji = tail.search(PART_OF_EMOJI);
  const parts = [BEGUN, PART_OF_FENCE].map((part) => text.search(part));
  if (emoji >= 0) parts.push(text.length - tail.length + emoji);
  return Math.min(text.length, ...parts.filter((at) => at >= 0));
}
