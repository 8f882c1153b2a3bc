import { usageError } from '../error.ts';
import { namedFile } from '../settings/named-file.ts';
import type { Settings } from '../settings/resolve.ts';
import { decode } from '../text/decode.ts';
import { openFile } from '../text/input.ts';
import type { Lexicon } from '../text/lexicon.ts';
import { formatOf } from '../text/markdown/format.ts';
import { readWhole } from '../text/whole.ts';
import type { Context } from './commands.ts';
import type { Order } from './task.ts';

/** In UTF-16 units: a hundred thousand words. */
const LONGEST_LEXICON = 4 * 1024 * 1024;

/**
 * An order with what has to be done to its text before it is spoken. Markdown and lexicon are loaded only for it.
 * @throws TtsError (usage) for a lexicon that cannot be read
 */
export async function prepareOrder(order: Order, settings: Settings, context: Context): Promise<Order> {
  const { format, code } = settings;
  const names = order.words.length > 0 ? [''] : order.files;
  const isPlain = names.every((name) => formatOf(name, format.value) === 'text');
  if (isPlain && !settings.lexicon) return order;
  const { preparing } = await import('../text/prepare.ts');
  const lexicon = await loadLexicon(settings, context);
  const preparation = { format: format.value, code: code.value, lexicon };
  return { ...order, prepare: preparing(preparation, context.signal) };
}

async function loadLexicon({ lexicon }: Settings, { host, signal }: Context): Promise<Lexicon | undefined> {
  if (!lexicon) return undefined;
  const { readLexicon } = await import('../text/lexicon.ts');
  const path = namedFile(lexicon, host, '--lexicon');
  const text = decode(openFile(path, host.cwd, signal), lexicon.value);
  const source = await readWhole(text, LONGEST_LEXICON, () =>
    usageError(
      `${lexicon.value} is longer than ${LONGEST_LEXICON} characters`,
      'keep the words that this text needs',
    ),
  );
  return readLexicon(source, lexicon.value);
}
