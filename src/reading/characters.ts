import { singleItem } from '../async.ts';
import { inTurn, through } from '../text/live.ts';
import { labelOf } from '../text/piece.ts';
import { Controls } from './controls.ts';
import { Decoder, decode } from './decode.ts';
import type { Source } from './reading.ts';
import { everyTime } from './source.ts';

/**
 * Checks a source for a reader of text.
 * @param look sees all of a text that can be read again
 * @returns its characters without control sequences, from the first one each time
 * @throws TtsError (usage) for what is not text
 */
export async function openCharacters(
  source: Source,
  signal: AbortSignal,
  look: (text: string) => void = () => {},
): Promise<(signal: AbortSignal) => AsyncIterable<string>> {
  const { name, words } = source;
  if (words !== undefined) {
    const text = words.replaceAll('\r\n', '\n');
    look(text);
    return () => through(singleItem(text), new Controls());
  }
  const label = labelOf(name);
  if (source.again) for await (const text of decode(source.again(signal), label)) look(text);
  const bytes = everyTime(source);
  return (until) => through(bytes(until), inTurn(new Decoder(label), new Controls()));
}
