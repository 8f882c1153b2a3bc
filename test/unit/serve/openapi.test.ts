import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { errorBody, Refusal } from '../../../src/serve/http.ts';
import { description } from '../../../src/serve/service.ts';
import { checkRequest } from '../../../src/serve/tts.ts';
import openapi from '../../../src/serve/tts-openapi.json' with { type: 'json' };
import { emptyFolder } from '../../support/folder.ts';

const require = createRequire(import.meta.url);

it('is an OpenAPI description without a fault, says a public linter', async () => {
  const linter = require.resolve('@redocly/cli/bin/cli.js');
  const file = join(emptyFolder(), 'openapi.json');
  writeFileSync(file, JSON.stringify(description('/')));
  const { stdout } = await promisify(execFile)(process.execPath, [linter, 'lint', file, '--format=json'], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0, warnings: 0 });
});

it('has the fields, defaults and limits of the interface', () => {
  const { properties, required, additionalProperties } = openapi.components.schemas.SpeechRequest;
  expect(required).toEqual(['text', 'speaker_no']);
  expect(additionalProperties).toBe(false);
  expect(Object.keys(properties)).toEqual(['text', 'speaker_no', 'config', 'callback_url']);
  const { config } = properties;
  expect(config.additionalProperties).toBe(false);
  expect(Object.keys(config.properties)).toEqual(['use_streaming_response', 'sample_rate', 'instructions']);
  expect(config.properties.use_streaming_response.default).toBe(false);
  expect(config.properties.sample_rate).toMatchObject({
    type: 'number',
    minimum: 8000,
    maximum: 48_000,
    default: 22_050,
  });
});

it('has the same headers with an acceptance as with audio', () => {
  const { responses } = openapi.paths['/tts'].post;
  expect(Object.keys(responses['202'].headers)).toEqual(['X-Instructions-Ignored', 'X-Request-Id']);
  expect(responses['202'].headers).toEqual(responses['200'].headers);
});

it('describes errors as they are sent', () => {
  const { error } = openapi.components.schemas.Error.properties;
  const sent = errorBody(new Refusal(422, 'invalid_field', 'text is missing', { field: 'text' }));
  expect(Object.keys(sent.error)).toEqual(Object.keys(error.properties));
});

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
