import { setTimeout as sleep } from 'node:timers/promises';
import type { Drops } from '../kit/host.ts';
import { yieldToEventLoop } from '../kit/wait.ts';
import type { Source } from '../read/reading.ts';
import type { Places } from '../text/position.ts';
import type { Rest, Segment } from '../text/segment.ts';

/** Bytes that are read ahead of the voice: an answer that is dropped has to be out of the pipe. */
const MOST_AHEAD = 4 * 1024 * 1024;

interface Arrival {
  readonly bytes: Uint8Array;
  /** The time at which it came, in milliseconds. */
  readonly at: number;
  /** True after the turn of the event loop in which it came. A signal is told last in its turn. */
  isOfEarlierTurn: boolean;
}

/** A signal may arrive later than text that was written after it, so a drop keeps what came in these milliseconds before. */
const JUST_NOW_MS = 10;

const FORM_FEED = 0x0c;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Bytes. A writer of a document fills its blocks. */
const BLOCK = 4096;

/** What of an input lies in front of an answer. A line end counts as one character. */
export interface Passed {
  readonly characters: number;
  readonly lines: number;
}

/**
 * A pipe as the answers of a conversation. A form feed ends an answer, and a drop ends one at once. In a full block, form
 * feeds at the end of a line are borders of pages in a document.
 */
export class Answers {
  /** Its bytes are those of the next answer. */
  readonly source: Source;
  readonly #original: Source;
  readonly #arrivals: Arrival[] = [];
  #ahead = 0;
  #isBegun = false;
  #isOver = false;
  /** True for bytes that are no characters, in which a form feed is no sign. */
  #isOpaque = false;
  #error: unknown;
  #changed = () => {};
  #room = () => {};
  #characters = 0;
  #lines = 0;
  #last = 0;
  #dropped = 0;
  #isDivided = false;

