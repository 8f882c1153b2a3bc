import { describe, expect, it } from 'vitest';
import { fakeEspeak } from '../../support/fake-espeak.ts';
import { emptyFolder } from '../../support/folder.ts';
import { answer } from '../../support/http-bytes.ts';
import { serveSpeech } from '../../support/speech-server.ts';
import { said, voicesOf } from './voices-of.ts';

/** The speaker that a word means on a machine of two engines and, if wanted, espeak-ng. */
async function meant(word: string | number, flags: object = {}, hasEspeak = true) {
  const [one, other] = [await engineWith(['anna', 'bert']), await engineWith(['bert', 'carl'])];
  const config = {
    engines: { one: { url: one }, other: { url: other } },
    speakers: { dear: { engine: 'other', voice: 'carl' }, low: { no: 12, instructions: 'deep' }, xx: 3 },
  };
  const path = emptyFolder();
  if (hasEspeak) fakeEspeak(path, 'exit 1');
  const voices = await voicesOf({ ...flags }, config, { path });
  const { kind, label, shape } = await voices.of({ speaker: said(word) });
  return { kind, no: shape.speaker, label };
}

async function engineWith(names: readonly string[]): Promise<string> {
  return (await serveSpeech(answer(500, 'no'), names)).url;
}

describe('a speaker is looked for', () => {
  it.each([
    [3, 'built-in', 3],
    ['slt', 'built-in', 2],
    ['low', 'built-in', 12],
    [1002, 'engine', 1002],
    ['one:bert', 'engine', 1002],
    ['dear', 'engine', 2002],
    [101, 'espeak', 101],
    ['First', 'espeak', 101],
    ['anna', 'engine', 1001],
    ['carl', 'engine', 2002],
    ['yy', 'espeak', 102],
  ])('by number, name and language, in the order of the places: %s', async (word, kind, no) => {
    expect(await meant(word)).toMatchObject({ kind, no });
  });

  it('under a name of the config before a language', async () => {
    expect(await meant('xx')).toMatchObject({ kind: 'built-in', no: 3 });
  });

  it('in the engine that was chosen before the others', async () => {
    expect(await meant('bert', { engine: 'other' })).toMatchObject({ no: 1001 });
    expect(await meant('anna', { engine: 'other' })).toMatchObject({ no: 2001 });
    expect(await meant(2, { engine: 'other' })).toMatchObject({ kind: 'built-in', no: 2 });
  });

  it('as a variety of English in the built-in voices where no other voice speaks it', async () => {
    expect(await meant('en-GB', {}, false)).toMatchObject({ kind: 'built-in', no: 3 });
  });

  it.each([
    ['bert', {}, 'several engines have a voice "bert"'],
    ['other:anna', {}, 'the engine other has no voice "anna"'],
    ['nobody', {}, 'no speaker is called "nobody"'],
    ['nobody', { engine: 'one' }, 'no speaker is called "nobody"'],
    [77, {}, 'has no speaker 77'],
  ])('in vain, with words that say why: %s', async (word, flags, words) => {
    await expect(meant(word, flags)).rejects.toThrow(words);
  });
});
