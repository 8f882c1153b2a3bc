import { describe, expect, it } from 'vitest';
import { EngineError, type EngineFault } from '../../../src/engines/engine.ts';
import { Refusal } from '../../../src/serve/http.ts';
import { forClient, refusalOf } from '../../../src/serve/sound.ts';
import { ignoredHeader, withRetryAfter } from '../../../src/serve/speak.ts';

describe('X-Instructions-Ignored', () => {
  it('carries any text as a header can, so that it can be read back', () => {
    const phrases = ['with a smile', 'à la Ümit, 100 %\r\nX-Evil: 1', '慢慢地'];
    const header = ignoredHeader(phrases);
    expect(header).toMatch(/^[\x21-\x7e]+(, [\x21-\x7e]+)*$/);
    expect(header.split(', ').map(decodeURIComponent)).toEqual(phrases);
  });

  it('bears halves of surrogate pairs, and cuts a pair in half without failing', () => {
    expect(decodeURIComponent(ignoredHeader(['a\ud800b']))).toBe('a\ufffdb');
    expect(decodeURIComponent(ignoredHeader([`${'x'.repeat(99)}😀`]))).toBe(`${'x'.repeat(99)}\ufffd`);
  });

  it('stays short, however much was not understood', () => {
    const header = ignoredHeader(Array.from({ length: 10_000 }, () => '慢'.repeat(50)));
    expect(header.length).toBeLessThanOrEqual(2000);
    expect(header.length).toBeGreaterThan(1000);
  });
});

describe('Retry-After', () => {
  const busy = new Refusal(503, 'busy', 'too many requests wait already', { retryAfter: 3 });

  it.each([
    [0, 2, 3],
    [64, 2, 4],
    [64, 1, 7],
    [1000, 8, 13],
    [5, 0, 3],
    [1e6, 4, 60],
  ])('with %i waiting for %i workers, says to come again in %i s', (queued, workers, retryAfter) => {
    expect(withRetryAfter(busy, { queued, workers })).toMatchObject({
      status: 503,
      code: 'busy',
      retryAfter,
    });
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
});

describe('an error', () => {
  it.each<[EngineFault, number, string]>([
    ['unsupported text', 422, 'unsupported_text'],
    ['busy', 503, 'busy'],
    ['broken', 500, 'engine_failed'],
    ['failed', 502, 'engine_failed'],
    ['late', 504, 'engine_late'],
    ['unreachable', 502, 'engine_unreachable'],
    ['refused', 502, 'engine_failed'],
    ['no storage', 507, 'storage_failed'],
  ])('an engine whose fault is "%s" is answered with %i %s', (kind, status, code) => {
    const refusal = refusalOf(new EngineError(kind, 'its words', { status: kind === 'busy' ? 503 : 401 }));
    expect(refusal).toMatchObject({ name: 'Refusal', status, code, message: 'its words' });
  });

  it('a busy engine keeps its status and its time', () => {
    const busy = new EngineError('busy', 'its words', { status: 429, retryAfter: 7 });
    expect(refusalOf(busy)).toMatchObject({ status: 429, code: 'busy', retryAfter: 7 });
  });

  it('a text that a voice cannot read is a fault of that field, and its reason is for everybody', () => {
    const error = new EngineError('unsupported text', 'English only');
    const known = forClient(error, 'id', { log: () => expect.unreachable() });
    expect(known).toMatchObject({ field: 'text', message: 'English only' });
  });

  it('a refusal of the service stays as it is, and another error says nothing', () => {
    const refusal = new Refusal(403, 'foreign_host', 'no');
    expect(refusalOf(refusal)).toBe(refusal);
    expect(refusalOf(new Error('a secret'))).toMatchObject({
      status: 500,
      code: 'internal_error',
      message: 'The service failed on this request',
    });
  });
});
