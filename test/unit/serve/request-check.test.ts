import { describe, expect, it } from 'vitest';
import { checkRequest } from '../../../src/serve/tts.ts';
import openapi from '../../../src/serve/tts-openapi.json' with { type: 'json' };

const hello = { text: 'hello', speaker_no: 1 };
const { properties } = openapi.components.schemas.SpeechRequest;

describe('checkRequest', () => {
  it.each(Object.keys(properties))('knows the field %s of the description, and what it may hold', (field) => {
    expect(() => checkRequest({ ...hello, [field]: [] })).toThrow(
      expect.objectContaining({ status: 422, code: 'invalid_field', field }),
    );
  });

  it.each(Object.keys(properties.config.properties))('knows the option %s of the description', (option) => {
    expect(() => checkRequest({ ...hello, config: { [option]: [] } })).toThrow(
      expect.objectContaining({ status: 422, code: 'invalid_field', field: `config.${option}` }),
    );
  });

  it('lets the examples of the description pass', () => {
    const { examples } = openapi.components.schemas.SpeechRequest;
    for (const example of examples) expect(checkRequest(example)).toBe(example);
  });

  it('names an unknown field before a wrong one, and a missing field before a wrong one', () => {
    expect(() => checkRequest({ text: 1, voice: 1 })).toThrow('voice is not a field of the request');
    expect(() => checkRequest({ text: 1 })).toThrow('speaker_no is missing');
  });
});
