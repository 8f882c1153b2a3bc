import { describe, expect, it } from 'vitest';
import { check, type Schema, text } from '../../../src/kit/schema.ts';
import { bodyOf, bodySchema, valuesIn } from '../../../src/options/values.ts';

const tts = bodySchema('tts', { text: text() });
const openai = bodySchema('openai', { input: text() }, true);

it('sends each value under the name that the service has for it, and none that is not set', () => {
  expect(bodyOf('Hi.', { speaker: 1, sampleRate: 8000, stream: undefined, speed: 2 })).toBe(
    '{"text":"Hi.","speaker_no":1,"config":{"sample_rate":8000}}',
  );
  expect(bodyOf('Hi.', { speaker: 1 })).toBe('{"text":"Hi.","speaker_no":1}');
});

describe('a body of a request', () => {
  it.each([
    [tts, { text: 'Hi.' }, 'speaker_no is missing'],
    [tts, { text: 'Hi.', speaker_no: 1, config: { sample_rate: 7000 } }, 'config.sample_rate must be 8000'],
    [tts, { text: 'Hi.', speaker_no: 1, config: { sampleRate: 7000 } }, 'config.sampleRate is not known'],
    [tts, { text: 'Hi.', speaker_no: 1, config: null }, 'config must be an object'],
    [openai, { input: 'Hi.', voice: true }, 'voice must be a string'],
    [openai, { input: 'Hi.', speed: 9 }, 'speed must be 4 or less'],
  ])('is checked by the rows of the options: %#', (schema: Schema, body, problem) => {
    const result = check(schema, body);
    expect('value' in result ? result : `${result.path} ${result.problem}`).toContain(problem);
  });

  it('gives the values of options back', () => {
    const body = { text: 'Hi.', speaker_no: 1, config: { sample_rate: 9000 } };
    expect(check(tts, body)).toEqual({ value: body });
    expect(valuesIn('tts', body)).toMatchObject({ speaker: 1, sampleRate: 9000, instructions: undefined });
  });

  it('may have other fields, null and voices in three forms for clients of OpenAI', () => {
    for (const voice of ['7', 7, { id: '7' }]) {
      const result = check(openai, { input: 'Hi.', voice, speed: null, model: 'tts-1' });
      expect('value' in result && valuesIn('openai', result.value)).toEqual({ speaker: '7' });
    }
  });
});
