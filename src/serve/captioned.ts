/** Request option and response schema for word times, in the format of Kokoro-FastAPI's captioned speech. */
import * as v from 'valibot';
import { type Exchange, type HttpApi, HttpError } from '../kit/http/route.ts';

/** Sources of word times, the most accurate first. */
export const SOURCES = ['exact', 'aligned', 'spread'] as const;

const seconds = (what: string) =>
  v.pipe(v.number(), v.description(`Seconds into the sound at which the word ${what}`));

export const CAPTIONED = v.object({
  audio: v.pipe(v.string(), v.description('The sound, or the next piece of it, in base64')),
  audio_format: v.pipe(v.string(), v.description('Its media type')),
  timestamps: v.pipe(
    v.nullable(
      v.array(v.object({ word: v.string(), start_time: seconds('begins'), end_time: seconds('ends') })),
    ),
    v.description('The words in their order; null where none were asked for'),
  ),
  source: v.pipe(
    v.optional(v.picklist(SOURCES)),
    v.description(
      '`exact`: the voice says it of itself; `aligned`: compared with another voice; `spread`: by the number of characters. Where sentences differ, the one that is off most',
    ),
  ),
  error: v.pipe(
    v.optional(v.number()),
    v.description('Seconds by which times of this source are off on average'),
  ),
});

/** One JSON object, or NDJSON with one object for each sentence. */
export const CAPTIONED_ANSWERS = { 'application/json': CAPTIONED, 'application/x-ndjson': CAPTIONED };

/** OpenAPI description of the query parameter `words`. */
export const ABOUT_WORDS = {
  parameters: [
    {
      name: 'words',
      in: 'query',
      description: 'With `true`, the answer is JSON: the sound, and the time of each word.',
      schema: { type: 'boolean', default: false },
    },
  ],
};

const ASKED: Readonly<Record<string, boolean>> = { true: true, '1': true, false: false, '0': false };

/** Reads the query parameter `words`. @throws HttpError for a value that is not a boolean */
export function asksForWords({ target }: Exchange, invalid: HttpApi<never>['invalid']): boolean {
  const value = new URLSearchParams(target.split('?')[1] ?? '').get('words');
  const asked = value === null ? false : ASKED[value];
  if (asked !== undefined) return asked;
  throw new HttpError(invalid.status, invalid.code, 'words must be true or false', { field: 'words' });
}
