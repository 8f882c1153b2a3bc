/** A model's answers over a pipe: messages of `--input jsonl`, or one text that may begin with an unmarked thought. */

import type { Drops } from '../kit/drops.ts';
import { type TtsError, usageError } from '../kit/error.ts';
import { Fifo } from '../kit/queue.ts';
import { yieldToEventLoop } from '../kit/wait.ts';
import type { UnspokenOptions } from '../read/assistant.ts';
import { decode } from '../read/decode.ts';
import type { Source } from '../read/reading.ts';
import { filledLines } from '../read/source.ts';
import type { Places } from '../text/places.ts';
import type { Segment, Silence } from '../text/segment.ts';
import type { Stage } from '../text/stage.ts';

/** UTF-16 units that are read ahead of the voice, so that a stop after an unwanted answer is found in time. */
const MOST_AHEAD = 4 * 1024 * 1024;

/** UTF-16 units. A model writes a few characters a line. */
const LONGEST_LINE = 1024 * 1024;

interface Message {
  readonly text: string;
  /** The answer is complete. */
  readonly end: boolean;
  /** Cancels everything that was said so far. */
  readonly stop: boolean;
}

/** @throws TtsError (usage) for a line that is no message */
export function messageIn(line: string, number: number): Message {
  const message = objectIn(line);
  const { text = '', end = false, stop = false, ...others } = message ?? {};
  const isOne = typeof text === 'string' && typeof end === 'boolean' && typeof stop === 'boolean';
  if (message && isOne && Object.keys(others).length === 0) return { text, end, stop };
  throw usageError(
    `stdin, line ${number} is not a message of --input jsonl`,
    'a line is {"text": "some words"}, {"end": true} after an answer, or {"stop": true} for silence; text as it is needs no --input',
  );
}

function objectIn(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const data: unknown = JSON.parse(line);
    return typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : undefined;
  } catch {
    return undefined;
  }
}

/** Characters and lines of the input before an answer. A line end counts as one character. */
export interface InputPosition {
  readonly characters: number;
  readonly lines: number;
}

/** UTF-16 units. The stage needs fewer to tell whether a text is a thought. */
const LONGEST_DOUBT = 128 * 1024;

/** Finds the answer after a thought whose beginning is not marked. */
export class Thought {
  readonly #stage: Stage<string, string>;
  /** The end of the text so far. */
  #last = '';
  /** UTF-16 units of the answer, at the end of the text so far. */
  #units: number | undefined;

  constructor(stageOf: (how: Pick<UnspokenOptions, 'isLive' | 'onAnswer'>) => Stage<string, string>) {
    const onAnswer = (units: number) => {
      this.#units = units;
    };
    this.#stage = stageOf({ isLive: true, onAnswer });
  }

