import type { Prepare } from './input.ts';
import type { Lexicon } from './lexicon.ts';
import { applyLexicon } from './lexicon-apply.ts';
import { formatOf } from './markdown/format.ts';
import { liveMarkdown, type MarkdownOptions, spokenMarkdown } from './markdown/spoken.ts';

export interface Preparation extends MarkdownOptions {
  readonly format: Parameters<typeof formatOf>[1];
  readonly lexicon: Lexicon | undefined;
}

/** Markdown as a person would read it, then words as they are spoken. */
export function preparing({ format, lexicon, code }: Preparation, signal: AbortSignal): Prepare {
  const read = (text: AsyncIterable<string>, isLive: boolean) =>
    isLive ? liveMarkdown(text, { code }, signal) : spokenMarkdown(text, { code });
  return (name, text, isLive = false) => {
    const plain = formatOf(name, format) === 'markdown' ? read(text, isLive) : text;
    return lexicon ? applyLexicon(lexicon, plain) : plain;
  };
}
