import { countLineBreaks } from './paragraphs.ts';

/** A place in a text, which moves on from its start. */
export class Place {
  #line = 1;
  /** Line breaks since the last character that is no white space; the start counts as two. */
  #lineBreaks = 2;

  /** The number of its line, from 1. */
  get line(): number {
    return this.#line;
  }

  /** Whether nothing or an empty line is in front of it. */
  get startsParagraph(): boolean {
    return this.#lineBreaks >= 2;
  }

  /** Moves it behind the text that follows. */
  pass(text: string): void {
    const visible = text.trimEnd();
    const lineBreaksBehind = countLineBreaks(text.slice(visible.length));
    this.#lineBreaks = visible === '' ? this.#lineBreaks + lineBreaksBehind : lineBreaksBehind;
    this.#line += countLineBreaks(text);
  }
}
