import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Notices } from '../../../src/cli/notices.ts';
import { ExitCode } from '../../../src/kit/error.ts';
import type { Host } from '../../../src/kit/host.ts';
import { resolveJob, type SpeechJob } from '../../../src/run/job.ts';
import { emptyFolder } from '../../support/folder.ts';

const SERVICE = { baseUrl: 'http://127.0.0.1:9/api/', apiKey: 'the-key', speaker: '7' };

interface Setup {
  readonly env?: Host['env'];
  readonly isTTY?: boolean;
  /** Content of the user's own config. */
  readonly config?: object;
}

function resolve(flags: Record<string, unknown>, { env = {}, isTTY = false, config }: Setup = {}) {
  const home = emptyFolder();
  if (config) writeFileSync(join(home, '.ttsrc'), JSON.stringify(config));
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const stdout = { fd: 1, isTTY, columns: 80 };
  const host = { env, cwd, home, platform: 'linux', pid: 1, realm: '', uid: process.getuid?.(), stdout };
  const context = {
    host: host as unknown as Host,
    notices: new Notices(host as unknown as Host),
    signal: new AbortController().signal,
  };
  return { cwd, resolved: resolveJob({ flags, words: ['hello'], files: [] }, context) };
}

async function jobOf(flags: Record<string, unknown>, setup?: Setup): Promise<SpeechJob> {
  const resolved = await resolve(flags, setup).resolved;
  if (resolved.mode !== 'speak') throw new Error(`resolved to ${resolved.mode}`);
  return resolved.job;
}

describe('pauses', () => {
  const usual = { chapter: 1.5, scene: 1.2, heading: 0.8, paragraph: 0.3, sentence: 0 };

  it.each<[flags: Record<string, unknown>, config: object, expected: object, cutsParagraphs: boolean]>([
    [{}, {}, usual, false],
    [{ pauses: 'scene=2' }, {}, { ...usual, scene: 2 }, false],
    [{ pauses: 'scene=2' }, { pauses: { scene: 3, heading: 1 } }, { ...usual, scene: 2, heading: 1 }, false],
    [{ paragraphPause: '1' }, {}, { ...usual, paragraph: 1 }, true],
    [{ pauses: 'paragraph=2' }, { paragraphPause: 1 }, { ...usual, paragraph: 2 }, true],
    [{ paragraphPause: '1' }, { pauses: 'paragraph=2,scene=3' }, { ...usual, paragraph: 1, scene: 3 }, true],
    [{}, { pauses: { paragraph: 2 }, paragraphPause: 1 }, { ...usual, paragraph: 2 }, true],
  ])('are those that are set, and the usual ones: %j', async (flags, config, expected, cutsParagraphs) => {
    const { mix, text } = await jobOf(flags, { config });
    expect(mix.pauses).toEqual(expected);
    expect(text.cutsParagraphs).toBe(cutsParagraphs);
  });

  it('between sentences need a segment for each sentence', async () => {
    expect((await jobOf({ pauses: 'sentence=0.1' })).text.pace).toBe('sentence');
    expect((await jobOf({ pauses: 'sentence=0' })).text.pace).toBe('by output');
  });
});

