import { expect, it } from 'vitest';
import { Refusal } from '../../../src/serve/http.ts';
import { withRetryAfter } from '../../../src/serve/speak.ts';

const busy = new Refusal(503, 'busy', 'too many requests wait already', { retryAfter: 3 });

it.each([
  [0, 2, 3],
  [64, 2, 4],
  [64, 1, 7],
  [1000, 8, 13],
  [5, 0, 3],
  [1e6, 4, 60],
])('with %i waiting for %i workers, says to come again in %i s', (queued, workers, retryAfter) => {
  expect(withRetryAfter(busy, { queued, workers })).toMatchObject({ status: 503, code: 'busy', retryAfter });
});

it('leaves every other error alone', () => {
  for (const error of [new Refusal(422, 'unsupported_text', 'x'), new Error('x')]) {
    expect(withRetryAfter(error, { queued: 1000, workers: 1 })).toBe(error);
  }
});

it('says to come again in a second where nobody knows better', () => {
  const refusal = new Refusal(503, 'busy', 'x');
  expect(withRetryAfter(refusal, { queued: 0, workers: 2 })).toMatchObject({ retryAfter: 1 });
});
