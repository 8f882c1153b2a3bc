import type { Stage } from '../text/live.ts';

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
  #held = '';
  /** The end of what is left out. */
  #closing: RegExp | undefined;

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
      this.#held = isEnd ? '' : this.#held.slice(-LONGEST_CLOSING);
      return '';
    }
    this.#held = this.#held.slice(found.index + found[0].length);
    this.#closing = undefined;
    return '';
  }

  #take(isEnd: boolean): string {
    const tag = OPENING.exec(this.#held);
    const fence = JSON_FENCE.exec(this.#held);
    if (tag && (!fence || tag.index < fence.index)) {
      const before = this.#held.slice(0, tag.index);
      this.#held = this.#held.slice(tag.index + tag[0].length);
      this.#closing = new RegExp(`</${tag[1]}>`, 'iu');
      return clean(before);
    }
    if (fence) return this.#block(fence, isEnd);
    const length = isEnd ? this.#held.length : settled(this.#held);
    const spoken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return clean(spoken);
  }

  #block({ 0: opening, 1: marks = '', index }: RegExpExecArray, isEnd: boolean): string {
    const start = index + opening.length;
    const before = this.#held.slice(0, index);
    const closing = new RegExp(`^[ \\t]*${marks}[${marks.charAt(0)}]*[ \\t]*(?:\\n|$)`, 'mu');
    const rest = this.#held.slice(start);
    const found = closing.exec(rest);
    const isWhole = found && (isEnd || found[0].endsWith('\n'));
    if (!isWhole && !isEnd && rest.length < LONGEST_CALL) {
      this.#held = this.#held.slice(index);
      return clean(before);
    }
    const end = found ? start + found.index + found[0].length : this.#held.length;
    const block = this.#held.slice(index, end);
    this.#held = this.#held.slice(end);
    return clean(before) + (CALL.test(block) ? leadingBreak(block) : block);
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

function clean(text: string): string {
  return text.replace(WRITTEN_OVER, '').replace(CLOSING_ALONE, '').replace(EMOJI, '');
}
