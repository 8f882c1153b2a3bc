import { describe, expect, it } from 'vitest';
import {
  baseLanguage,
  languageInName,
  languageName,
  matchesLanguage,
  voiceForLanguage,
} from '../../../src/voices/language.ts';

describe('a voice speaks a language that is asked for', () => {
  it.each([
    ['de-DE', 'de'],
    ['de-DE', 'de_DE'],
    ['de-DE', 'deu'],
    ['de-DE', 'German'],
    ['en-GB', 'en-UK'],
    ['en-GB', 'British English'],
    ['nb', 'no'],
    ['no', 'nn'],
    ['cmn', 'zh'],
    ['zh-Hant-TW', 'zh-Hant'],
    ['en-gb-scotland', 'en_GB_Scotland'],
    ['piqd', 'piqd'],
  ])('%s is %s', (tag, asked) => {
    expect(matchesLanguage(tag, asked)).toBe(true);
  });

  it.each([
    ['af', 'af_heart'],
    ['nb', 'no_one'],
    ['de-DE', 'de-AT'],
    ['de-DE', 'de-'],
    ['de-DE', 'derman'],
    ['en-US', 'en-heart'],
    ['und', 'und'],
    ['', ''],
    ['English words, not a tag', 'en'],
  ])('%s is not %s', (tag, asked) => {
    expect(matchesLanguage(tag, asked)).toBe(false);
  });
});

describe('the voice for a language', () => {
  const pick = (asked: string, ...groups: readonly (readonly string[])[]) =>
    voiceForLanguage(
      asked,
      groups.map((tags) => tags.map((language) => ({ language }))),
    )?.language;

  it.each([
    ['fr', 'fr-BE fr-FR', 'fr-FR'],
    ['es', 'es-419 es', 'es'],
    ['en-GB', 'en-US en-GB-x-rp en-GB', 'en-GB'],
    ['de-AT', 'fr de-CH de-DE', 'de-DE'],
    ['de-AT', 'de-DE de', 'de'],
  ])('%s of %s is %s', (asked, tags, found) => {
    expect(pick(asked, tags.split(' '))).toBe(found);
  });

  it('comes from the first group that has its region, and else from the first that has the language', () => {
    expect(pick('en-GB', ['en-US'], ['en-GB'])).toBe('en-GB');
    expect(pick('en', ['en-IN'], ['en-US'])).toBe('en-IN');
    expect(pick('en-ZA', ['en-IN'], ['en-US'])).toBe('en-IN');
    expect(pick('no_one', ['no'])).toBeUndefined();
  });

  const ESPEAK = 'de es es-419 fr-be fr-fr pt pt-br cmn nb en-gb-x-rp en-us sr is';

  it.each([
    ['pt-BR-FranciscaNeural', 'pt-br'],
    ['pt-br-franciscaneural', 'pt-br'],
    ['es-MX-DaliaNeural', 'es-419'],
    ['es-AR-ElenaNeural', 'es-419'],
    ['es-ES-AlvaroNeural', 'es'],
    ['de-DE-KatjaNeural', 'de'],
    ['de_DE-thorsten-high', 'de'],
    ['fr-FR-DeniseNeural', 'fr-fr'],
    ['fr-BE_Somebody', 'fr-be'],
    ['nb-NO-PernilleNeural', 'nb'],
    ['zh-CN-XiaoxiaoNeural', 'cmn'],
    ['cmn-CN-Standard-A', 'cmn'],
    ['sr-Latn-RS-NicholasNeural', 'sr'],
    ['en-US_AllisonV3Voice', 'en-us'],
    ['en-US-Ava:DragonHDLatestNeural', 'en-us'],
    ['en_US/vctk_low', 'en-us'],
    ['en-GB-SoniaNeural', 'en-gb-x-rp'],
    ['en_us', 'en-us'],
    ['Microsoft Server Speech Text to Speech Voice (pt-BR, FranciscaNeural)', 'pt-br'],
    // Another region is not the one of the name.
    ['de-AT-IngridNeural', undefined],
    ['fr-CA-SylvieNeural', undefined],
    ['en-AU-NatashaNeural', undefined],
    ['zh-TW-HsiaoChenNeural', undefined],
    ['en-US-Wavenet-D', 'en-us'],
    ['de_at', undefined],
    ['is_it', undefined],
    ['is_it_me', undefined],
    ['no_one', undefined],
    // A tag is content with the language.
    ['de-AT', 'de'],
    ['fr-CA', 'fr-fr'],
    ['es-CO', 'es-419'],
  ])('named %s is %s', (name, found) => {
    expect(pick(name, ESPEAK.split(' '))).toBe(found);
  });

  it('may be listed under further tags', () => {
    const voices = [{ language: 'es' }, { language: 'es-419', alsoSpeaks: ['es-mx'] }];
    expect(voiceForLanguage('es-MX', [voices])?.language).toBe('es-419');
  });
});

it('a language has a name and a code, and a name has none', () => {
  expect(['de_AT', 'deu', 'German', 'no_one', 'und', 'heart'].map(baseLanguage)).toEqual([
    'de',
    'de',
    'de',
    ...Array(3).fill(undefined),
  ]);
  expect(['de-AT', 'japanese', 'af_heart'].map(languageName)).toEqual(['German', 'Japanese', undefined]);
  expect(['pt-BR-FranciscaNeural', 'is_it'].map(languageName)).toEqual([
    'Brazilian Portuguese',
    'Icelandic (Italy)',
  ]);
  expect(['pt-BR-FranciscaNeural', 'pt-BR', 'af_heart', 'is_it'].map(languageInName)).toEqual([
    'pt',
    ...Array(3).fill(undefined),
  ]);
});
