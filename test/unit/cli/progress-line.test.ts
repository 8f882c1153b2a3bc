import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { closingLine, type ProgressState, renderProgress } from '../../../src/cli/progress.ts';

const state: ProgressState = {
  waiting: undefined,
  segments: 12,
  characters: 2900,
  total: { segments: 41, characters: 10_000 },
  audioSeconds: 192,
  seconds: 32,
};

const waiting = { reason: 'the service asks for a pause (429)', secondsLeft: 11.2 };

describe('the progress line', () => {
  it('tells all of it where there is room', () => {
    expect(renderProgress(state, 200)).toBe(
      '12/41 segments  29 %  3 min 12 s of audio  6.0x real time  91 characters/s  1 min 18 s left',
    );
  });

  it.each([
    [80, '12/41 segments  29 %  3 min 12 s of audio  6.0x real time  1 min 18 s left'],
    [60, '12/41 segments  29 %  3 min 12 s of audio  1 min 18 s left'],
    [40, '12/41 segments  29 %  1 min 18 s left'],
    [20, '12/41 segments  29 %'],
    [14, '12/41 segments'],
    [8, '12/41 s…'],
  ])('leaves out what matters less at %d columns', (columns, line) => {
    expect(renderProgress(state, columns)).toBe(line);
  });

  it('tells what is known of a text whose length is not', () => {
    expect(renderProgress({ ...state, total: undefined }, 200)).toBe(
      '12 segments  3 min 12 s of audio  6.0x real time  91 characters/s',
    );
  });

  it('does not guess how long it takes before a hundredth is done', () => {
    expect(renderProgress({ ...state, segments: 1, characters: 99 }, 200)).not.toContain('left');
    expect(renderProgress({ ...state, segments: 1, characters: 100 }, 200)).toMatch(/ {2}52 min 48 s left$/);
  });

  it('guesses by what was spoken ahead of its turn, without the time of the start', () => {
    const work = { characters: 5000, seconds: 20 };
    expect(renderProgress({ ...state, work }, 200)).toMatch(/ {2}29 % .* {2}20 s left$/);
    expect(renderProgress({ ...state, work: { characters: 99, seconds: 1 } }, 200)).not.toContain('left');
  });

  it('names the chapter of a book, shortened where its title is long', () => {
    const chapter = { number: 3, title: 'In which the keeper of the light has a visitor' };
    const total = { segments: 41, characters: 10_000, chapters: 14 };
    expect(renderProgress({ ...state, chapter, total }, 90)).toBe(
      'chapter 3/14: In which the keeper of …  12/41 segments  29 %  1 min 18 s left',
    );
    expect(renderProgress({ ...state, chapter, total }, 50)).toBe('12/41 segments  29 %  1 min 18 s left');
  });

  it('speaks of one segment as one', () => {
    const total = { segments: 1, characters: 10 };
    expect(renderProgress({ ...state, segments: 0, characters: 5, total }, 200)).toMatch(
      /^0\/1 segment {2}50 % /,
    );
  });

  it('tells how long a pause lasts, and why', () => {
    expect(renderProgress({ ...state, waiting }, 80)).toBe(
      'waiting 12 s: the service asks for a pause (429)',
    );
    expect(renderProgress({ ...state, waiting }, 20)).toBe('waiting 12 s: the s…');
  });

  it('counts how long something takes that nobody set a time for', () => {
    const reason = 'waiting for the service';
    const line = { ...state, waiting: { reason, secondsLeft: undefined } };
    expect(renderProgress({ ...line, seconds: 0.4 }, 80)).toBe(reason);
    expect(renderProgress({ ...line, seconds: 14.4 }, 80)).toBe(`${reason}  14 s`);
  });

  it('fits at every width, whatever it has to say', () => {
    const count = fc.nat({ max: 1e9 });
    const reasons = fc.record({
      reason: fc.string({ unit: 'grapheme', maxLength: 60 }),
      secondsLeft: fc.option(fc.nat(), { nil: undefined }),
    });
    const states = fc.record({
      waiting: fc.option(reasons, { nil: undefined }),
      segments: count,
      characters: count,
      total: fc.option(fc.record({ segments: count, characters: count }), { nil: undefined }),
      audioSeconds: count,
      seconds: fc.double({ min: 0.001, max: 1e9, noNaN: true }),
    });
    fc.assert(
      fc.property(states, fc.integer({ min: 8, max: 250 }), (any, columns) => {
        const line = renderProgress(any, columns);
        expect(Array.from(line).length).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/NaN|Infinity|undefined/);
      }),
    );
  });

  it('gives wide characters the two cells that they take', () => {
    const wide = { ...state, waiting: { reason: '接続できません', secondsLeft: 1 } };
    expect(renderProgress(wide, 18)).toBe('waiting 1 s: 接続…');
  });
});

describe('the closing line', () => {
  const whole = { name: 'out.wav', audioSeconds: 192, sampleRate: 22_050, seconds: 9.8 };

  it('tells what came of it', () => {
    expect(closingLine({ ...whole, segments: 41, fromCache: 12 })).toBe(
      'out.wav  3 min 12 s  22050 Hz  41 segments (12 cached)  in 9.8 s',
    );
    expect(closingLine({ ...whole, segments: 1, fromCache: 0 })).toBe(
      'out.wav  3 min 12 s  22050 Hz  1 segment  in 9.8 s',
    );
  });

  it.each([
    [0, '0.0 s'],
    [9.94, '9.9 s'],
    [9.96, '10 s'],
    [59.4, '59 s'],
    [59.6, '1 min 0 s'],
    [192, '3 min 12 s'],
    [3599.7, '1 h 0 min'],
    [7500, '2 h 5 min'],
  ])('says %d seconds in words', (seconds, words) => {
    expect(closingLine({ ...whole, segments: 1, fromCache: 0, seconds })).toMatch(
      new RegExp(` in ${words}$`),
    );
  });
});
