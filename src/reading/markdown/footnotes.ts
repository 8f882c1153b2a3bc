import type { Token } from 'markdown-it';
import { endsSentence, withFullStop } from '../sentence-end.ts';
import { spokenInline } from './inline.ts';
import type { MarkdownDocument, MarkdownOptions } from './parser.ts';

function labelsIn(text: string): readonly string[] {
  return [...text.matchAll(/\[\^([^\s[\]]+)\]/gu)].map(([, label = '']) => label);
}

/** The notes of a document that is read once. */
export class Footnotes {
  readonly #how: MarkdownOptions['footnotes'];
  readonly #notes = new Map<string, string>();
  readonly #said = new Set<string>();
  readonly #spoken: (text: string) => string;

  constructor(document: MarkdownDocument, { footnotes: how, math }: MarkdownOptions) {
    this.#how = how;
    this.#spoken = (text) => spokenInline(document.inline(text), { math });
    const { notes, texts } = contentsOf(document.blocks);
    const labels = notes.size === 0 || how === 'skip' ? [] : texts.flatMap(labelsIn);
    const referred = new Set(labels);
    for (const [label, contents] of notes)
      if (how === 'skip' || referred.has(label))
        this.#notes.set(label, contents.map((each) => this.#spoken(each)).join(' '));
  }

  has(label: string): boolean {
    return this.#notes.has(label);
  }

  /**
   * A note is said once, at the first of its references.
   * @param said the text before the reference, or before a note that stands in the text
   */
  noteAfter(said: string, { type, content, meta }: Token): string {
    if (this.#how === 'skip') return '';
    const note = type === 'inline_note' ? this.#spoken(content) : this.#take(String(meta?.label));
    if (!note) return '';
    return endsSentence(said) ? ` ${withFullStop(note)}` : ` (${note.replace(/\.$/u, '')})`;
  }

  #take(label: string): string | undefined {
    if (this.#said.has(label)) return undefined;
    this.#said.add(label);
    return this.#notes.get(label);
  }
}

function contentsOf(blocks: readonly Token[]) {
  const notes = new Map<string, string[]>();
  const texts: string[] = [];
  let contents = texts;
  for (const { type, content, meta } of blocks) {
    if (type === 'footnote_reference_open') {
      contents = [];
      notes.set(String(meta?.label), contents);
    }
    if (type === 'footnote_reference_close') contents = texts;
    else if (type === 'inline') contents.push(content);
  }
  return { notes, texts };
}
