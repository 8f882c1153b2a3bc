import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { isProgressWanted, Notices } from '../../../src/cli/notices.ts';
import { ProgressCount, type ProgressState, renderProgress, showWhile } from '../../../src/cli/progress.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import type { Host } from '../../../src/kit/host.ts';
import { useMovedClock } from '../../support/clock.ts';
import { segmentOf } from '../run/segment-of.ts';
import { speechFormat } from '../sound/wav-builder.ts';

const stderr = { fd: 2, isTTY: true, columns: 80, stream: new PassThrough() };

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

  it('gives wide characters the two cells that they take', () => {
    const wide = { ...state, waiting: { reason: '接続できません', secondsLeft: 1 } };
    expect(renderProgress(wide, 18)).toBe('waiting 1 s: 接続…');
  });
});

it('speaks of a pause only when there was no sound for a while', async () => {
  useMovedClock();
  const count = new ProgressCount((text) => text);
  const pcm = (async function* () {})();
  const segment = segmentOf('hello');
  count.on({
    type: 'started',
    part: { segment, speech: { format: speechFormat, bytes: 200, pcm } },
    pauseFrames: 0,
    at: 0,
  });
  count.on({ type: 'sound', pcm: new Uint8Array(100), at: 0 });
  const error = new TtsError('busy', { exitCode: ExitCode.service, retry: {} });
  count.on({ type: 'voice', event: { type: 'retry', error, seconds: 5 }, segment: segmentOf('text') });
  await vi.advanceTimersByTimeAsync(900);
  expect(count.state.waiting).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(count.state.waiting).toMatchObject({ reason: 'busy', secondsLeft: expect.closeTo(3.9) });
  await vi.advanceTimersByTimeAsync(4000);
  expect(count.state.waiting).toBeUndefined();
});

it('counts the chapters that are heard', () => {
  const count = new ProgressCount((text) => text.toUpperCase());
  expect(count.state.chapter).toBeUndefined();
  const [first, second] = ['One', 'Two'].map((title, index) => ({ number: index + 5, title, level: 1 }));
  for (const chapter of [first, first, second])
    count.on({
      type: 'started',
      part: { segment: { ...segmentOf('hello'), chapter }, speech: undefined },
      pauseFrames: 0,
      at: 0,
    });
  expect(count.state.chapter).toEqual({ number: 2, title: 'TWO' });
});

it('A long run is told after 10 s and then each 30 s, until it is over.', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  const told: string[] = [];
  let count = 0;
  {
    const notices = Object.assign(new Notices({ stderr } as unknown as Host), {
      note: (text: string) => told.push(text),
    });
    using _notes = showWhile(() => `note ${++count}`, {
      host: { env: {}, stderr: { ...stderr, isTTY: false } },
      notices,
    });
    await vi.advanceTimersByTimeAsync(9_000);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(62_000);
    expect(told).toEqual(['note 1', 'note 2', 'note 3']);
  }
  await vi.advanceTimersByTimeAsync(120_000);
  expect(told).toHaveLength(3);
  vi.useRealTimers();
});

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