  constructor(source: Source) {
    this.#original = source;
    this.source = { ...source, bytes: (signal) => this.#next(signal) };
  }

  /** True if another answer, or the error of the pipe, may follow the last one. */
  get goesOn(): boolean {
    return this.#isDivided && (!this.#isOver || this.#arrivals.length > 0 || this.#error !== undefined);
  }

  get passed(): Passed {
    return { characters: this.#characters, lines: this.#lines };
  }

  /** Answers are heard while they are written. Without this, the pipe is one text. */
  divide(drops: Drops): void {
    this.#isDivided = true;
    drops.listen(() => this.#drop());
  }

  /** Lets go of all that has come. */
  #drop(): void {
    this.#dropped += 1;
    const isOld = ({ at, isOfEarlierTurn }: Arrival) =>
      isOfEarlierTurn && performance.now() - at >= JUST_NOW_MS;
    for (let [arrival] = this.#arrivals; arrival && isOld(arrival); [arrival] = this.#arrivals)
      this.#pass(this.#take(arrival));
    this.#changed();
  }

  async *#next(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    if (!this.#isDivided) return yield* this.#original.bytes(signal);
    if (!this.#isBegun) void this.#pump(signal);
    const dropped = this.#dropped;
    for (let arrival = await this.#due(dropped); arrival; arrival = await this.#due(dropped)) {
      const bytes = this.#take(arrival);
      const length = this.#lengthOfAnswer(bytes);
      this.#pass(bytes.subarray(0, length + 1));
      // A drop may end this generator here, and has to find the rest.
      this.#putBack({ ...arrival, bytes: bytes.subarray(length + 1) });
      if (length > 0) yield bytes.subarray(0, length);
      if (length < bytes.length) return;
    }
  }

  /** @returns the next bytes when their time has come, and `undefined` at the end of the pipe and at a drop */
  async #due(dropped: number): Promise<Arrival | undefined> {
    while (dropped === this.#dropped) {
      const [arrival] = this.#arrivals;
      const wait = arrival && arrival.at + JUST_NOW_MS - performance.now();
      if (arrival && (wait ?? 0) <= 0) return arrival;
      if (!arrival && this.#isOver) return this.#end();
      await (arrival ? sleep(wait) : this.#change());
    }
    return undefined;
  }

  /** @throws the error of the pipe */
  #end(): undefined {
    if (this.#error !== undefined) throw this.#error;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  /** @returns the place of the form feed that ends the answer, or the number of all bytes */
  #lengthOfAnswer(bytes: Uint8Array): number {
    if (this.#isOpaque) return bytes.length;
    for (let at = bytes.indexOf(FORM_FEED); at >= 0; at = bytes.indexOf(FORM_FEED, at + 1)) {
      const isPage = bytes.length >= BLOCK && (at === 0 || bytes[at - 1] === LINE_FEED);
      if (!isPage) return at;
    }
    return bytes.length;
  }

  async #pump(signal: AbortSignal): Promise<void> {
    this.#isBegun = true;
    try {
      for await (const bytes of this.#original.bytes(signal)) {
        if (this.#characters === 0 && this.#ahead === 0) this.#isOpaque = isOpaque(bytes);
        const arrival = { bytes, at: performance.now(), isOfEarlierTurn: false };
        void yieldToEventLoop().then(() => {
          arrival.isOfEarlierTurn = true;
        });
        this.#arrivals.push(arrival);
        this.#ahead += bytes.length;
        this.#changed();
        while (this.#ahead > MOST_AHEAD)
          await new Promise<void>((resolve) => {
            this.#room = resolve;
          });
      }
    } catch (error) {
      this.#error = error;
    } finally {
      this.#isOver = true;
      this.#changed();
    }
  }

  #take({ bytes }: Arrival): Uint8Array {
    this.#arrivals.shift();
    this.#ahead -= bytes.length;
    this.#room();
    return bytes;
  }

  #putBack(arrival: Arrival): void {
    if (arrival.bytes.length === 0) return;
    this.#arrivals.unshift(arrival);
    this.#ahead += arrival.bytes.length;
  }

  #pass(bytes: Uint8Array): void {
    for (const byte of bytes) {
      const isInside = (byte & 0xc0) === 0x80 || (byte === LINE_FEED && this.#last === RETURN);
      if (!isInside) this.#characters += 1;
      if (byte === LINE_FEED) this.#lines += 1;
      this.#last = byte;
    }
  }
}

/** True for an archive, and for text in UTF-16. */
function isOpaque([first, second]: Uint8Array): boolean {
  return (
    (first === 0x50 && second === 0x4b) ||
    (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff)
  );
}

/** What a run that is heard wants besides the segments. */
export interface Talking {
  readonly drops?: Drops | undefined;
  /** They tell the segments where they stand in the input. */
  readonly places?: Places | undefined;
}

interface Talk {
  readonly drops: Drops;
  /** Without them, the text is one answer. */
  readonly answers: Answers | undefined;
  readonly signal: AbortSignal;
}

/**
 * The segments of a conversation, answer by answer. After a drop, the next answer begins with what comes then.
 * @param segmentsOf makes those of the next answer
 */
export async function* talk(
  segmentsOf: (until: AbortSignal) => AsyncIterable<Segment | Rest>,
  { drops, answers, signal }: Talk,
): AsyncGenerator<Segment | Rest> {
  let index = 0;
  do {
    const lines = answers?.passed.lines ?? 0;
    for await (const each of answerOf(segmentsOf, drops.signal, signal)) {
      yield each.kind === 'rest' ? each : inTalk(each, index, lines);
      if (each.kind === 'segment') index += 1;
    }
  } while (answers?.goesOn);
}

/** It ends at a drop. */
async function* answerOf(
  segmentsOf: (until: AbortSignal) => AsyncIterable<Segment | Rest>,
  dropped: AbortSignal,
  signal: AbortSignal,
): AsyncGenerator<Segment | Rest> {
  try {
    for await (const each of segmentsOf(AbortSignal.any([signal, dropped]))) {
      if (dropped.aborted) return;
      yield each;
    }
  } catch (error) {
    if (signal.aborted || !dropped.aborted) throw error;
  }
}

/** Numbers count on from answer to answer, and so do the lines of the pipe. */
function inTalk(segment: Segment, index: number, lines: number): Segment {
  const { source, line } = segment.place;
  const isOfPipe = source === '-' || source === '';
  const place = line === undefined || !isOfPipe ? segment.place : { ...segment.place, line: line + lines };
  return { ...segment, index, place };
}
