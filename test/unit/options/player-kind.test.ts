import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { command, playerCommand } from '../../../src/options/kinds.ts';

const lines: readonly (readonly [string, readonly string[]])[] = [
  ['mpv', ['mpv']],
  ['  aplay  -q\t- ', ['aplay', '-q', '-']],
  [`play -t wav '-'`, ['play', '-t', 'wav', '-']],
  [`"my player" --title "a \\"b\\" c" 'd "e"'`, ['my player', '--title', 'a "b" c', 'd "e"']],
  [`--a='b c'"d e"f`, ['--a=b cd ef']],
  [`mpv ''`, ['mpv', '']],
  ['my\\ player a\\\\b', ['my player', 'a\\b']],
  ['C:\\Tools\\mpv.exe -', ['C:\\Tools\\mpv.exe', '-']],
  [`"C:\\Program Files\\mpv.exe" -`, ['C:\\Program Files\\mpv.exe', '-']],
  ['mpv $HOME *.wav; rm -rf x | y > z', ['mpv', '$HOME', '*.wav;', 'rm', '-rf', 'x', '|', 'y', '>', 'z']],
];

describe('a command in one line', () => {
  it.each(lines)('is split as a shell splits words, and nothing is expanded: %s', (line, words) => {
    expect(command.text(line)).toEqual(words);
  });

  it.each(['', '   ', `'open`, `mpv "open`, "mpv it's", `'' mpv`])(
    'is refused when it is none: %j',
    (line) => {
      expect(command.text(line)).toBeUndefined();
    },
  );

  it('gives every word back that stands in single quotes', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !text.includes("'"));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (words) => {
        expect(command.text(words.map((text) => `'${text}'`).join(' '))).toEqual(words);
      }),
    );
  });

  it('may be a list in a config file', () => {
    expect(command.data(['mpv', '--title=a b', '-'])).toEqual(['mpv', '--title=a b', '-']);
    expect(command.data('mpv -')).toEqual(['mpv', '-']);
    expect([[], [''], ['mpv', 1], 7, null].map((data) => command.data(data))).toEqual(
      Array(5).fill(undefined),
    );
  });
});

describe('a player written as the line of a shell', () => {
  it.each([
    ['cat > logs/c.wav', '">"', "sh -c 'cat > logs/c.wav'"],
    ['tee a.wav | aplay', '"|"', "sh -c 'tee a.wav | aplay'"],
    ['aplay 2>/dev/null', '"2>/dev/null"', "sh -c 'aplay 2>/dev/null'"],
    ['aplay - && echo', '"&&"', "sh -c 'aplay - && echo'"],
    ['aplay $DEVICE', '"$DEVICE"', "sh -c 'aplay $DEVICE'"],
  ])('is refused, and told how a shell runs it: %s', (line, sign, shell) => {
    expect(playerCommand.text(line)).toBeUndefined();
    expect(playerCommand.data(line)).toBeUndefined();
    const fault = playerCommand.fault?.(line);
    expect(fault?.what).toContain(sign);
    expect(fault?.hint).toContain(shell);
    expect(playerCommand.text(shell)).toEqual(['sh', '-c', line]);
  });

  it('is taken where the signs stand in quotes, or in a list', () => {
    for (const line of ["sh -c 'cat > c.wav'", 'ffplay -af "a;b|c" -', 'mpv --x=a,b'])
      expect(playerCommand.text(line)).toEqual(command.text(line));
    expect(playerCommand.data(['cat', '>'])).toEqual(['cat', '>']);
  });
});
