/** Filters the output of language models down to what a listener wants to hear. */
import { type Stage, WAITS } from '../text/stage.ts';
import { countCodePoints } from '../text/unicode.ts';
import { BEGUN, CITATION, ENCLOSURES, type Enclosure, isCitation, MARKS } from './model-marks.ts';

/** UTF-16 units of a thought before the answer; it may contain a whole text. */
const LONGEST_THOUGHT = 1024 * 1024;
/** UTF-16 units. A longer tool call in a code block is spoken unchanged. */
const LONGEST_CALL = 65_536;
/** UTF-16 units. */
const LONGEST_CLOSING = 64;
/** UTF-16 units. Backticks further apart do not mark code. */
const LONGEST_CODE = 1000;
/** UTF-16 units before a citation that decide whether it is one. */
const LOOKBEHIND = 80;

const EVENT = new RegExp(
  [
    // This look-ahead skips most characters fast, since few of them begin an event.
    '(?=[ \\t]?(?:[<[{【◁✿:`~\\ue200]|(?:file)?citet)|(?<![^\\n])[ \\t])(?:',
    '(?<fence>(?<![^\\n])[ \\t]*(?:`{3,}[^`\\n]*|~{3,}(?!~)[^\\n]*)\\n)|(?<code>`+)|',
    ...ENCLOSURES.map(({ opens }, at) => `(?<row${at}>${opens})|`),
    `(?<thoughtEnd>${endsWhere(({ mayEndOnly }) => mayEndOnly)})|`,
    // A stray closing tag of a tool call counts as well.
    `(?<mark>${[...MARKS.map(({ pattern }) => pattern), endsWhere(({ closes }) => /^<\/[^|]*$/u.test(closes) && closes !== '</details>')].join('|')})|`,
    `(?<citation>${CITATION}))`,
  ].join(''),
  'u',
);

