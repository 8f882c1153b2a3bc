import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../../src/cli/command-line.ts';

function read(argv: readonly string[], isUtf8?: boolean) {
  return readCommandLine('speak', { argv, host: { isArgvUtf8: () => isUtf8 } });
}

describe('the command line', () => {
  it('says nothing that nobody said, so that the environment and config files can', () => {
    expect(read(['hello']).flags).toEqual({});
  });

  it.each([
    ['--no-cache', 'cache', false],
    ['--cache', 'cache', true],
    ['--no-clobber', 'clobber', false],
    ['--stream', 'stream', true],
    ['--no-stream', 'stream', false],
  ])('takes %s as %s: %s', (flag, name, value) => {
    expect(read([flag, 'hello']).flags).toEqual({ [name]: value });
  });

  it('takes options anywhere, and nothing after -- for one', () => {
    const { words, flags } = read(['one', '-s', '3', 'two', '--', '-q']);
    expect({ words, flags }).toEqual({ words: ['one', 'two', '-q'], flags: { speaker: '3' } });
  });

  it.each([
    ['--lang', /-s de/],
    ['--list-voices', /tts speakers/],
    ['--model', /--engine FOLDER/],
    ['--voice', /tts speakers lists/],
    ['--voices', /tts speakers lists/],
  ])('says for %s of other tools what this one has', (option, hint) => {
    expect(() => read([option])).toThrow(expect.objectContaining({ hint: expect.stringMatching(hint) }));
  });

  it('takes a U+FFFD that was typed, and says no more than is known where the system does not tell', () => {
    expect(read(['a\ufffd'], true).words).toEqual(['a\ufffd']);
    expect(() => read(['a\ufffd'], false)).toThrow(/^the word "a\ufffd" is not UTF-8$/);
    expect(() => read(['a\ufffd'])).toThrow(
      /^the word "a\ufffd" has a U\+FFFD in it: .* or was damaged before$/,
    );
    expect(read(['a']).words).toEqual(['a']);
  });
});
