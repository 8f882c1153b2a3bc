import { expect, it } from 'vitest';
import { EngineError, type EngineFault } from '../../../src/engines/engine.ts';
import { Refusal } from '../../../src/serve/http.ts';
import { forClient, refusalOf } from '../../../src/serve/sound.ts';

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