describe('resolveJob', () => {
  it('has the voice and the limits of a run, without a setting left', async () => {
    const { voice, cacheBytes } = await jobOf({ ...SERVICE, concurrency: '3', sampleRate: '8000' });
    expect(voice).toMatchObject({ kind: 'service', atOnce: 3, maxChars: 1000 });
    expect(voice.shape).toEqual({
      identity: 'http://127.0.0.1:9/api/tts',
      speaker: 7,
      sampleRate: 8000,
      instructions: undefined,
    });
    expect(cacheBytes).toBeGreaterThan(0);
  });

  it('keeps no segments of the built-in service, and none that go elsewhere', async () => {
    expect(await jobOf({})).toMatchObject({ voice: { kind: 'built-in' }, cacheBytes: undefined });
    const elsewhere = await jobOf({ ...SERVICE, callbackUrl: 'https://a.example/' });
    expect(elsewhere).toMatchObject({ cacheBytes: undefined, callbackUrl: 'https://a.example/' });
    expect(await jobOf({ ...SERVICE, cache: false })).toMatchObject({ cacheBytes: undefined });
  });

  it.each([
    ['by the output, by default', {}, {}, { voice: { maxChars: 1000 }, pace: 'by output' }],
    ['not at all for a callback', { callbackUrl: 'https://a.example/' }, {}, { pace: 'whole' }],
    ['by sentences for subtitles', { subtitles: 'a.srt' }, {}, { pace: 'sentence' }],
    [
      'by sentences, though the environment says a length',
      { subtitles: 'a.srt' },
      { TTS_MAX_CHARS: '50' },
      { voice: { maxChars: 50 }, pace: 'sentence' },
    ],
    [
      'by the length that was typed, with subtitles too',
      { subtitles: 'a.srt', maxChars: '50' },
      {},
      { voice: { maxChars: 50 }, pace: 'by output' },
    ],
  ])('cuts the text %s', async (_, flags, env, text) => {
    expect((await jobOf({ ...SERVICE, ...flags }, { env })).text).toMatchObject(text);
  });

  it.each([
    ['a terminal', {}, { isTTY: true }, true],
    ['a terminal, with -o', { output: 'a.wav' }, { isTTY: true }, false],
    ['a pipe', {}, {}, false],
    ['a pipe, with --player', { player: 'aplay' }, {}, true],
    ['a pipe, with a player from the environment', {}, { env: { TTS_PLAYER: 'aplay' } }, false],
    ['a terminal, with --no-play', { play: false }, { isTTY: true }, false],
  ])('plays on %s: %o', async (_, flags, setup, isPlayed) => {
    expect((await jobOf(flags, setup)).output).toMatchObject({ isPlayed });
  });

  it('lets an output fail only for a callback, and only where none was named', async () => {
    const callbackUrl = 'https://a.example/';
    const outputs = [
      await jobOf({ ...SERVICE, callbackUrl }),
      await jobOf({ ...SERVICE, callbackUrl, output: 'a.wav' }),
      await jobOf({ ...SERVICE, callbackUrl, play: true }),
      await jobOf(SERVICE),
    ].map(({ output }) => output.mayFail);
    expect(outputs).toEqual([true, false, false, false]);
  });

  it('knows what a dry run costs, and needs no key to show the text', async () => {
    const dry = await resolve({ ...SERVICE, dryRun: true, pricePer1000Chars: '2' }).resolved;
    expect(dry).toMatchObject({ mode: 'dry-run', pricing: { per1000Chars: 2 } });
    const shown = await resolve({ baseUrl: SERVICE.baseUrl, showText: true }).resolved;
    const sources = shown.mode === 'show-text' ? shown.text.sources() : [];
    expect(sources.map(({ source }) => source.words)).toEqual(['hello']);
  });

  it.each([
    ['no key', { baseUrl: SERVICE.baseUrl }, ExitCode.key],
    ['a value that is not allowed', { ...SERVICE, concurrency: 'many' }, ExitCode.usage],
    ['subtitles of no known kind', { ...SERVICE, subtitles: 'a.txt' }, ExitCode.usage],
    [
      'subtitles in the place of the sound',
      { ...SERVICE, output: 'a.srt', subtitles: 'a.srt' },
      ExitCode.usage,
    ],
    [
      'subtitles of a callback',
      { ...SERVICE, callbackUrl: 'https://a.example/', subtitles: 'a.srt' },
      ExitCode.usage,
    ],
  ])('refuses %s, and makes no file', async (_, flags, exitCode) => {
    const { cwd, resolved } = resolve(flags);
    await expect(resolved).rejects.toMatchObject({ name: 'TtsError', exitCode });
    expect(readdirSync(cwd)).toEqual([]);
  });
});
