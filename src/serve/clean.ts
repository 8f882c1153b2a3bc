/** Removes from the texts of clients what should not be heard, as a run does with the same options. */
import { usageError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import { type Settings, withAssistant } from '../options/load.ts';
import { wordsSource } from '../read/source.ts';
import { inFrontOf, readerOf, replacementsOf } from '../run/readers.ts';
import { RunText } from '../run/text.ts';
import { Spacing } from '../text/piece.ts';

/** @returns the text as it is to be spoken, with empty lines between its paragraphs; blank if nothing of it is */
export type Clean = (text: string, signal: AbortSignal) => Promise<string>;

/**
 * @returns `undefined` where no option asks for it: texts are then spoken as they come
 * @throws TtsError (usage) for a lexicon that cannot be read, and for a format of files
 */
export async function cleanOf(settings: Settings, context: RunContext): Promise<Clean | undefined> {
  const { assistant, format, lexicon } = settings;
  if (!assistant.value && format.value === 'auto' && !lexicon) return undefined;
  if (format.value === 'epub')
    throw usageError(
      `${format.origin.name} epub: clients send texts, and an EPUB is a file`,
      'choose text, markdown or html',
    );
  const all = withAssistant(settings);
  const { stages } = await replacementsOf(all, context);
  const inFront = await inFrontOf(all);
  const reader = readerOf('', all);
  return async (text, signal) => {
    const sources = () => [{ source: wordsSource(text), reader }];
    const plan = { sources, stages, inFront, pace: 'whole', cutsParagraphs: false } as const;
    const spacing = new Spacing();
    let clean = '';
    for await (const piece of (await RunText.open(plan, signal)).pieces(signal)) clean += spacing.of(piece);
    return clean.trim();
  };
}
