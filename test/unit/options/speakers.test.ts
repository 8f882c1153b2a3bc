import { describe, expect, it } from 'vitest';
import type { TtsError } from '../../../src/kit/error.ts';
import { speakers } from '../../../src/options/kinds.ts';
import { type ConfigFile, resolveSettings } from '../../../src/options/load.ts';
import { chooseSpeaker, isAmong } from '../../../src/voices/catalogue.ts';

const own = [
  { no: 1, name: 'rms', kind: 'neo.one', sampleRate: 16_000 },
  { no: 11, name: 'rms-styled', kind: 'Mermish' },
];

const BOOK = {
  anna: 181,
  deep: { no: 1190, kind: 'neo.one', language: 'hi', sampleRate: 16_000 },
  warm: { no: 12, kind: 'Mermish', instructions: 'warmly' },
};

interface Said {
  readonly flags?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly config?: Record<string, unknown>;
}

function file(values: Record<string, unknown>, place: ConfigFile['place'] = 'project'): ConfigFile {
  const named = 'speakers' in values ? { ...values, speakers: speakers.data(values.speakers) } : values;
  return { path: `/${place}/.ttsrc`, folder: `/${place}`, place, values: named };
}

function choose({ flags = {}, env = {}, config = {} }: Said, known: typeof own = []) {
  const settings = resolveSettings({ flags, env, files: [file({ speakers: BOOK, ...config })] });
  const chosen = chooseSpeaker(settings, known);
  return {
    no: chosen.no,
    sampleRate: chosen.settings.sampleRate?.value,
    instructions: chosen.settings.instructions?.value,
  };
}

function failure(said: Said, known: typeof own = []): Pick<TtsError, 'message' | 'hint' | 'exitCode'> {
  try {
    choose(said, known);
  } catch (error) {
    return error as TtsError;
  }
  throw new Error('it was allowed');
}

describe('a speaker by name', () => {
  it.each([
    ['an option', { flags: { speaker: 'anna' } }],
    ['a variable', { env: { TTS_SPEAKER: 'anna' } }],
    ['a config file', { config: { speaker: 'anna' } }],
  ])('stands for its number in %s', (_, said) => {
    expect(choose(said).no).toBe(181);
  });

  it('brings its own defaults, and the number alone does not', () => {
    expect(choose({ flags: { speaker: 'deep' } })).toEqual({
      no: 1190,
      sampleRate: 16_000,
      instructions: undefined,
    });
    expect(choose({ flags: { speaker: 'warm' } }).instructions).toBe('warmly');
    expect(choose({ flags: { speaker: '1190' } }).sampleRate).toBeUndefined();
  });

  it('has defaults that go before those of a config file, and after options and the environment', () => {
    const flags = { speaker: 'deep' };
    expect(choose({ flags, config: { sampleRate: 8000 } }).sampleRate).toBe(16_000);
    expect(choose({ flags: { ...flags, sampleRate: '24000' } }).sampleRate).toBe(24_000);
    expect(choose({ flags, env: { TTS_SAMPLE_RATE: '44100' } }).sampleRate).toBe(44_100);
  });

  it('may be one of the service itself, whose rate is no wish of anybody', () => {
    expect(choose({ flags: { speaker: 'rms' } }, own)).toEqual({
      no: 1,
      sampleRate: undefined,
      instructions: undefined,
    });
  });

  it('is taken from the config where the service has one of that name too', () => {
    expect(choose({ flags: { speaker: 'rms' }, config: { speakers: { rms: 11 } } }, own).no).toBe(11);
  });

  it.each([
    [{ flags: { speaker: '7' } }, '--speaker: the built-in service has no speaker 7'],
    [
      { flags: { speaker: 'anna' }, config: { speakers: { anna: 7 } } },
      '--speaker: the built-in service has no speaker 7 (anna)',
    ],
  ])('that the built-in voice does not have is refused: %j', (said, message) => {
    expect(failure(said, own)).toMatchObject({
      exitCode: 2,
      message,
      hint: 'name the service that has it with --base-url; there are: 1 (rms), 11 (rms-styled)',
    });
  });

  it('is known from the project and from the own config together, the nearer going first', () => {
    const files = [
      file({ speakers: { anna: 1 } }),
      file({ speakers: { anna: 2, bert: 3 }, speaker: 'bert' }, 'user'),
    ];
    const numberOf = (flags: Record<string, string>) =>
      chooseSpeaker(resolveSettings({ flags, env: {}, files }), []).no;
    expect([numberOf({}), numberOf({ speaker: 'anna' })]).toEqual([3, 1]);
  });

  it('that is unknown is refused with the nearest, and with all there are', () => {
    expect(failure({ flags: { speaker: 'ana' } }, own)).toMatchObject({
      exitCode: 2,
      message: '--speaker: no speaker is called "ana"',
      hint: 'did you mean anna? There are: anna, deep, warm, rms, rms-styled',
    });
    expect(failure({ env: { TTS_SPEAKER: 'constructor' } })).toMatchObject({
      message: 'TTS_SPEAKER: no speaker is called "constructor"',
      hint: 'There are: anna, deep, warm',
    });
  });
});

