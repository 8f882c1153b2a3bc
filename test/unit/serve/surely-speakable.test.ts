import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/engines/normalise.ts';
import { passages } from '../../../src/engines/passages.ts';
import { surelySpeakable } from '../../../src/serve/speak.ts';

async function isSpoken(text: string): Promise<boolean> {
  for await (const _ of passages(text, normalise, new AbortController().signal)) return true;
  return false;
}

describe('surelySpeakable', () => {
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
    expect(surelySpeakable(text, language)).toBe(sure);
  });

  it('never promises what the English voices do not speak', async () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('\u001b[', '\u009b', 'a', '7', ' ', '.\n', '\n\n', '¿', '…', '€', '你'),
    );
    const texts = fc.array(unit, { maxLength: 12 }).map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        fc.pre(surelySpeakable(text, 'en-US'));
        expect(await isSpoken(text)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
