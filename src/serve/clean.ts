/** Reads and cleans the texts of clients with the options of `tts serve`, as a run of `tts` does with the same options. */
import { usageError } from '../kit/error.ts';
import type { RunContext } from '../kit/host.ts';
import { type Settings, withAssistant } from '../options/load.ts';
import type { Reader } from '../read/reading.ts';
import { wordsSource } from '../read/source.ts';
import { answerFilterOf, readerOf, stagesOf } from '../run/readers.ts';
import { RunText, type TextPlan } from '../run/text.ts';
import { Spacing } from '../text/piece.ts';

/** The reader and the text stages for texts of clients. */
export interface TextReading extends Pick<TextPlan, 'stages' | 'filter'> {
  readonly reader: Reader;
  /** @returns the text to speak, with empty lines between paragraphs; an empty string if none of it is spoken */
  cleaned(text: string, signal: AbortSignal): Promise<string>;
}

/**
 * @returns `undefined` if no option changes texts, which are then spoken unchanged
 * @throws TtsError (usage) for a lexicon that cannot be read, or a format that only files have
 */
export async function readingOf(settings: Settings, context: RunContext): Promise<TextReading | undefined> {
  const { assistant, format, lexicon } = settings;
  if (!assistant.value && format.value === 'auto' && !lexicon) return undefined;
  if (!CLIENT_FORMATS.has(format.value))
    throw usageError(
      `${format.origin.name} ${format.value}: clients send texts, and this is the format of a file`,
      'choose text, markdown or html',
    );
  const all = withAssistant(settings);
  const { stages } = await stagesOf(all, context);
  const how = { stages, filter: await answerFilterOf(all), reader: readerOf('', all, context.host) };
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

const CLIENT_FORMATS: ReadonlySet<string> = new Set(['auto', 'text', 'markdown', 'html']);
