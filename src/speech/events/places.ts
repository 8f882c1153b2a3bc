import { countLineBreaks } from '../../text/lines.ts';
import type { Stage } from '../../text/live.ts';
import type { Rest, Segment, Span } from '../../text/segment.ts';
import { countCodePoints } from '../../text/unicode.ts';
import { alignedIn } from './aligned.ts';

/** Stands for a character that was taken out, so that what follows keeps its place. It is a noncharacter. */
const TAKEN_OUT = '\uFDD2';

/**
 * The texts of a run as they came, and where each segment stands in them. Only what no segment has passed yet is kept, and of
 * that the last four million UTF-16 units.
 */
export class Places {
  /** A stage in front puts it in the place of each character that it takes out. */
  readonly filler = TAKEN_OUT;
  readonly #inputs = new Map<string, InputText>();

  /**
   * A stage that sees a text before its reader does.
   * @param passed characters of its source in front of it
   */
  of(source: string, { characters } = { characters: 0 }): Stage<string, string> {
    const input = new InputText(characters);
    this.#inputs.set(source, input);
    return {
      push(text) {
        input.add(text);
        const left = text.replaceAll(TAKEN_OUT, '');
        return left === '' ? [] : [left];
      },
      end: () => [],
    };
  }

  /** A segment of a document that is no text gets no place. */
  async *placing(segments: AsyncIterable<Segment | Rest>): AsyncGenerator<Segment | Rest> {
    for await (const each of segments)
      yield each.kind === 'rest' ? each : { ...each, span: this.#spanOf(each) };
  }

  #spanOf({ written, place: { source, line } }: Segment): Span | undefined {
    return line === undefined ? undefined : this.#inputs.get(source)?.pass(written, line);
  }
}

/** UTF-16 units. */
const MOST_KEPT = 4 * 1024 * 1024;

class InputText {
  /** What follows the last segment. */
  #text = '';
  /** Code points in front of it. */
  #start: number;
  /** The line in which it begins. */
  #line = 1;

  constructor(start: number) {
    this.#start = start;
  }

  add(text: string): void {
    this.#text += text;
    if (this.#text.length > 2 * MOST_KEPT) this.#forget(this.#text.length - MOST_KEPT);
  }

  pass(written: string, line: number): Span {
    const found = alignedIn(this.#text, written, this.#startOf(line));
    const start = this.#start + countCodePoints(this.#text.slice(0, found.start));
    const end = start + countCodePoints(this.#text.slice(found.start, found.end));
    this.#forget(found.end);
    return { start, end };
  }

  /** UTF-16 units in front of a line. A line that has begun counts from what is left of it. */
  #startOf(line: number): number {
    let at = 0;
    for (let number = this.#line; number < line; number += 1) {
      const next = this.#text.indexOf('\n', at) + 1;
      if (next === 0) return at;
      at = next;
    }
    return at;
  }

  #forget(length: number): void {
    const passed = this.#text.slice(0, length);
    this.#start += countCodePoints(passed);
    this.#line += countLineBreaks(passed);
    this.#text = this.#text.slice(length);
  }
}
