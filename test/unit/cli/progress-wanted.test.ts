import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { isProgressWanted } from '../../../src/cli/notices.ts';

const stderr = { fd: 2, isTTY: true, columns: 80, stream: new PassThrough() };
const person = { env: { TERM: 'xterm' }, stderr };
const loud = { quiet: false, verbose: false, json: false };

describe('progress', () => {
  it('is shown to a person at a terminal', () => {
    expect(isProgressWanted(person, loud)).toBe(true);
    expect(isProgressWanted({ ...person, env: { CI: 'false' } }, loud)).toBe(true);
    expect(isProgressWanted({ ...person, env: { NO_COLOR: '1' } }, loud)).toBe(true);
  });

  it.each([
    ['there is no terminal', { ...person, stderr: { ...stderr, isTTY: false } }, loud],
    ['the terminal has no columns', { ...person, stderr: { ...stderr, columns: 0 } }, loud],
    [
      'the terminal does not know its columns',
      { ...person, stderr: { ...stderr, columns: undefined } },
      loud,
    ],
    ['the terminal cannot move its cursor', { ...person, env: { TERM: 'dumb' } }, loud],
    ['it runs in CI', { ...person, env: { CI: 'true' } }, loud],
    ['somebody wants quiet', person, { ...loud, quiet: true }],
    ['plain lines are wanted instead', person, { ...loud, verbose: true }],
    ['a program reads', person, { ...loud, json: true }],
  ])('is not shown where %s', (_, host, notices) => {
    expect(isProgressWanted(host, notices)).toBe(false);
  });
});
