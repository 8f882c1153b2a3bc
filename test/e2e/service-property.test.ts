import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startToneService, type ToneService } from '../support/tone-service.ts';

let tones: ToneService;
beforeAll(async () => {
  tones = await startToneService();
});
afterAll(() => tones.close());

/** The words that make the tone engine misbehave are left out. */
const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 60 })
  .filter((text) => /\S/u.test(text) && !/full|mute|crash|slow|stuck|沈黙/.test(text));
const streaming = { use_streaming_response: fc.boolean() };

const neoRequest = fc.record(
  {
    text,
    speaker_no: fc.integer({ min: 1, max: 5 }),
    config: fc.record(
      { ...streaming, sample_rate: fc.oneof(fc.integer({ min: 8000, max: 48_000 }), fc.constant(22_050.5)) },
      { requiredKeys: [] },
    ),
    callback_url: fc.constant(''),
  },
  { requiredKeys: ['text', 'speaker_no'] },
);
const mermishRequest = fc.record(
  {
    text,
    speaker_no: fc.integer({ min: 11, max: 15 }),
    config: fc.record(streaming, { requiredKeys: [] }),
    callback_url: fc.constant(''),
  },
  { requiredKeys: ['text', 'speaker_no'] },
);
const valid = fc.oneof(neoRequest, mermishRequest) as fc.Arbitrary<Body>;

interface Body {
  readonly config?: object;
  readonly [field: string]: unknown;
}

interface Break {
  /** The error of the answer names it. */
  readonly field: string | undefined;
  readonly status: number;
  readonly body: unknown;
}

const known = [
  'text',
  'speaker_no',
  'config',
  'callback_url',
  'use_streaming_response',
  'sample_rate',
  'instructions',
];
const otherName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((name) => !known.includes(name));

/** Any JSON value but those of some types. */
const notOf = (...types: string[]) =>
  fc
    .jsonValue()
    .filter(
      (value) => !types.includes(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value),
    );

/** Sets a field, or one inside of `config`, to what it may not be. */
const spoil = (body: Body, field: string, value: unknown): Break => {
  const [outer = '', inner] = field.split('.');
  const spoilt = inner === undefined ? value : { ...body.config, [inner]: value };
  return { field, status: 422, body: { ...body, [outer]: spoilt } };
};

/** Breaks a valid body in exactly one place. */
const broken: fc.Arbitrary<Break> = valid.chain((body) =>
  fc.oneof(
    fc.constantFrom('text', 'speaker_no').map((field) => {
      const { [field]: _, ...rest } = body;
      return { field, status: 422, body: rest };
    }),
    notOf('string').map((value) => spoil(body, 'text', value)),
    fc.constantFrom('', ' ', '\t\n', '\u00a0\u3000').map((value) => spoil(body, 'text', value)),
    notOf('number').map((value) => spoil(body, 'speaker_no', value)),
    fc
      .double({ noInteger: true, noNaN: true, noDefaultInfinity: true })
      .map((no) => spoil(body, 'speaker_no', no)),
    fc.integer({ min: 16 }).map((no) => spoil(body, 'speaker_no', no)),
    fc.integer({ max: 0 }).map((no) => spoil(body, 'speaker_no', no)),
    notOf('object').map((value) => spoil(body, 'config', value)),
    notOf('boolean').map((value) => spoil(body, 'config.use_streaming_response', value)),
    notOf('number').map((value) => spoil(body, 'config.sample_rate', value)),
    fc.double({ max: 7999.99, noNaN: true }).map((rate) => spoil(body, 'config.sample_rate', rate)),
    fc
      .double({ min: 48_000.01, noNaN: true, noDefaultInfinity: true })
      .map((rate) => spoil(body, 'config.sample_rate', rate)),
    notOf('string').map((value) => spoil(body, 'config.instructions', value)),
    notOf('string').map((value) => spoil(body, 'callback_url', value)),
    fc
      .constantFrom('x', 'ftp://a.b/', '/path', 'javascript:1')
      .map((url) => spoil(body, 'callback_url', url)),
    fc.webUrl().map((url) => ({ ...spoil(body, 'callback_url', url), status: 403 })),
    fc.tuple(otherName, fc.jsonValue()).map(([name, value]) => ({
      ...spoil(body, 'text', 'x'),
      field: name,
      body: withName(body, name, value),
    })),
    fc.tuple(otherName, fc.jsonValue()).map(([name, value]) => ({
      field: `config.${name}`,
      status: 422,
      body: { ...body, config: withName(body.config ?? {}, name, value) },
    })),
    notOf('object').map((value) => ({ field: undefined, status: 422, body: JSON.stringify(value) })),
    fc.constant({ field: undefined, status: 400, body: JSON.stringify(body).slice(0, -1) }),
  ),
);

/** It is made as JSON.parse does it: `__proto__` is a name like any other. */
function withName(object: object, name: string, value: unknown): object {
  const copy = { ...object };
  Object.defineProperty(copy, name, { value, enumerable: true, configurable: true });
  return copy;
}

it('answers 1,000 valid bodies with the audio that they ask for', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(valid, async (body) => {
      const { status, headers, bytes } = await tones.speak(body);
      const { use_streaming_response: streamed = false, sample_rate: rate = 22_050 } = (body.config ??
        {}) as Record<string, never>;
      const length = String(body.text).trim().split(/\s+/u).join('').length * 200;
      expect([status, headers['content-type'], bytes.length]).toEqual([200, 'audio/wav', 44 + length]);
      expect(headers['content-length']).toBe(streamed ? undefined : String(44 + length));
      expect(bytes.readUInt32LE(24)).toBe(Math.round(rate));
    }),
    { numRuns: 1000 },
  );
});

it('answers 1,000 bodies that are broken in one place with the error that names it', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(broken, async ({ status, field, body }) => {
      const reply = await tones.speak(body);
      expect([reply.status, reply.json.error.field]).toEqual([status, field]);
      expect(reply.json.error).toEqual({
        code: expect.stringMatching(/^[a-z_]+$/),
        message: expect.any(String),
        ...(field !== undefined && { field }),
      });
    }),
    { numRuns: 1000 },
  );
});
