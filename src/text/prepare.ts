import type { Prepare } from './input.ts';
import type { Lexicon } from './lexicon.ts';
import { applyLexicon } from './lexicon-apply.ts';
import { formatOf } from './markdown/format.ts';
import { type MarkdownOptions, spokenMarkdown } from './markdown/spoken.ts';

export interface Preparation extends MarkdownOptions {
  readonly format: Parameters<typeof formatOf>[1];
  readonly lexicon: Lexicon | undefined;
}

/** Markdown as a person would read it, then words as they are spoken. */
export function preparing({ format, code, lexicon }: Preparation): Prepare {
  return (name, text) => {
    const plain = formatOf(name, format) === 'markdown' ? spokenMarkdown(text, { code }) : text;
    return lexicon ? applyLexicon(lexicon, plain) : plain;
  };
}
