import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/engines/normalise.ts';
import { passages } from '../../../src/engines/passages.ts';
import { isSurelySpeakable, type StoredSound, storeSound } from '../../../src/serve/sound.ts';

async function* pieces(count: number, size: number) {
  for (let i = 0; i < count; i++) yield new Uint8Array(size).fill(i);
}

async function all(sound: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  for await (const piece of sound) read.push(piece);
  return Buffer.concat(read);
}

describe('stored sound', () => {
  it.each([
    ['nothing', 0, 0],
    ['a little', 3, 1001],
    ['more than memory is set aside for', 100, 100_003],
  ])('of %s can be read as often as wanted', async (_, count, size) => {
    const stored = await storeSound(pieces(count, size));
    const wanted = await all(pieces(count, size));
    expect(stored.bytes).toBe(count * size);
    for (const _time of [1, 2]) expect((await all(stored.read())).equals(wanted)).toBe(true);
    stored.dispose();
  });

  it('goes to a file while many others are in memory, until they are disposed of', async () => {
    const piece = new Uint8Array(1_000_000).fill(7);
    async function* sound() {
      for (let i = 0; i < 3; i++) yield piece;
    }
    const isInMemory = async ({ read }: StoredSound) => {
      for await (const first of read()) return first === piece;
      return false;
    };
    const many: StoredSound[] = [];
    for (let i = 0; i < 25; i++) many.push(await storeSound(sound()));
    expect(await Promise.all(many.map(isInMemory))).toEqual(many.map((_, index) => index < 22));
    expect((await all(many.at(-1)?.read() ?? pieces(0, 0))).equals(Buffer.alloc(3_000_000, 7))).toBe(true);
    for (const stored of many) stored.dispose();
    const later = await storeSound(sound());
    expect(await isInMemory(later)).toBe(true);
    later.dispose();
  });

  it('fails as its sound fails', async () => {
    async function* broken() {
      yield* pieces(60, 100_000);
      throw new Error('the voice is gone');
    }
    await expect(storeSound(broken())).rejects.toThrow('the voice is gone');
  });
});

async function isSpoken(text: string): Promise<boolean> {
  for await (const _ of passages(text, normalise, new AbortController().signal)) return true;
  return false;
}

describe('isSurelySpeakable', () => {
  it.each([
    ['Hello.', 'en-US', true],
    ['7', 'en-US', true],
    ['你好', 'en-US', false],
    ['你好', 'cmn', true],
    ['٣', 'ar', false],
    ['?!', 'de', false],
    ['Hello.', 'und', false],
    ['\u001b[1m', 'en-US', false],
    ['\u009b31m', 'en-US', false],
  ])('of %j in %s is %s', (text, language, sure) => {
    expect(isSurelySpeakable(text, language)).toBe(sure);
  });

  it('never promises what the English voices do not speak', async () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('\u001b[', '\u009b', 'a', '7', ' ', '.\n', '\n\n', '¿', '…', '€', '你'),
    );
    const texts = fc.array(unit, { maxLength: 12 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        fc.pre(isSurelySpeakable(text, 'en-US'));
        expect(await isSpoken(text)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });
});
