import { Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { SECRET_VARIABLES } from '../../../src/kit/host.ts';
import { fileName, fileNames } from '../../../src/options/kinds.ts';
import { type ConfigFile, resolveSettings } from '../../../src/options/load.ts';
import { names, rowOf } from '../../../src/options/rows.ts';
import { keyOf, VOICE_OPTIONS } from '../../../src/options/values.ts';

it('has each flag under the name of its row, as commander reads it', () => {
  const flags = names.filter((name) => rowOf(name).flags !== undefined);
  expect(flags.map((name) => new Option(rowOf(name).flags ?? '').attributeName())).toEqual(flags);
});

/** Whatever is added has to be thought of as the word of whoever made the repository that one has cloned. */
it('lets a project say who speaks, how, where and at what pace, and nothing else', () => {
  const open = names.filter((name) => rowOf(name).key && rowOf(name).setBy !== 'user');
  expect(open.join(' ')).toBe(
    [
      'speaker speakers loudness fallback patience format sounds code math footnotes ruby lexicon stream',
      'sampleRate instructions baseUrl engine apiKey apiKeyFile maxChars concurrency speed marks voices',
      'languages pauses paragraphPause cache pricePer1000Chars currency timeout retries proxy',
    ].join(' '),
  );
});

/** `namedFile` sees to it that they lie in the project. */
it('lets a project name two files', () => {
  const kinds: readonly unknown[] = [fileName, fileNames];
  const named = names.filter((name) => rowOf(name).key && kinds.includes(rowOf(name).schema));
  expect(named).toEqual(['lexicon', 'apiKeyFile']);
});

it('names each variable of a secret in the list that no child process gets', () => {
  const secrets = names.flatMap((name) => (rowOf(name).isSecret && rowOf(name).env) || []);
  expect(secrets).toContain('TTS_API_KEY');
  expect(SECRET_VARIABLES).toEqual(expect.arrayContaining(secrets));
});

describe('a wrong value', () => {
  const file = (values: ConfigFile['values']) =>
    ({ path: '/p/.ttsrc', folder: '/p', place: 'user', values }) as const;

  it.each<[Parameters<typeof resolveSettings>[0], string]>([
    [{ flags: { sampleRate: '7000' } }, '--sample-rate must be 8000 or more, and is 7000'],
    [{ flags: {}, env: { TTS_RETRIES: 'many' } }, 'TTS_RETRIES must be a whole number, and is "many"'],
    [{ flags: { voices: ['Alice=-x'] } }, 'Alice of --voices must be a speaker by its number'],
    [{ flags: { apiKey: ' ' } }, '--api-key must be a text that is not blank'],
    [{ flags: { proxy: 'http://a:secret@b/c' } }, 'and is "http://***@b***"'],
  ])('is named with its place: %#', (sources, message) => {
    expect(() => resolveSettings(sources)).toThrow(message);
  });

  it('leads to the nearest word', () => {
    expect(() => resolveSettings({ flags: { format: 'markdwn' } })).toThrow(
      expect.objectContaining({ hint: 'did you mean markdown?' }),
    );
  });

  it('does not show a secret', () => {
    expect(() => resolveSettings({ flags: { apiKey: '\n' } })).toThrow(/^--api-key must be .* blank$/);
  });

  it('of a weaker place is not looked at', () => {
    const { retries, voices } = resolveSettings({
      flags: { retries: '1', voices: ['a=1'] },
      env: {},
      files: [file({ retries: 2, voices: new Map([['b', 2]]) })],
    });
    expect([retries.value, retries.origin.name]).toEqual([1, '--retries']);
    expect(voices?.value).toEqual(
      new Map([
        ['b', 2],
        ['a', 1],
      ]),
    );
  });
});

it('makes a key of what shapes a sound, and of nothing that is not set', () => {
  const voice = { speaker: 1, sampleRate: 8000, instructions: undefined, stream: true };
  expect(VOICE_OPTIONS).toEqual(['speaker', 'sampleRate', 'instructions']);
  expect(keyOf(voice, 'voice')).toEqual({ speaker: 1, sampleRate: 8000 });
});
