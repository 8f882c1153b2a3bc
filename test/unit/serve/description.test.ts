import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { description } from '../../../src/serve/description.ts';
import { emptyFolder } from '../../support/folder.ts';

const require = createRequire(import.meta.url);

it('The description of the service is OpenAPI without a fault, says a public linter.', async () => {
  const linter = require.resolve('@redocly/cli/bin/cli.js');
  const file = join(emptyFolder(), 'openapi.json');
  writeFileSync(file, JSON.stringify({ ...description, servers: [{ url: '/' }] }));
  const { stdout } = await promisify(execFile)(process.execPath, [linter, 'lint', file, '--format=json'], {
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0, warnings: 0 });
});

it('The description has the fields and the limits of the interface.', () => {
  expect(description.paths['/tts']).toMatchObject({
    post: {
      requestBody: {
        content: {
          'application/json': {
            schema: {
              required: ['text', 'speaker_no'],
              additionalProperties: false,
              properties: {
                text: { type: 'string' },
                speaker_no: { type: 'integer' },
                callback_url: { type: 'string' },
                config: {
                  additionalProperties: false,
                  properties: {
                    use_streaming_response: { type: 'boolean' },
                    sample_rate: { type: 'number', minimum: 8000, maximum: 48_000 },
                    instructions: { type: 'string' },
                  },
                },
              },
            },
          },
        },
      },
    },
  });
});
