import { type TtsError, usageError } from '../../error.ts';
import { readWhole } from '../whole.ts';
import { withoutFrontMatter } from './front-matter.ts';

export interface MarkdownOptions {
  /** What becomes of code blocks: left out, named in a few words, or spoken. Code in a sentence is always spoken. */
  readonly code: 'skip' | 'announce' | 'read';
}

/**
 * In UTF-16 units. A reference may be defined on the last line, so a document has to be read whole. What it takes in
 * memory depends on its blocks: about 15 bytes a character for prose, 350 for nothing but empty headings.
 */
export const LONGEST_MARKDOWN = 4 * 1024 * 1024;

/**
 * Markdown as a person would read it aloud: CommonMark with the tables, strikethrough, task lists and footnotes of
 * GitHub. The document is read whole; the text of one block after the other comes out, separated by an empty line, or
 * by a line break within tight lists and tables.
 *
 * @throws TtsError usage, for more than {@link LONGEST_MARKDOWN}
 */
export async function* spokenMarkdown(
  text: AsyncIterable<string>,
  { code }: MarkdownOptions,
): AsyncGenerator<string> {
  const source = await readWhole(text, LONGEST_MARKDOWN, tooLong);
  const { spokenBlocks } = await import('./blocks.ts');
  yield* spokenBlocks(withoutFrontMatter(source), code);
}

function tooLong(): TtsError {
  return usageError(
    `the Markdown is longer than ${LONGEST_MARKDOWN} characters`,
    'speak it in parts, or as it stands with --format text',
  );
}