describe('a speaker that is not there', () => {
  const many = Array.from({ length: 30 }, (_, index) => ({ no: index, name: `v${index}`, kind: 'neo.one' }));
  const refusal = (speaker: string) => {
    const settings = resolveSettings({ flags: { speaker }, env: {}, files: [] });
    return () => chooseSpeaker(settings, many, { remark: 'ask around', offered: ['cori'] });
  };

  it.each(['99', 'nobody'])('is refused with some of very many, and how to see them all: %s', (speaker) => {
    expect(refusal(speaker)).toThrow(
      expect.objectContaining({
        hint: expect.stringMatching(/are: [^;]*v19[^;]*, \.\.\.; tts speakers lists all; ask around$/),
      }),
    );
  });
});

describe('a speaker that could be installed', () => {
  it('is named with the line that brings it', () => {
    const settings = resolveSettings({ flags: { speaker: 'crori' }, env: {}, files: [] });
    const known = [{ no: 1, name: 'Māori', kind: 'neo.one' }];
    expect(() => chooseSpeaker(settings, known, { offered: ['cori'] })).toThrow(
      expect.objectContaining({
        hint: 'did you mean cori? tts voices install cori brings it. There are: Māori',
      }),
    );
  });
});

describe('whether one of some speakers is asked for', () => {
  it.each([
    [{}, true],
    [{ flags: { speaker: '11' } }, true],
    [{ flags: { speaker: '101' } }, false],
    [{ flags: { speaker: 'rms' } }, true],
    [{ flags: { speaker: 'anna' } }, false],
    [{ flags: { speaker: 'nobody' } }, false],
    [{ flags: { speaker: 'ann' }, config: { speakers: { ann: 11 } } }, true],
    [{ flags: { speaker: 'rms' }, config: { speakers: { rms: 0 } } }, false],
  ])('%j: %s', (said: Said, expected) => {
    const files = [file({ speakers: BOOK, ...said.config })];
    expect(isAmong(own, resolveSettings({ flags: said.flags ?? {}, env: {}, files }))).toBe(expected);
  });
});

describe('nobody chose a speaker', () => {
  it('so the first of those that are known speaks', () => expect(choose({}, own).no).toBe(1));

  it('and none is known, which is refused with the ways to choose', () => {
    expect(failure({})).toMatchObject({ exitCode: 2, hint: expect.stringMatching(/--speaker.*TTS_SPEAKER/) });
  });
});

