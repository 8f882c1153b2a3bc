import { usageError } from '../../error.ts';
import type { Settings } from '../../settings/resolve.ts';
import { kindOf, settingsFor } from '../../settings/speaker.ts';
import { countCodePoints } from '../../text/code-points.ts';
import type { Segment } from '../../text/segment.ts';
import type { Row } from './speakers.ts';

/** One text, and who is to speak it. */
export interface Lines {
  readonly text: string;
  readonly speakers: readonly Row[];
  readonly settings: Settings;
}

/** A speaker of the sample. */
export interface Voice {
  readonly no: number;
  readonly settings: Settings;
  readonly label: string;
}

/**
 * Each speaker once, by the first name that it has. A rate of its own is left out: one sound has one.
 * @throws TtsError (usage) when there is none, the text does not fit into one request, or one cannot do what is asked for
 */
export function voicesOf({ speakers, settings, text }: Lines): Voice[] {
  if (text.trim() === '') throw usageError('nothing to say', 'the text of --sample is blank');
  if (countCodePoints(text) > settings.maxChars.value)
    throw usageError(
      `the text of --sample is longer than ${settings.maxChars.value} characters, and is not cut`,
      'a sentence or two are enough; a long text is for tts -s NAME',
    );
  const seen = new Set<number>();
  const once = speakers.filter(({ no }) => seen.size < seen.add(no).size);
  if (once.length === 0)
    throw usageError('there is no speaker to hear', 'name some under "speakers" in a config file');
  return once.map(({ no, name, kind = kindOf(no, speakers), instructions }) => ({
    no,
    label: `speaker ${no}${name ? ` (${name})` : ''}`,
    settings: settingsFor({ no, name, kind, instructions }, settings),
  }));
}

/** The text once for each. */
export async function* eachWith(text: string, count: number): AsyncGenerator<Segment> {
  for (let index = 0; index < count; index += 1) yield { text, line: 1, startsParagraph: true, index };
}
