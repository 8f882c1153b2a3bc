import { inTurn, through } from '../../text/live.ts';
import type { Reading, Source } from '../reading.ts';
import type { HtmlOptions } from './blocks.ts';
import { MarkupDecoder } from './decode.ts';
import { Page } from './page.ts';

/** @throws TtsError (usage) for what is not text */
export async function openHtml(source: Source, options: HtmlOptions, signal: AbortSignal): Promise<Reading> {
  const label = source.name === '-' ? 'stdin' : source.name;
  if (source.again) for await (const _ of through(source.again(signal), new MarkupDecoder(label)));
  let isRead = false;
  return {
    source,
    pieces(until, { inFront } = {}) {
      const page = new Page(source.name, options);
      const decoder = new MarkupDecoder(label);
      const bytes = isRead && source.again ? source.again(until) : source.bytes(until);
      isRead = true;
      return through(bytes, inTurn(inFront ? inTurn(decoder, inFront) : decoder, page));
    },
  };
}
