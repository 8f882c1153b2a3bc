import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { listEspeakVoices } from '../../../src/engines/espeak.ts';
import { findProgram } from '../../../src/kit/folders.ts';
import { buildWorker, digest, samplesOf, startEngine } from '../../support/engine.ts';
import { fakeEspeak } from '../../support/fake-espeak.ts';
import { emptyFolder } from '../../support/folder.ts';
import { loudness } from './loudness.ts';

// espeak-ng makes a folder for PulseAudio, which it would leave behind elsewhere.
vi.stubEnv('XDG_RUNTIME_DIR', emptyFolder(afterAll));
const worker = await buildWorker();
const installed = await findProgram('espeak-ng', process);
const espeak = installed === undefined ? undefined : await listed(installed);

async function listed(program: string) {
  return { program, voices: await listEspeakVoices(program, {}, new AbortController().signal), env: {} };
}

describe.skipIf(espeak === undefined)('a system espeak-ng', async () => {
  const engine = await startEngine({ worker, espeak });
  const others = engine.speakers.filter(({ no }) => no > 100);
  const numberOf = (language: string) => others.find((speaker) => speaker.language === language)?.no ?? 0;

  it('adds its voices from number 101 on, in the order of their languages, the same each time', async () => {
    expect(others.map(({ no }) => no)).toEqual(others.map((_, index) => 101 + index));
    const languages = others.map(({ language }) => language);
    expect(languages).toEqual([...languages].sort());
    expect(languages).toContain('en-us');
    expect(languages).toContain('cmn');
    expect(others.every(({ kind }) => kind === 'neo.one')).toBe(true);
    expect((await listed(installed as string)).voices).toEqual(espeak?.voices);
  });

  it.each([
    ['de', 'Guten Tag, wie geht es Ihnen?'],
    ['cmn', '你好，世界。'],
    ['en-us', '-v de --help'],
    ['en-us', 'nul \u0000 and \u001b[31mmore'],
    ['en-us', '-o evil.wav\n--stdout'],
    ['cmn', '字'.repeat(300)],
  ])('speaks %s, in sample %#', async (language, text) => {
    const samples = await samplesOf(engine, { text, speaker: numberOf(language) });
    expect(samples.length / 22_050).toBeGreaterThan(0.5);
    expect(loudness(samples, 22_050)).toBeGreaterThan(-24);
  });

  it('gives any rate, and the same samples each time', async () => {
    for (const sampleRate of [8_000, 22_050, 48_000]) {
      const request = { text: 'Guten Tag. Wie geht es?', speaker: numberOf('de'), sampleRate };
      const [first, second] = await Promise.all([samplesOf(engine, request), samplesOf(engine, request)]);
      expect(digest(first)).toBe(digest(second));
      expect(first.length / sampleRate).toBeGreaterThan(1);
    }
  });

  it.each([' \u0000\n', '.', '?!', '— …', '\u200b'])('refuses a text of nothing: %j', async (text) => {
    const spoken = samplesOf(engine, { text, speaker: numberOf('de') });
    await expect(spoken).rejects.toMatchObject({ name: 'EngineError', kind: 'unsupported text' });
  });

  it.each([
    ['Read [[a:]] out', 'Read out'],
    ["[[[h@l'oU]]", 'Hello'],
  ])('speaks what is in brackets as it is written: %j is more than %j', async (text, less) => {
    const lengthOf = async (words: string) =>
      (await samplesOf(engine, { text: words, speaker: numberOf('en-us') })).length;
    expect(await lengthOf(text)).toBeGreaterThan((await lengthOf(less)) + 22_050 / 2);
  });
});

describe('a program called espeak-ng', () => {
  let folder: string;
  beforeEach(() => {
    folder = emptyFolder();
  });

  const install = (script: string) => listed(fakeEspeak(folder, script));

  it('that fails is a failure of that utterance, in its own words', async () => {
    const engine = await startEngine({ worker, espeak: await install('echo "out of order" >&2; exit 4') });
    await expect(samplesOf(engine, { text: 'Hello', speaker: 101 })).rejects.toMatchObject({
      name: 'EngineError',
      kind: 'broken',
      message: expect.stringContaining('out of order'),
    });
    expect((await samplesOf(engine, { text: 'Hello' })).length).toBeGreaterThan(1000);
  });
});
