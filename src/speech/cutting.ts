import { outranks, type Settings } from '../settings/resolve.ts';
import type { Limit } from '../text/segment.ts';
import type { Mix, Pauses } from './mix.ts';
import type { TextPlan } from './text.ts';

export function mixOf(settings: Settings): Mix {
  return { pauses: pausesOf(settings), loudness: settings.loudness?.value };
}

export const USUAL_PAUSES: Pauses = { chapter: 1.5, scene: 1.2, heading: 0.8, paragraph: 0.3, sentence: 0 };

/** Where both say how long the silence between paragraphs is, the stronger place counts, and `pauses` in the same place. */
function pausesOf({ pauses, paragraphPause }: Settings): Pauses {
  const said: Partial<Pauses> = Object.fromEntries(pauses?.value ?? []);
  const isWeaker = !pauses || outranks(paragraphPause.origin, pauses.origin);
  const { paragraph = paragraphPause.value } = isWeaker ? {} : said;
  return { ...USUAL_PAUSES, ...said, paragraph };
}

/** With subtitles and events each sentence is a segment, unless `--max-chars` was typed, and where another voice may speak on. */
export function cuttingOf(
  settings: Settings,
  voice: Limit,
  { fallback }: { readonly fallback?: object | undefined } = {},
): Omit<TextPlan, 'sources' | 'stages'> {
  const { callbackUrl, maxChars, subtitles, events } = settings;
  const chapters = settings.chapters?.value;
  if (callbackUrl)
    return { voice: { maxChars: Number.MAX_SAFE_INTEGER }, pace: 'whole', cutsParagraphs: false, chapters };
  const bySentence = (subtitles ?? events) && maxChars.origin.place !== 'option';
  const borders = bordersOf(settings);
  const isFine = bySentence || fallback !== undefined;
  const usesKept = borders.pace !== 'sentence';
  return { voice, ...borders, ...(isFine && { pace: 'sentence', usesKept }), chapters };
}

/** A silence that was asked for needs a segment on each side. */
export function bordersOf(settings: Settings): Pick<TextPlan, 'pace' | 'cutsParagraphs'> {
  const { pauses, paragraphPause } = settings;
  return {
    pace: pausesOf(settings).sentence > 0 ? 'sentence' : 'by output',
    cutsParagraphs: paragraphPause.origin.place !== 'default' || pauses?.value.has('paragraph') === true,
  };
}
