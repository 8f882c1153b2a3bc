import { expect, it } from 'vitest';
import { SECRET_VARIABLES } from '../../../src/kit/host.ts';
import { type Rule, rules } from '../../../src/options/rows.ts';

/** Whatever is added has to be thought of as the word of whoever made the repository that one has cloned. */
it('lets a project say who speaks, how, where and at what pace, and nothing else', () => {
  const open = Object.values<Rule<unknown>>(rules).filter(({ key, userOnly }) => key && !userOnly);
  expect(open.map(({ key }) => key)).toEqual([
    ...[
      'speaker',
      'speakers',
      'loudness',
      'fallback',
      'patience',
      'format',
      'code',
      'math',
      'footnotes',
      'ruby',
      'lexicon',
      'stream',
      'sampleRate',
      'instructions',
    ],
    ...[
      'baseUrl',
      'engine',
      'apiKey',
      'apiKeyFile',
      'maxChars',
      'concurrency',
      'speed',
      'marks',
      'voices',
      'pauses',
      'paragraphPause',
      'cache',
    ],
    ...['pricePer1000Chars', 'currency', 'timeout', 'retries', 'proxy'],
  ]);
});

it('names each variable of a secret in the list that no child process gets', () => {
  const secrets = Object.values<Rule<unknown>>(rules).flatMap(({ env, secret }) => (secret && env) || []);
  expect(secrets).toContain('TTS_API_KEY');
  expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(secrets));
});
