/** Removes from the texts of clients what should not be heard, as a run does with the same options. */
import { usageError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import { type Settings, withAssistant } from '../options/load.ts';
import type { Reader } from '../read/reading.ts';
import { wordsSource } from '../read/source.ts';
import { answerFilterOf, readerOf, replacementsOf } from '../run/readers.ts';
import { RunText, type TextPlan } from '../run/text.ts';
import { Spacing } from '../text/piece.ts';

/** How texts of clients are read. */
export interface TextReading extends Pick<TextPlan, 'stages' | 'inFront'> {
  readonly reader: Reader;
  /** @returns the text as it is to be spoken, with empty lines between its paragraphs; blank if nothing of it is */
  cleaned(text: string, signal: AbortSignal): Promise<string>;
}

/**
 * @returns `undefined` where no option asks for it: texts are then spoken as they come
 * @throws TtsError (usage) for a lexicon that cannot be read, and for a format of files
 */
export async function readingOf(settings: Settings, context: RunContext): Promise<TextReading | undefined> {
  const { assistant, format, lexicon } = settings;
  if (!assistant.value && format.value === 'auto' && !lexicon) return undefined;
  if (!OF_CLIENTS.has(format.value))
    throw usageError(
      `${format.origin.name} ${format.value}: clients send texts, and this is the format of a file`,
      'choose text, markdown or html',
    );
  const all = withAssistant(settings);
  const { stages } = await replacementsOf(all, context);
  const how = { stages, inFront: await answerFilterOf(all), reader: readerOf('', all) };
  return { ...how, cleaned: (text, signal) => cleaned(text, how, signal) };
}

async function cleaned(
  text: string,
  { reader, ...stages }: Omit<TextReading, 'cleaned'>,
  signal: AbortSignal,
): Promise<string> {
  const sources = () => [{ source: wordsSource(text), reader }];
  const plan = { sources, ...stages, pace: 'whole', cutsParagraphs: false } as const;
  const spacing = new Spacing();
  let clean = '';
  for await (const piece of (await RunText.open(plan, signal)).pieces(signal)) clean += spacing.of(piece);
  return clean.trim();
}

const OF_CLIENTS: ReadonlySet<string> = new Set(['auto', 'text', 'markdown', 'html']);
