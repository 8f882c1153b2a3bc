import { lookAt, type Prepare } from './input.ts';
import type { Lexicon } from './lexicon.ts';
import { applyLexicon } from './lexicon-apply.ts';
import { formatOf } from './markdown/format.ts';
import { liveMarkdown, type MarkdownOptions, spokenMarkdown } from './markdown/spoken.ts';

export interface Preparation extends MarkdownOptions {
  readonly format: Parameters<typeof formatOf>[1];
  readonly lexicon: Lexicon | undefined;
  readonly cwd: string;
}

/** Markdown as a person would read it, then words as they are spoken. */
export function preparing({ format, lexicon, cwd, ...options }: Preparation, signal: AbortSignal): Prepare {
  const read: Prepare = (name, text) =>
    isAllThere(name, cwd) ? spokenMarkdown(text, options) : liveMarkdown(text, options, signal);
  return (name, text) => {
    const plain = formatOf(name, format) === 'markdown' ? read(name, text) : text;
    return lexicon ? applyLexicon(lexicon, plain) : plain;
  };
}

/** Whether nobody can still be writing it: it is words, or a file. */
function isAllThere(name: string, cwd: string): boolean {
  return name === '' || (name !== '-' && lookAt(name, cwd).isFile());
}