  /** @returns the answer so far, once, as soon as it is certain that all text before it is a thought */
  answerIn(text: string): string | undefined {
    this.#last += text;
    if (this.#last.length > 2 * LONGEST_DOUBT) this.#last = this.#last.slice(-LONGEST_DOUBT);
    for (const _ of this.#stage.push(text));
    if (this.#units === undefined) return undefined;
    const answer = this.#last.slice(this.#last.length - this.#units);
    this.#units = undefined;
    return answer;
  }
}

const END = Symbol('the end of an answer');

/** The answers that come over a pipe. Reads ahead of the voice, so that a stop is noticed in time. */
export class Answers {
  /** Yields the next answer, or all answers if they are not divided. */
  readonly source: Source;
  readonly #original: Source;
  /** Set for plain text, which has no messages. */
  readonly #thought: Thought | undefined;
  readonly #queue = new Fifo<string | typeof END>();
  /** UTF-16 units in the queue, and one for each end of an answer. */
  #ahead = 0;
  #isBegun = false;
  #isTaken = false;
  #isOver = false;
  #error: unknown;
  #changed = () => {};
  #room = () => {};
  #characters = 0;
  #lines = 0;
  #last = '';
  /** The number of drops so far. */
  #dropped = 0;
  #isDivided = false;
  #drops: Drops | undefined;

  constructor(source: Source, thought?: Thought) {
    this.#original = source;
    this.#thought = thought;
    const bytes = (signal: AbortSignal) =>
      thought && !this.#drops ? source.bytes(signal) : this.#next(signal);
    this.source = { ...source, bytes, again: undefined, size: undefined };
  }

  /** True if another answer, or the error of the pipe, may follow the last one. */
  get goesOn(): boolean {
    return this.#isDivided && (!this.#isOver || !this.#queue.isEmpty || this.#error !== undefined);
  }

  /** True if a stop has dropped what was said before it. */
  get wasStopped(): boolean {
    return this.#dropped > 0;
  }

  get passed(): InputPosition {
    return { characters: this.#characters, lines: this.#lines };
  }

  /**
   * Yields one answer at a time. Without this, the pipe is one text.
   * @param drops set if answers are heard while they are written: a stop drops them
   */
  divide(drops: Drops | undefined): void {
    this.#isDivided = true;
    this.#drops = drops;
    drops?.listen(() => {
      this.#dropped += 1;
      this.#empty();
      this.#changed();
    });
  }

  async *#next(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    if (!this.#isBegun) void this.#read(signal);
    const dropped = this.#dropped;
    while (dropped === this.#dropped) {
      if (this.#queue.isEmpty) {
        if (this.#error !== undefined) throw this.#error;
        if (this.#isOver) return;
        await new Promise<void>((resolve) => {
          this.#changed = resolve;
        });
        continue;
      }
      const text = this.#take();
      this.#isTaken = true;
      if (text !== END) yield Buffer.from(text);
      else if (this.#isDivided) return;
      else yield Buffer.from('\n\n');
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    this.#isBegun = true;
    try {
      const bytes = this.#original.bytes(signal);
      await (this.#thought ? this.#readText(bytes, this.#thought) : this.#readMessages(bytes));
    } catch (error) {
      this.#error = error;
    } finally {
      this.#isOver = true;
      this.#changed();
    }
  }

  async #readMessages(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const { line, content } of filledLines(decode(bytes, 'stdin'), LONGEST_LINE, tooLong))
      await this.#follow(messageIn(content, line));
  }

  async #readText(bytes: AsyncIterable<Uint8Array>, thought: Thought): Promise<void> {
    for await (const text of decode(bytes, 'stdin')) {
      const answer = thought.answerIn(text);
      const stop = answer !== undefined && this.#isTaken;
      if (answer !== undefined) {
        this.#empty();
        this.#pass(text.slice(0, Math.max(0, text.length - answer.length)));
      }
      await this.#follow({ text: answer ?? text, end: false, stop });
    }
  }

  #empty(): void {
    while (!this.#queue.isEmpty) this.#take();
  }

  async #follow({ text, end, stop }: Message): Promise<void> {
    if (stop) {
      // Until the next tick, a part may be between two steps, where a drop would miss it.
      await yieldToEventLoop();
      this.#drops?.now();
    }
    if (text !== '') this.#queue.push(text);
    if (end) this.#queue.push(END);
    this.#ahead += text.length + Number(end);
    this.#changed();
    while (this.#ahead > MOST_AHEAD)
      await new Promise<void>((resolve) => {
        this.#room = resolve;
      });
  }

  #take(): string | typeof END {
    const next = this.#queue.take() ?? '';
    this.#ahead -= next === END ? 1 : next.length;
    this.#room();
    if (next !== END) this.#pass(next);
    return next;
  }

  #pass(text: string): void {
    for (const character of text) {
      if (character !== '\n' || this.#last !== '\r') this.#characters += 1;
      if (character === '\n') this.#lines += 1;
      this.#last = character;
    }
  }
}

function tooLong(): TtsError {
  return usageError(
    `stdin holds a line of more than ${LONGEST_LINE} characters`,
    'write each message of --input jsonl into a line of its own',
  );
}

/** Options for segments that are heard live. */
export interface SegmentOptions {
  readonly drops?: Drops | undefined;
  /** Gives each segment its place in the input. */
  readonly places?: Places | undefined;
}

interface ConversationState {
  readonly drops: Drops | undefined;
  readonly answers: Answers;
  readonly signal: AbortSignal;
}

/**
 * Yields the segments of a conversation, answer by answer. After a stop, the next answer begins with the next text.
 * @param segmentsOf makes the segments of the next answer
 */
export async function* segmentsByAnswer(
  segmentsOf: (until: AbortSignal) => AsyncIterable<Segment | Silence>,
  { drops, answers, signal }: ConversationState,
): AsyncGenerator<Segment | Silence> {
  let index = 0;
  do {
    const { lines } = answers.passed;
    for await (const each of answerOf(segmentsOf, drops?.signal, signal)) {
      yield each.kind === 'silence' ? each : renumbered(each, index, lines);
      if (each.kind === 'segment') index += 1;
    }
  } while (answers.goesOn);
}

/** Yields the segments of one answer, up to its end or a drop. */
async function* answerOf(
  segmentsOf: (until: AbortSignal) => AsyncIterable<Segment | Silence>,
  dropped: AbortSignal | undefined,
  signal: AbortSignal,
): AsyncGenerator<Segment | Silence> {
  try {
    for await (const each of segmentsOf(dropped ? AbortSignal.any([signal, dropped]) : signal)) {
      if (dropped?.aborted) return;
      yield each;
    }
  } catch (error) {
    if (signal.aborted || !dropped?.aborted) throw error;
  }
}

/** Continues the numbers of segments, and of the lines of the pipe, from answer to answer. */
function renumbered(segment: Segment, index: number, lines: number): Segment {
  const { source, line } = segment.place;
  const isOfPipe = source === '-' || source === '';
  const place = line === undefined || !isOfPipe ? segment.place : { ...segment.place, line: line + lines };
  return { ...segment, index, place };
}
