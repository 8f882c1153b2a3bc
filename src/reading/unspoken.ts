import type { Stage } from '../text/live.ts';
import { countCodePoints } from '../text/unicode.ts';

/** Tags around what a model says to itself or to its tools. */
const OPENING =
  /(?<!`)<(think(?:ing)?|reasoning|tool_calls?|function_calls?|tool_response)(?:[ =][^<>\n]{0,80})?>/iu;
const CLOSING_ALONE = /(?<!`)<\/(?:think(?:ing)?|reasoning|tool_calls?|function_calls?|tool_response)>/giu;
const PART_OF_TAG = /`?<\/?(?:[a-z_]{0,14}|(?:think|tool|function|reason)[^<>\n]{0,80})$|`$/iu;

/** A block of code in JSON may be a call. */
const JSON_FENCE = /(?:^|\n)[ \t]*(`{3,}|~{3,})(?:json|tool_call|tool_code)[^\n]*\n/iu;
const PART_OF_FENCE = /(?:^|\n)[ \t]*[`~]{1,}[a-z_]{0,12}[^\n]{0,20}$/iu;
const CALL = /"(?:name|function|tool)"\s*:[\s\S]*"(?:arguments|parameters|input|args)"\s*:/u;

/** UTF-16 units. A longer block is taken as it stands. */
const LONGEST_CALL = 65_536;

/** Emoji with their modifiers. Signs such as "©" are text. */
const EMOJI =
  /(?![©®™])\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d(?=\p{Extended_Pictographic})|\p{Regional_Indicator}/gu;
const PART_OF_EMOJI = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d)+$|\r$/u;

/** A line that is written over counts with its last state. */
const WRITTEN_OVER = /[^\n]*\r(?!\n|$)/gu;
const PROGRESS = /(?:\d\s?%|[█▓▒░▉-▏#=]{3,}|\d+\/\d+)[^\n]*$/u;
/** A line that has only begun may be a progress bar. */
const BARE = /^[^\p{L}\n]{1,40}$/u;

/**
 * Takes out what a model writes and nobody wants to hear: thoughts, calls of tools, emoji, and all but the last state of a
 * progress bar. The result does not depend on the pieces, but for a label in front of a progress bar, which may have left.
 */
export class Unspoken implements Stage<string, string> {
  readonly #filler: string;
  #held = '';
  /** The end of what is left out. */
  #closing: RegExp | undefined;

  /** @param filler stands for each character that is taken out */
  constructor(filler = '') {
    this.#filler = filler;
  }

  *push(text: string): Generator<string> {
    this.#held += text;
    yield* this.#pass(false);
  }

  *end(): Generator<string> {
    yield* this.#pass(true);
  }

  *#pass(isEnd: boolean): Generator<string> {
    while (this.#held !== '') {
      const length = this.#held.length;
      const spoken = this.#closing ? this.#skip(this.#closing, isEnd) : this.#take(isEnd);
      if (spoken !== '') yield spoken;
      if (this.#held.length === length) return;
    }
  }

  #skip(closing: RegExp, isEnd: boolean): string {
    const found = closing.exec(this.#held);
    if (!found) {
      const kept = isEnd ? 0 : LONGEST_CLOSING;
      return this.#takenOut(this.#pull(Math.max(0, this.#held.length - kept)));
    }
    this.#closing = undefined;
    return this.#takenOut(this.#pull(found.index + found[0].length));
  }

  #take(isEnd: boolean): string {
    const tag = OPENING.exec(this.#held);
    const fence = JSON_FENCE.exec(this.#held);
    if (tag && (!fence || tag.index < fence.index)) {
      this.#closing = new RegExp(`</${tag[1]}>`, 'iu');
      return this.#clean(this.#pull(tag.index)) + this.#takenOut(this.#pull(tag[0].length));
    }
    if (fence) return this.#block(fence, isEnd);
    return this.#clean(this.#pull(isEnd ? this.#held.length : settled(this.#held)));
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
    if (!CALL.test(block)) return before + block;
    const line = leadingBreak(block);
    return before + line + this.#takenOut(block.slice(line.length));
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
    return pulled;
  }
}

const LONGEST_CLOSING = 24;

/** UTF-16 units of what no later piece changes. */
function settled(text: string): number {
  const parts = [PART_OF_TAG, PART_OF_FENCE, PART_OF_EMOJI].map((part) => text.search(part));
  const line = text.lastIndexOf('\n') + 1;
  if (PROGRESS.test(text.slice(line)) || BARE.test(text.slice(line))) parts.push(line);
  return Math.min(text.length, ...parts.filter((at) => at >= 0));
}

function leadingBreak(block: string): string {
  return block.startsWith('\n') ? '\n' : '';
}
