import { describe, expect, it, vi } from 'vitest';
import { retryAfter } from '../../../src/kit/error.ts';

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

  it.each([undefined, '', 'soon', '-1', '1e3', '0x10', 'NaN', 'Infinity'])(
    'says nothing where the header does not: %j',
    (header) => {
      expect(retryAfter({ 'retry-after': header }, now)).toBeUndefined();
    },
  );
});