/** A code block with one of these languages may be a tool call. */
const CALL_FENCE = /(?:`{3}|~{3})(?:json|tool_calls?)\b/iu;
const NAME = /"(?:name|function|tool)"\s*:/u;
const ARGUMENTS = /"(?:arguments|parameters|input|args)"\s*:/u;
/** Gemma 3 wraps tool calls in these: https://ai.google.dev/gemma/docs/capabilities/function-calling */
const TOOL_FENCE = /(?:`{3}|~{3})tool_(?:code|outputs?)\b/iu;
const PART_OF_FENCE = /(?:(?<![^\n])[ \t]*(?:[`~]{1,2}|`{3,}[^`\n]{0,60}|~{3,}(?!~)[^\n]{0,60})|`)$/u;
const PART_OF_CLOSING = /(?<![^\n])[ \t]*(?:[`~]+[ \t]*)?$/u;

/** Emoji with their modifiers. Signs such as "©" are spoken. */
const EMOJI =
  /(?![©®™])\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d(?=\p{Extended_Pictographic})|\u20e3|\p{Regional_Indicator}/gu;
const PART_OF_EMOJI = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d)+$|\r$/u;
/** UTF-16 units. Longer runs of emoji are removed one by one. */
const LONGEST_EMOJI = 64;

/** A line that a carriage return overwrites: only its last state is spoken. */
const OVERWRITTEN = /(?<![^\n])[^\n]*\r(?!\n|$)/gu;
const PROGRESS =
  /(?:\d\s?%|(?<![█▓▒░▉-▏#=])[█▓▒░▉-▏#=]{3,}(?![█▓▒░▉-▏#=])|(?<!\d)\d+\/\d+)(?:(?![.!?]\s+\p{L})[^\n]){0,60}$/u;
/** A line without letters may be the beginning of a progress bar. */
const BARE = /^[^\p{L}\n]{1,40}$/u;

export interface UnspokenOptions {
  /** Replaces each removed character. */
  readonly filler?: string | undefined;
  /**
   * True if the text is heard while it is written. Otherwise it is held until it is clear whether it begins with a thought,
   * which may be marked by its end only.
   */
  readonly isLive?: boolean;
  readonly beginsInThought?: boolean;
  /**
   * Called at most once, if the end of a thought shows that all text so far belonged to it.
   * @param units UTF-16 units of the answer that have come
   */
  readonly onAnswer?: ((units: number) => void) | undefined;
}

/** The region that the stage is in, outside of plain text. */
interface SkippedRegion {
  /** The group `closes` matches the end of the region; any other match is a nested beginning. */
  readonly ends: RegExp;
  /** Beginnings that are still open. */
  readonly depth: number;
  /** True for code, which is spoken unchanged. */
  readonly isCode: boolean;
}

/**
 * Removes what a model writes but no listener wants: thoughts, tool calls, control tokens, source numbers, emoji, and all
 * but the last state of a progress bar. Code stays unchanged, so that a text about such marks can be spoken. The result
 * does not depend on how the text is split into pieces, except for a label before a progress bar, which may already be out.
 */
export class Unspoken implements Stage<string, string> {
  readonly #filler: string;
  #held = '';
  /** The end of the text before `#held`. */
  #last = '\n';
  #inside: SkippedRegion | undefined;
  /** True while a code block that may be a tool call is incomplete. */
  #awaitsCall = false;
  readonly #isLive: boolean;
  readonly #onAnswer: UnspokenOptions['onAnswer'];
  /** Text held because it may be a thought; `undefined` once it cannot be one. A live text is released with each piece. */
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
    // Reading a long call again with each of its words would take quadratic time.
    const fresh = this.#held.slice(-text.length - LONGEST_CLOSING);
    if (this.#awaitsCall && this.#held.length < LONGEST_CALL && !/[`~]/u.test(fresh)) return;
    yield* this.#pass(false);
    if (this.#isLive) yield* this.#kept?.splice(0) ?? [];
  }

  /** True for a line that may be overwritten, and for code that may never end. */
  get isHolding(): boolean {
    if ((this.#inside && !this.#inside.isCode) || this.#awaitsCall) return false;
    return this.#held.startsWith('`') || this.#lineHeld < this.#held.length;
  }

  *flush(idle: number): Generator<string> {
    if (idle >= WAITS.sentence && /^[ \t]$/u.test(this.#held)) yield* this.#say(this.#pull(1));
    if (!this.isHolding || idle < WAITS.doubtful) return;
    const length = this.#held.startsWith('`') ? this.#held.length : settledLength(this.#held);
    yield* this.#say(this.#clean(this.#pull(length)));
    if (this.#isLive) yield* this.#kept?.splice(0) ?? [];
  }

  *end(): Generator<string> {
    yield* this.#pass(true);
    yield* this.#release();
  }

  *#pass(isEnd: boolean): Generator<string> {
    const open = isEnd ? 0 : this.#held.length - Math.min(settledLength(this.#held), this.#lineHeld);
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

  /** @param sure UTF-16 units that no later piece can change */
  *#take(sure: number, isEnd: boolean): Generator<string> {
    const found = EVENT.exec(this.#held);
    if (!found?.groups || found.index >= sure) return yield* this.#say(this.#clean(this.#pull(sure)));
    yield* this.#say(this.#clean(this.#pull(found.index)));
    const { 0: all, groups } = found;
    const row = ENCLOSURES.find((_, at) => groups[`row${at}`] !== undefined);
    if (groups.fence && this.#last.endsWith('\n')) yield* this.#say(this.#block(all, isEnd));
    else if (groups.code) yield* this.#say(this.#codeSpan(all, isEnd));
    else if (row) {
      this.#inside = regionOf(row);
      yield* this.#release();
      yield* this.#say(this.#fillerFor(this.#pull(all.length)));
    } else if (groups.thoughtEnd) yield* this.#endThought(all.length);
    else {
      const isSpoken = groups.fence ?? (groups.citation && !isCitation(this.#before(all), all));
      const mark = this.#pull(all.length);
      yield* this.#say(isSpoken ? mark : this.#fillerFor(mark));
    }
  }

  #before(citation: string): string {
    return this.#last.slice(-LOOKBEHIND) + (/^[ \t]/u.exec(citation)?.[0] ?? '');
  }

  /**
   * Removes all text so far, which was a thought. What was already yielded must be dropped by the stages after this one.
   */
  *#endThought(length: number): Generator<string> {
    const gone = (this.#kept ?? []).join('') + this.#pull(length);
    if (this.#kept) this.#onAnswer?.(this.#held.length);
    this.#kept = undefined;
    if (this.#filler !== '') yield this.#fillerFor(gone);
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
      return this.#fillerFor(this.#pull(Math.max(0, this.#held.length - kept)));
    }
    const end = found.index + found[0].length;
    if (!isEnd && this.#held.length < end + 2) return this.#fillerFor(this.#pull(found.index));
    const isClosing = found.groups?.closes !== undefined;
    // A thought may mention its own tag, so a new paragraph closes all nested ones.
    const isLast = isClosing && (depth === 1 || this.#held.startsWith('\n\n', end));
    this.#inside = isLast ? undefined : { ends, depth: depth + (isClosing ? -1 : 1), isCode: false };
    return this.#fillerFor(this.#pull(end));
  }

  #block(opening: string, isEnd: boolean): string {
    const ends = endOfCode(opening);
    const isTool = TOOL_FENCE.test(opening);
    if (!isTool && !CALL_FENCE.test(opening)) {
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
    return isTool || (NAME.test(block) && ARGUMENTS.test(block)) ? this.#fillerFor(block) : block;
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

  /** The start of a last line that may be overwritten; otherwise the end of the held text. */
  get #lineHeld(): number {
    const start = this.#held.lastIndexOf('\n') + 1;
    const line = this.#held.slice(start);
    const isBare = BARE.test(line) && /\S/u.test(line) && (start > 0 || this.#last.endsWith('\n'));
    return isBare || PROGRESS.test(line) ? start : this.#held.length;
  }

  #clean(text: string): string {
    const fill = (found: string) => this.#fillerFor(found);
    return text.replace(OVERWRITTEN, fill).replace(EMOJI, fill);
  }

  #fillerFor(text: string): string {
    return this.#filler === '' ? '' : this.#filler.repeat(countCodePoints(text));
  }

  #pull(length: number): string {
    const pulled = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (pulled !== '') this.#last = (this.#last + pulled.slice(-LOOKBEHIND)).slice(-LOOKBEHIND);
    return pulled;
  }
}

function regionOf({ opens, closes }: Enclosure): SkippedRegion {
  const nested = closes.startsWith('</') ? `|${opens}` : '';
  return { ends: new RegExp(`(?<closes>${closes})${nested}`, 'u'), depth: 1, isCode: false };
}

/** @param opening the first line of a code block */
function endOfCode(opening: string): RegExp {
  const marks = /`+|~+/u.exec(opening)?.[0] ?? '';
  return new RegExp(`(?<![^\\n])[ \\t]*${marks}${marks.charAt(0)}*[ \\t]*(?:\\n|$)`, 'u');
}

function endsWhere(isMeant: (row: Enclosure) => boolean | undefined): string {
  return ENCLOSURES.filter(isMeant)
    .map(({ closes }) => closes)
    .join('|');
}

/** UTF-16 units at the beginning that no later piece can change. */
function settledLength(text: string): number {
  const tail = text.slice(-LONGEST_EMOJI);
  const emoji = tail.search(PART_OF_EMOJI);
  const parts = [BEGUN, PART_OF_FENCE].map((part) => text.search(part));
  if (emoji >= 0) parts.push(text.length - tail.length + emoji);
  return Math.min(text.length, ...parts.filter((at) => at >= 0));
}