describe('a speaker of a known kind', () => {
  it.each([
    [{ flags: { speaker: 'warm', sampleRate: '16000' } }, /^--sample-rate: speaker 12 \(warm\).*neo\.one/],
    [
      { flags: { speaker: 'deep' }, env: { TTS_INSTRUCTIONS: 'x' } },
      /^TTS_INSTRUCTIONS: speaker 1190.*Mermish/,
    ],
    [{ flags: { speaker: '12', sampleRate: '16000' } }, /^--sample-rate: speaker 12 is a Mermish speaker/],
  ])('is asked for nothing that its kind cannot do: %j', (said, message) => {
    expect(failure(said)).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  });

  it.each([
    [{ flags: { instructions: 'x' } }, /^--instructions: speaker 1 takes no instructions$/],
    [{ flags: { speaker: '11' }, config: { sampleRate: 8000 } }, /^sampleRate in .*: speaker 11/],
    [
      {
        flags: { speaker: 'me', instructions: 'x' },
        config: { speakers: { me: { no: 1, kind: 'Mermish' } } },
      },
      /^--instructions: speaker 1 \(me\) takes no instructions$/,
    ],
  ])('of which the service tells is asked for nothing that its kind cannot do: %j', (said, message) => {
    expect(failure(said, own)).toMatchObject({ exitCode: 2, message: expect.stringMatching(message) });
  });

  it('is asked for what its kind can do', () => {
    expect(choose({ flags: { speaker: 'deep', sampleRate: '8000' } }).sampleRate).toBe(8000);
    expect(choose({ flags: { speaker: '11', instructions: 'x' } }, own).instructions).toBe('x');
  });

  it('of none that is known is asked for anything', () => {
    expect(choose({ flags: { speaker: 'anna', sampleRate: '8000', instructions: 'x' } })).toEqual({
      no: 181,
      sampleRate: 8000,
      instructions: 'x',
    });
  });
});

describe('the names in a config file', () => {
  it.each([
    [{ anna: -1.5 }, /^"anna": -1.5 is not allowed for "no"/],
    [{ anna: '181' }, /^"anna": "181" is not allowed for "no"/],
    [{ anna: { kind: 'x' } }, /^"anna": "no".*missing/],
    [
      { anna: { no: 1, sampleRate: 7999 } },
      /^"anna": 7999 is not allowed for "sampleRate"; .* 8000 to 48000/,
    ],
    [{ 12: 1 }, /^"12" cannot be the name/],
    [{ '': 1 }, /^"" cannot be the name/],
    [{ anna: [1] }, /^"anna": a list is not allowed/],
  ])('are refused where they make no sense: %j', (book, what) => {
    expect(speakers.data(book)).toBeUndefined();
    expect(speakers.fault?.(book)?.what).toMatch(what);
  });

  it('are refused with the nearest right key', () => {
    expect(speakers.fault?.({ anna: { no: 1, langage: 'hi' } })).toEqual({
      what: '"anna": unknown key "langage"',
      hint: 'did you mean "language"?',
    });
  });

  it('may be words that JavaScript knows', () => {
    expect(speakers.data(JSON.parse('{"__proto__": 3, "toString": 4}'))).toEqual(
      new Map([
        ['__proto__', { no: 3 }],
        ['toString', { no: 4 }],
      ]),
    );
  });

  it.each([[[]], [null], ['anna'], [181]])('are an object and not %j', (data) => {
    expect(speakers.data(data)).toBeUndefined();
  });
});

it.each([
  [{ engine: 'es' }, /"voice", .* is missing/],
  [{ voice: 'af_heart' }, /"engine", .* is missing/],
  [{ kind: 'neo.one' }, /"no", the number of the speaker, is missing/],
])('A name for a voice says what is missing: %j', (raw, what) => {
  const fault = speakers.fault?.({ anna: raw });
  expect(fault?.what).toMatch(what);
  expect(fault?.hint).toMatch(/"engine": "kokoro", "voice": "af_heart"/);
});

it('Instructions for a voice that takes none lead to a built-in one that does.', () => {
  expect(failure({ flags: { instructions: 'faster' } }, own).hint).toMatch(/-s 11 to -s 15/);
  const { hint } = failure({ flags: { instructions: 'faster', speaker: 'deep' } });
  expect(hint).not.toMatch(/-s 11/);
});
