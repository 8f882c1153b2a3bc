import { extname } from 'node:path';
import { usageError } from '../error.ts';
import type { RunContext } from '../host.ts';
import { decode } from '../reading/decode.ts';
import { type InputOptions, openFile, type Prepare, readWhole } from '../reading/source.ts';
import { namedFile } from '../settings/named-file.ts';
import type { Settings } from '../settings/resolve.ts';

/** UTF-16 units. */
const LONGEST_LEXICON = 4 * 1024 * 1024;

export type TextSource = Pick<InputOptions, 'words' | 'files' | 'prepare'>;

/**
 * Markdown and lexicon load only if used.
 * @throws TtsError (usage) for a lexicon that cannot be read
 */
export async function prepareText(
  { words, files }: TextSource,
  settings: Settings,
  context: RunContext,
): Promise<TextSource> {
  const { format } = settings;
  const names = words.length > 0 ? [''] : files;
  const isMarkdown = (name: string) => formatOf(name, format.value) === 'markdown';
  const readMarkdown = names.some(isMarkdown) ? await markdownReader(settings, context) : undefined;
  const replaceWords = settings.lexicon ? await lexiconReader(settings.lexicon, context) : undefined;
  if (!readMarkdown && !replaceWords) return { words, files };
  const prepare: Prepare = (name, text, isLive = false) => {
    const plain = readMarkdown && isMarkdown(name) ? readMarkdown(text, isLive) : text;
    return replaceWords ? replaceWords(plain) : plain;
  };
  return { words, files, prepare };
}

async function markdownReader({ code, footnotes }: Settings, { signal }: RunContext) {
  const { liveMarkdown, spokenMarkdown } = await import('../reading/markdown/reader.ts');
  const options = { code: code.value, footnotes: footnotes.value };
  return (text: AsyncIterable<string>, isLive: boolean) =>
    isLive ? liveMarkdown(text, options, signal) : spokenMarkdown(text, options);
}

async function lexiconReader(name: NonNullable<Settings['lexicon']>, { host, signal }: RunContext) {
  const [{ readLexicon }, { applyLexicon }] = await Promise.all([
    import('../text/lexicon/lexicon.ts'),
    import('../text/lexicon/apply.ts'),
  ]);
  const path = namedFile(name, host, '--lexicon');
  const text = decode(openFile(path, host.cwd, signal), name.value);
  const source = await readWhole(text, LONGEST_LEXICON, () =>
    usageError(
      `${name.value} is longer than ${LONGEST_LEXICON} characters`,
      'keep the words that this text needs',
    ),
  );
  const lexicon = readLexicon(source, name.value);
  return (plain: AsyncIterable<string>) => applyLexicon(lexicon, plain);
}

const ENDINGS = new Set(['.md', '.markdown', '.mdown', '.mkdn', '.mkd', '.mdwn']);

/** Words and stdin are text by default. */
export function formatOf(name: string, format: 'text' | 'markdown' | 'auto'): 'text' | 'markdown' {
  if (format !== 'auto') return format;
  return ENDINGS.has(extname(name).toLowerCase()) ? 'markdown' : 'text';
}
