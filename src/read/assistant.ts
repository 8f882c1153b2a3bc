import { type Stage, WAITS } from '../text/stage.ts';
import { countCodePoints } from '../text/unicode.ts';

/** Tags around what a model says to itself or to its tools. */
const OPENING =
  /(?<!`)<(think(?:ing)?|reasoning|tool_calls?|function_calls?|tool_response)(?:[ =][^<>\n]{0,80})?>/iu;
const CLOSING_ALONE = /(?<!`)<\/(?:think(?:ing)?|reasoning|tool_calls?|function_calls?|tool_response)>/giu;
const PART_OF_TAG = /`?<\/?(?:[a-z_]{0,14}|(?:think|tool|function|reason)[^<>\n]{0,80})$|`$/iu;

/** A block of code in JSON may be a call. */
const JSON_FENCE = /(?:^|\n)[ \t]*(`{3,}|~{3,})(?:json|tool_call|tool_code)[^\n]*\n/iu;
const PART_OF_FENCE = /(?:^|\n)[ \t]*[`~]{1,}[a-z_]{0,12}[^\n]{0,20}$/iu;
const NAME = /"(?:name|function|tool)"\s*:/u;
const ARGUMENTS = /"(?:arguments|parameters|input|args)"\s*:/u;

/** UTF-16 units. A longer block is spoken unchanged. */
const LONGEST_CALL = 65_536;

/** Emoji with their modifiers. Signs such as "©" are text. */
const EMOJI =
  /(?![©®™])\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d(?=\p{Extended_Pictographic})|\u20e3|\p{Regional_Indicator}/gu;
const PART_OF_EMOJI = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d)+$|\r$/u;
/** UTF-16 units. In a longer run, each is taken out for itself. */
const LONGEST_EMOJI = 64;

/** A line that is written over counts with its last state. */
const WRITTEN_OVER = /(?<![^\n])[^\n]*\r(?!\n|$)/gu;
const PROGRESS = /(?:\d\s?%|[█▓▒░▉-▏#=]{3,}|(?<!\d)\d+\/\d+)(?:(?![.!?]\s+\p{L})[^\n]){0,60}$/u;
/** A line that has only begun may be a progress bar. */
const BARE = /^[^\p{L}\n]{1,40}$/u;

/**
 * Takes out what a model writes and nobody wants to hear: thoughts, calls of tools, emoji, and all but the last state of a
 * progress bar. The result does not depend on the pieces, but for a label in front of a progress bar, which may have left.
 */
export class Unspoken implements Stage<string, string> {
  readonly #filler: string;
  #held = '';
  /** True if what is held begins a line. */
  #isLineStart = true;
  /** The tags of what is left out. */
  #tags: RegExp | undefined;
  /** Tags that are open, one inside the other. */
  #depth = 0;

  /** @param filler replaces each character that is taken out */
  constructor(filler = '') {
    this.#filler = filler;
  }

  *push(text: string): Generator<string> {
    this.#held += text;
    yield* this.#pass(false);
  }

  /** True for a line that may be written over. */
  get isHolding(): boolean {
    if (this.#tags || JSON_FENCE.test(this.#held)) return false;
    return this.#lineHeld < this.#held.length;
  }

  *flush(idle: number): Generator<string> {
    if (!this.isHolding || idle < WAITS.doubtful) return;
    const text = this.#clean(this.#pull(settled(this.#held)));
    if (text !== '') yield text;
  }

  *end(): Generator<string> {
    yield* this.#pass(true);
  }

  *#pass(isEnd: boolean): Generator<string> {
    while (this.#held !== '') {
      const length = this.#held.length;
      const spoken = this.#tags ? this.#skip(this.#tags, isEnd) : this.#take(isEnd);
      if (spoken !== '') yield spoken;
      if (this.#held.length === length) return;
    }
  }

  #skip(tags: RegExp, isEnd: boolean): string {
    const found = tags.exec(this.#held);
    if (!found) {
      const kept = isEnd ? 0 : LONGEST_CLOSING;
      return this.#takenOut(this.#pull(Math.max(0, this.#held.length - kept)));
    }
    const end = found.index + found[0].length;
    // A thought may name its own tag. So a paragraph ends all of it.
    const isLast = this.#depth === 1 || this.#held.startsWith('\n\n', end);
    if (found[1] && !isLast && !isEnd && this.#held.length < end + 2)
      return this.#takenOut(this.#pull(found.index));
    this.#depth += found[1] ? -1 : 1;
    if (found[1] && isLast) this.#tags = undefined;
    return this.#takenOut(this.#pull(end));
  }

  #take(isEnd: boolean): string {
    const tag = OPENING.exec(this.#held);
    const fence = JSON_FENCE.exec(this.#held);
    if (tag && (!fence || tag.index < fence.index)) {
      this.#tags = new RegExp(`(?<!\`)<(/?)${tag[1]}>`, 'iu');
      this.#depth = 1;
      return this.#clean(this.#pull(tag.index)) + this.#takenOut(this.#pull(tag[0].length));
    }
    if (fence) return this.#block(fence, isEnd);
    const length = isEnd ? this.#held.length : Math.min(settled(this.#held), this.#lineHeld);
    return this.#clean(this.#pull(length));
  }

  #block({ 0: opening, 1: marks = '', index }: RegExpExecArray, isEnd: boolean): string {
    const start = index + opening.length;
    const closing = new RegExp(`^[ \\t]*${marks}[${marks.charAt(0)}]*[ \\t]*(?:\\n|$)`, 'mu');
    const rest = this.#held.slice(start);
    const found = closing.exec(rest);
    const isWhole = found && (isEnd || found[0].endsWith('\n'));
    const before = this.#clean(this.#pull(index));
    if (!isWhole && !isEnd && rest.length < LONGEST_CALL) return before;
    const block = this.#pull(found ? start + found.index + found[0].length - index : this.#held.length);
    if (!NAME.test(block) || !ARGUMENTS.test(block)) return before + block;
    const line = leadingBreak(block);
    return before + line + this.#takenOut(block.slice(line.length));
  }

  /** A line that may be written over begins here. */
  get #lineHeld(): number {
    const start = this.#held.lastIndexOf('\n') + 1;
    const line = this.#held.slice(start);
    const isBare = BARE.test(line) && (start > 0 || this.#isLineStart);
    return isBare || PROGRESS.test(line) ? start : this.#held.length;
  }

  #clean(text: string): string {
    const takeOut = (found: string) => this.#takenOut(found);
    return text.replace(WRITTEN_OVER, takeOut).replace(CLOSING_ALONE, takeOut).replace(EMOJI, takeOut);
  }

  #takenOut(text: string): string {
    return this.#filler === '' ? '' : this.#filler.repeat(countCodePoints(text));
  }

  #pull(length: number): string {
    const pulled = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (pulled !== '') this.#isLineStart = pulled.endsWith('\n');
    return pulled;
  }
}

const LONGEST_CLOSING = 24;

/** UTF-16 units of what no later piece changes. */
function settled(text: string): number {
  const tail = text.slice(-LONGEST_EMOJI);
  const emoji = tail.search(PART_OF_EMOJI);
  const parts = [PART_OF_TAG, PART_OF_FENCE].map((part) => text.search(part));
  if (emoji >= 0) parts.push(text.length - tail.length + emoji);
  return Math.min(text.length, ...parts.filter((at) => at >= 0));
}

function leadingBreak(block: string): string {
  return block.startsWith('\n') ? '\n' : '';
}
