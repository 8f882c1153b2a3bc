import { audioFailure } from './answer.ts';
import { type RequestOptions, request } from './request.ts';
import { type Synthesize, type Trying, withTries } from './tries.ts';

export type AttemptOptions = RequestOptions & Omit<Trying, 'name' | 'ask' | 'explain'>;

/**
 * Sends `POST /tts`, again where that may help.
 * @throws TtsError after all tries, here and while the sound is read
 */
export function createSynthesizer(options: AttemptOptions): Synthesize {
  return withTries({
    ...options,
    name: options.url.host,
    ask: (text, until) => request(text, options, until),
    explain: (error) => audioFailure(error, options),
  });
}
