import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namedPlayer, type PlayerCommand, playersOf } from '../../../src/out/players.ts';

/** The arguments for a file. */
function argsFor(file: string, player: PlayerCommand | undefined): readonly string[] {
  if (player?.input !== 'file') throw new Error('it plays no file');
  return player.args(file);
}

describe('the player that somebody names', () => {
  it('reads stdin', () => {
    expect(namedPlayer(['play', '-t', 'wav'], 'linux')).toEqual({
      program: 'play',
      args: ['-t', 'wav'],
      input: 'stdin',
    });
  });

  it('gets a file wherever {} stands, whatever the name of the file', () => {
    const player = namedPlayer(['play', '{}', '--in={}:{}', '-q'], 'linux');
    expect(player.program).toBe('play');
    for (const file of ['a.wav', '$& $1 {}'])
      expect(argsFor(file, player)).toEqual([file, `--in=${file}:${file}`, '-q']);
  });
});

describe('a player of the platform that is named bare', () => {
  it.each([
    ['mpv', 'linux'],
    ['/usr/bin/mpv', 'linux'],
    ['ffplay', 'darwin'],
    ['../ffplay.exe', 'win32'],
  ] as const)('is started the way that playing starts it: %s on %s', (program, platform) => {
    const own = playersOf(platform).find((player) => basename(program, '.exe') === player.program);
    expect(namedPlayer([program], platform)).toEqual({ ...own, program });
  });

  it.each([
    ['on another platform', ['afplay'], 'linux'],
    ['under a longer name', ['mpv2'], 'linux'],
    ['with any argument', ['mpv', '-'], 'linux'],
  ] as const)('is a command like any other %s', (_, command, platform) => {
    const [program, ...args] = command;
    expect(namedPlayer(command, platform)).toEqual({ program, args, input: 'stdin' });
  });
});

describe('the players of a platform', () => {
  it('on Windows end with one that is there, which takes the name of a file for nothing else', () => {
    const last = playersOf('win32').at(-1);
    expect(last?.program).toBe('powershell');
    expect(argsFor("C:\\it's; $(x).wav", last).at(-1)).toBe(
      "(New-Object System.Media.SoundPlayer 'C:\\it''s; $(x).wav').PlaySync()",
    );
    expect(argsFor('‘a’ ‚b‛.wav', last).at(-1)).toContain(" '‘‘a’’ ‚‚b‛‛.wav')");
  });
});
