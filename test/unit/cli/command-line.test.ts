import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../../src/cli/command-line.ts';

function read(argv: readonly string[], isUtf8?: boolean) {
  return readCommandLine('speak', { argv, host: { isArgvUtf8: () => isUtf8 } });
}

describe('the command line', () => {
  it('says nothing that nobody said, so that the environment and config files can', () => {
    expect(read(['hello']).flags).toEqual({});
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
