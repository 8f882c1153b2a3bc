import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Notices } from '../../../src/cli/notices.ts';
import type { Host } from '../../../src/kit/host.ts';
import { resolveJob, type SpeechJob } from '../../../src/run/job.ts';
import { emptyFolder } from '../../support/folder.ts';

/** @param config content of the user's own config */
async function jobOf(flags: Record<string, unknown>, config?: object): Promise<SpeechJob> {
  const home = emptyFolder();
  if (config) writeFileSync(join(home, '.ttsrc'), JSON.stringify(config));
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const stdout = { fd: 1, isTTY: false, columns: 80 };
  const host = { env: {}, cwd, home, platform: 'linux', pid: 1, realm: '', uid: process.getuid?.(), stdout };
  const context = {
    host: host as unknown as Host,
    notices: new Notices(host as unknown as Host),
    signal: new AbortController().signal,
  };
  const resolved = await resolveJob({ flags, words: ['hello'], files: [] }, context);
  if (resolved.mode !== 'speak') throw new Error(`resolved to ${resolved.mode}`);
  return resolved.job;
}

describe('pauses', () => {
  const usual = { chapter: 1.5, scene: 1.2, heading: 0.8, paragraph: 0.3, sentence: 0 };

  it.each<[flags: Record<string, unknown>, config: object, expected: object, cutsParagraphs: boolean]>([
    [{}, {}, usual, false],
    [{ pauses: 'scene=2' }, { pauses: { scene: 3, heading: 1 } }, { ...usual, scene: 2, heading: 1 }, false],
    [{ paragraphPause: '1' }, {}, { ...usual, paragraph: 1 }, true],
    [
      { paragraphPause: '1' },
      { pauses: { paragraph: 2, scene: 3 } },
      { ...usual, paragraph: 1, scene: 3 },
      true,
    ],
    [{}, { pauses: { paragraph: 2 }, paragraphPause: 1 }, { ...usual, paragraph: 2 }, true],
  ])('are those that are set, and the usual ones: %j', async (flags, config, expected, cutsParagraphs) => {
    const { mix, text } = await jobOf(flags, config);
    expect(mix.pauses).toEqual(expected);
    expect(text.cutsParagraphs).toBe(cutsParagraphs);
  });

  it('between sentences need a segment for each sentence', async () => {
    expect((await jobOf({ pauses: 'sentence=0.1' })).text.pace).toBe('sentence');
    expect((await jobOf({ pauses: 'sentence=0' })).text.pace).toBe('by output');
  });
});
