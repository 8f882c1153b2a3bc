import { describe, expect, it } from 'vitest';
import { readCommandLine } from '../../../src/cli/command-line.ts';

describe('the command line', () => {
  it('says nothing that nobody said, so that the environment and config files can', () => {
    expect(readCommandLine(['hello']).flags).toEqual({});
  });

  it.each([
    ['--no-cache', 'cache', false],
    ['--cache', 'cache', true],
    ['--no-clobber', 'clobber', false],
    ['--stream', 'stream', true],
    ['--no-stream', 'stream', false],
  ])('takes %s as %s: %s', (flag, name, value) => {
    expect(readCommandLine([flag, 'hello']).flags).toEqual({ [name]: value });
  });

  it('takes options anywhere, and nothing behind -- for one', () => {
    const { words, flags } = readCommandLine(['one', '-s', '3', 'two', '--', '-q']);
    expect({ words, flags }).toEqual({ words: ['one', 'two', '-q'], flags: { speaker: '3' } });
  });
});
