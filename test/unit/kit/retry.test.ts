import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { askedWait, retryAfter } from '../../../src/kit/http/answer.ts';
import { retryDelay } from '../../../src/kit/retry.ts';

const failed = (retry?: { after?: number }) => new TtsError('x', { exitCode: ExitCode.service, retry });
const tries = (made: number, allowed = 3) => ({ made, allowed });

describe('retryDelay', () => {
  it.each<[string, object | undefined, made: number, chance: number, seconds: number | undefined]>([
    ['where another try makes no sense', undefined, 0, 0, undefined],
    ['where none is left', {}, 3, 0, undefined],
    ['at first', {}, 0, 1, 0.5],
    ['twice as long each time', {}, 2, 1, 2],
    ['half of it by chance', {}, 2, 0, 1],
    ['as long as the service asks for', { after: 7.5 }, 2, 0, 7.5],
    ['not at all after a lost connection', { after: 0 }, 0, 1, 0],
    ['before the next try after a lost connection', { after: 0 }, 1, 1, 1],
    ['for an hour', { after: 3600 }, 0, 0, 3600],
    ['not for longer', { after: 3601 }, 0, 0, undefined],
  ])('waits, or gives up: %s', (...row) => {
    const [, retry, made, chance, seconds] = row;
    expect(retryDelay(failed(retry), tries(made), chance)).toBe(seconds);
  });

  it('is never a busy loop and never endless, whatever the service asks for', () => {
    const header = fc.option(fc.oneof(fc.double(), fc.integer(), fc.constant(0)), { nil: undefined });
    fc.assert(
      fc.property(header, fc.nat(99), fc.double({ min: 0, max: 1, noNaN: true }), (after, made, chance) => {
        const asked = after === undefined ? undefined : retryAfter({ 'retry-after': String(after) }, 0);
        const delay = retryDelay(
          failed(asked === undefined ? {} : { after: asked }),
          tries(made, 100),
          chance,
        );
        expect(delay ?? 1).toBeGreaterThanOrEqual(0.05);
        expect(delay ?? 1).toBeLessThanOrEqual(3600);
      }),
    );
  });
});

describe('retryAfter', () => {
  const now = Date.UTC(2030, 0, 1);

  it.each([
    ['0', 0.05],
    ['120', 120],
    [' 3 ', 3],
    ['1.5', 1.5],
    ['9'.repeat(400), 2 ** 31],
    [new Date(now + 90_000).toUTCString(), 90],
    [new Date(now - 90_000).toUTCString(), 0.05],
  ])('reads seconds and dates: %j', (header, seconds) => {
    expect(retryAfter({ 'retry-after': header }, now)).toBe(seconds);
  });

  it.each([
    [new Date(now + 90_000).toUTCString(), 30],
    ['120', 120],
  ])('counts a date from that of the answer: %j', (header, seconds) => {
    const date = new Date(now + 60_000).toUTCString();
    expect(retryAfter({ 'retry-after': header, date }, now)).toBe(seconds);
  });

  it.each(['UTC', 'America/New_York', 'Asia/Tokyo'])(
    'reads the date without a zone in GMT, in %s too',
    (zone) => {
      vi.stubEnv('TZ', zone);
      expect(retryAfter({ 'retry-after': 'Tue Jan  1 00:01:30 2030' }, now)).toBe(90);
      vi.unstubAllEnvs();
    },
  );

  it.each<[Record<string, string>, number]>([
    [{ 'retry-after-ms': '1500' }, 1.5],
    [{ 'retry-after-ms': '20', 'retry-after': '9' }, 0.05],
    [{ 'x-ms-retry-after-ms': '2000.5' }, 2.0005],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9],
    [{ 'retry-after': '9', 'x-ratelimit-reset': '99' }, 9],
    [{ 'ratelimit-reset': '5' }, 5],
    [{ 'x-ratelimit-reset': '7', 'x-ratelimit-remaining': '0' }, 7],
    [{ 'x-ratelimit-reset-after': '1.25' }, 1.25],
    [{ 'x-ratelimit-reset': `${now / 1000 + 30}` }, 30],
    [{ 'x-rate-limit-reset': `${now + 40_000}` }, 40],
    [{ 'x-ratelimit-reset': `${now / 1000 - 30}` }, 0.05],
    [{ 'x-ratelimit-reset-requests': '6m0s' }, 360],
    [{ 'x-ratelimit-reset-requests': '120ms' }, 0.12],
    [{ 'x-ratelimit-reset-tokens': '1h2m3.5s', 'x-ratelimit-remaining-tokens': '0' }, 3723.5],
    [
      {
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '6m0s',
        'x-ratelimit-remaining-tokens': '4000',
      },
      1,
    ],
    [{ 'anthropic-ratelimit-requests-reset': '2030-01-01T00:00:12Z' }, 12],
    [{ 'x-ratelimit-reset': new Date(now + 8000).toUTCString() }, 8],
    [{ ratelimit: 'limit=100, remaining=0, reset=5' }, 5],
    [{ ratelimit: '"default";r=0;t=6' }, 6],
  ])('reads when a limit ends: %j', (headers, seconds) => {
    expect(askedWait({ status: 429, headers }, now)).toBeCloseTo(seconds, 6);
  });

  it.each<[number, Record<string, string>]>([
    [500, { 'x-ratelimit-reset': '7' }],
    [429, { 'x-ratelimit-reset': '7', 'x-ratelimit-remaining': '3' }],
    [429, { 'x-ratelimit-reset': 'later' }],
    [429, { 'x-ratelimit-limit': '7', 'x-preset': '3' }],
    [429, { ratelimit: 'limit=100' }],
  ])('does not take other headers for it: %i %j', (status, headers) => {
    expect(askedWait({ status, headers }, now)).toBeUndefined();
  });

  it.each([undefined, '', 'soon', '-1', '1e3', '0x10', 'NaN', 'Infinity'])(
    'says nothing where the header does not: %j',
    (header) => {
      expect(retryAfter({ 'retry-after': header }, now)).toBeUndefined();
    },
  );
});
