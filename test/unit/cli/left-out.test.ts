import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MissingText } from '../../../src/cli/missing-text.ts';
import { Notices } from '../../../src/cli/notices.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import type { Host } from '../../../src/kit/host.ts';
import type { Cast } from '../../../src/voices/cast.ts';
import { silent, speakerThat } from '../../support/speaker.ts';
import { segmentOf } from '../run/segment-of.ts';

const refusal = new TtsError('no', { exitCode: ExitCode.service, concernsThisTextOnly: true });

const SPEAKERS = (['service', 'engine', 'espeak', 'built-in'] as const).map((kind) =>
  speakerThat(async () => undefined, { kind }),
);

/** What may be missing of a text that all kinds of voices speak, one segment each. */
async function leftOutOfAll(keepsGoing: boolean) {
  const warnings: string[] = [];
  const stream = new PassThrough().on('data', (text) => warnings.push(`${text}`));
  const stderr = { fd: 2, isTTY: false, columns: 80, stream };
  const host = { env: { PATH: '' }, cwd: '/', platform: process.platform, stderr } as unknown as Host;
  const context = { host, notices: new Notices(host), signal: new AbortController().signal };
  const job = { speaker: silent, keepsGoing, cast: {} as Cast, fallback: undefined };
  const leftOut = await MissingText.of(job, ({ index }) => SPEAKERS[index] ?? silent, context);
  return { leftOut, warnings };
}

const segments = SPEAKERS.map((_, index) => segmentOf(`\u4f60 number ${index}`, index));

describe('of a text of several voices', () => {
  it.each([
    [true, [true, true, false, true]],
    [false, [false, false, false, true]],
  ])('each may leave out what it may alone, with --keep-going %s', async (keepsGoing, allowed) => {
    const { leftOut } = await leftOutOfAll(keepsGoing);
    expect(segments.map((segment) => leftOut.maySkip(refusal, segment))).toEqual(allowed);
    expect(leftOut.maySkip(new Error('another one'), segments[0] as never)).toBe(false);
  });

  it('words are missing only where the built-in voice speaks', async () => {
    const { leftOut, warnings } = await leftOutOfAll(false);
    for (const segment of segments)
      void leftOut.on({ type: 'started', part: { segment, speech: undefined }, pauseFrames: 0, at: 0 });
    expect(await leftOut.finish()).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('the built-in English voice left out "\u4f60"; ')]);
  });

  it('segments that were refused make the run partial', async () => {
    const { leftOut, warnings } = await leftOutOfAll(true);
    for (const segment of segments.slice(0, 2)) void leftOut.on({ type: 'skipped', segment, error: refusal });
    expect(warnings).toHaveLength(2);
    expect((await leftOut.finish())?.message).toBe('2 segments are left out: the voice refused them');
  });
});
