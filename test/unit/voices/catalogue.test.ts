import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isFree, loadCatalogue, offered } from '../../../src/voices/install/catalogue.ts';

const PINS = [process.env.TTS_TEST_PINS ?? '', '../shared/research/voices-pins.json'].find(
  (file) => file !== '' && existsSync(file),
);

const catalogue = loadCatalogue({ env: {}, cwd: '/' });

interface Pins {
  readonly piper: { readonly repo: string; readonly commit: string; readonly voices: Record<string, object> };
  readonly kokoro: { readonly repo: string; readonly commit: string; readonly files: object[] };
  readonly espeak: {
    readonly repo: string;
    readonly commit: string;
    readonly base: object[];
    readonly languages: object;
  };
}

describe('the catalogue', () => {
  it.runIf(PINS)('has every pin, field by field', () => {
    const pins = JSON.parse(readFileSync(PINS as string, 'utf8')) as Pins;
    for (const [key, pin] of Object.entries(pins.piper.voices))
      expect(offered(catalogue, key)).toMatchObject(pin);
    expect(catalogue.repositories.piper).toEqual({ repo: pins.piper.repo, commit: pins.piper.commit });
    expect(offered(catalogue, 'kokoro')?.files).toEqual(pins.kokoro.files);
    expect(catalogue.repositories.kokoro).toEqual({ repo: pins.kokoro.repo, commit: pins.kokoro.commit });
    expect(catalogue.espeak).toMatchObject({ base: pins.espeak.base, languages: pins.espeak.languages });
    expect(catalogue.repositories.espeak).toEqual({ repo: pins.espeak.repo, commit: pins.espeak.commit });
  });

  it('begins with the four voices whose licence is beyond doubt', () => {
    const [...first] = catalogue.voices.slice(0, 4);
    expect(first.map(({ name }) => name)).toEqual(['cori', 'kristin', 'ljspeech', 'norman']);
    for (const { licence, trained } of first) {
      expect(licence).toMatch(/^public domain/);
      expect(trained).toBe('scratch');
    }
  });

  it.each(['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ru', 'uk', 'tr'])(
    'has a voice for %s',
    (language) => {
      expect(catalogue.voices.some((voice) => voice.language.startsWith(`${language}-`))).toBe(true);
    },
  );

  it('has names, keys and numbers once each, and a checksum for each file', () => {
    const { voices, espeak } = catalogue;
    for (const field of ['name', 'key', 'number'] as const)
      expect(new Set(voices.map((voice) => voice[field])).size).toBe(voices.length);
    expect(voices.map(({ number }) => number)).toEqual(voices.map((_, at) => 200_001 + 1000 * at));
    for (const { files, espeak: languages, speakers } of voices) {
      expect(speakers).toBeLessThanOrEqual(1000);
      for (const { path, size, sha256, md5 } of files) {
        expect(size).toBeGreaterThan(0);
        expect(sha256 ?? md5).toMatch(/^([0-9a-f]{64}|[0-9a-f]{32})$/);
        if (path.endsWith('.onnx')) expect(sha256).toHaveLength(64);
      }
      for (const language of languages) expect(espeak.languages[language]).toBeDefined();
    }
  });

  it('tells which licences are free', () => {
    const notFree = catalogue.voices.filter((voice) => !isFree(voice)).map(({ name }) => name);
    expect(notFree).toEqual(['pim', 'gosia', 'irina', 'dfki', 'kareem']);
  });
});
