import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check, fromText, list, type Schema, type ValueOf } from '../../../src/kit/schema.ts';
import { engine, engines, serverAddress } from '../../../src/options/engine-entry.ts';
import {
  baseUrl,
  byteCount,
  clock,
  command,
  describedValue,
  fileNames,
  pauses,
  playerCommand,
  proxyUrl,
  ranges,
  speaker,
  speakers,
  url,
  voices,
  words,
} from '../../../src/options/kinds.ts';

/** @returns the value of data, or the problem with its place */
function read<S extends Schema>(schema: S, data: unknown): ValueOf<S> | string {
  const result = check(schema, data);
  return 'value' in result ? (result.value as ValueOf<S>) : `${result.path}: ${result.problem}`;
}

const typed = (schema: Schema, text: string) => read(schema, fromText(schema, text));

describe('a value', () => {
  it.each<[Schema, readonly string[], readonly unknown[]]>([
    [speaker, ['0', '1190', '3.0', ' anna ', 'rms2'], [0, 1190, 3, 'anna', 'rms2']],
    [clock, ['90', '1:30', '0:01:30.5', '90:00'], [90, 90, 90.5, 5400]],
    [byteCount, ['7', '1 KiB', '2.5MB', '1g'], [7, 1024, 2.5 * 2 ** 20, 2 ** 30]],
    [
      ranges,
      ['3', '3,5-7'],
      [
        [[3, 3]],
        [
          [3, 3],
          [5, 7],
        ],
      ],
    ],
    [fileNames, ['a b.txt'], [['a b.txt']]],
  ])('is read from text: %#', (schema, texts, values) => {
    expect(texts.map((text) => typed(schema, text))).toEqual(values);
  });

  it.each<[Schema, readonly string[]]>([
    [speaker, ['+1', '--1', '-x', '1.5', '', ' ', '99999999999999999999']],
    [byteCount, ['', '-1', '1 XB', '1e3', 'many']],
    [ranges, ['', '0', '7-5', '3-', 'a', '1,,2']],
    [url, ['', 'a.example', 'ftp://a', 'https://', 'javascript:1']],
    [baseUrl, ['https://u@a', 'https://:p@a', 'https://a?x', 'https://a#x']],
    [proxyUrl, ['http://a/path', 'http://a?x', 'socks5://a:1080']],
    [clock, ['1:90', '1:75:00', '0', '1::30', '100:00:01']],
  ])('is refused as text: %#', (schema, texts) => {
    for (const text of texts) expect(typed(schema, text), text).toMatch(/^: must be /);
  });

  it.each<[Schema, readonly unknown[]]>([
    [speaker, [1.5, 2 ** 53, Number.NaN, null, {}, []]],
    [byteCount, [-1, Number.NaN, Number.POSITIVE_INFINITY, null, true]],
    [list(baseUrl), ['https://a.example', [1], null, {}]],
    [fileNames, [[], [''], [1], null]],
    [pauses, [null, 1, { scene: '' }, { scene: 61 }, { scen: 1 }]],
    [command, [[], [''], ['mpv', 1], 7, null]],
  ])('is refused as data: %#', (schema, values) => {
    for (const value of values) expect(check(schema, value), String(value)).toHaveProperty('problem');
  });

  it('never makes a check throw', () => {
    const schemas: Schema[] = [byteCount, words, speaker, baseUrl, url, speakers, engines, pauses, command];
    const property = fc.property(fc.anything(), fc.string(), (data, text) => {
      for (const schema of schemas) {
        check(schema, data);
        typed(schema, text);
      }
    });
    expect(() => fc.assert(property)).not.toThrow();
  });
});

it('A base URL has no slash at its end.', () => {
  expect(String(typed(baseUrl, 'https://a.example/api//'))).toBe('https://a.example/api');
});

describe('names with values', () => {
  it('come as text or as data', () => {
    const said = new Map([
      ['scene', 2],
      ['heading', 0.5],
    ]);
    expect(typed(pauses, ' scene=2, heading = 0.5')).toEqual(said);
    expect(read(pauses, { scene: 2, heading: 0.5 })).toEqual(said);
    expect(typed(voices, 'Alice=anna,*=2')).toEqual(
      new Map<string, string | number>([
        ['Alice', 'anna'],
        ['*', 2],
      ]),
    );
  });

  it.each([
    ['scene', ': must be borders with their seconds'],
    ['scene=1,', ': must be borders with their seconds'],
    ['scen=1', 'scen: is not known: did you mean "scene"?'],
    ['scene=61', 'scene: must be 60 or less'],
    ['scene=', 'scene: must be a number'],
  ])('say what is wrong with %s', (text, problem) => {
    expect(typed(pauses, text)).toContain(problem);
  });
});

describe('the speakers of a config', () => {
  it.each([
    [{ anna: -1.5 }, 'anna: must be a whole number'],
    [{ anna: '181' }, 'anna: must be a whole number'],
    [{ anna: { no: 1, sampleRate: 7999 } }, 'anna.sampleRate: must be 8000 or more'],
    [{ anna: { no: 1, langage: 'hi' } }, 'anna.langage: is not known: did you mean "language"?'],
    [{ anna: { engine: 'es' } }, 'anna: has no "voice"'],
    [{ anna: { voice: 'af_heart' } }, 'anna: has no "engine"'],
    [{ anna: { kind: 'x' } }, 'anna: has no "no"'],
    [{ anna: [1] }, 'anna.0: is not known'],
    [{ 12: 1 }, '12: cannot be the name of a speaker'],
    [{ '': 1 }, ': cannot be the name of a speaker'],
    [null, ': must be names with their numbers'],
  ])('are refused where they make no sense: %j', (book, problem) => {
    expect(read(speakers, book)).toContain(problem);
  });

  it('have a number, or settings', () => {
    const deep = { no: 1190, sampleRate: 16_000 };
    expect(read(speakers, { anna: 181, deep })).toEqual(new Map(Object.entries({ anna: { no: 181 }, deep })));
  });
});

describe('the address of a server', () => {
  it.each([
    ['http://127.0.0.1:8880', 'http://127.0.0.1:8880/v1', undefined],
    ['http://h/', 'http://h/v1', undefined],
    ['HTTPS://h/api/v1//', 'https://h/api/v1', undefined],
    ['http://anna:a%3Ab%25@h/v1', 'http://h/v1', 'anna:a:b%'],
    ['http://token@h', 'http://h/v1', 'token:'],
  ])('has a path and no password: %s', (text, href, login) => {
    expect(serverAddress(text)).toEqual({ url: new URL(href), ...(login && { login }) });
    expect(typed(engine, text)).toBe(text);
  });

  it.each(['http://', 'http://[', 'http://h:99999', 'http://a b', 'http://h/v1?key=1', 'http://h/#x'])(
    'is not %s, which no engine is called either',
    (text) => {
      expect(serverAddress(text)).toBeUndefined();
      expect(typed(engine, text)).toContain(': must be the whole URL of a server');
    },
  );
});

describe('the engines of a config', () => {
  const server = { url: 'http://127.0.0.1:8880/v1' };

  it('are a server, a program or a model folder, in their order', () => {
    const said = {
      kokoro: { ...server, model: 'kokoro', key: 'k', voices: ['anna'], format: 'wav', concurrency: 2 },
      piper: { command: ['piper', '-m', 'a b.onnx'], output: 's16le', sampleRate: 22_050, maxChars: 200 },
      'mine-1.0': { model: '~/voices/mine' },
    };
    expect(read(engines, said)).toEqual(new Map(Object.entries(said)));
    const command = ['espeak-ng', '--stdout'];
    expect(read(engines, { x: { command: command.join(' ') } })).toEqual(new Map([['x', { command }]]));
  });

  it.each<[object, string]>([
    [{ 'a b': server }, 'a b: cannot be the name of an engine'],
    [{ 'a:b': server }, 'a:b: cannot be the name of an engine'],
    [{ x: 'http://127.0.0.1' }, 'x: must be an object'],
    [{ x: { commandd: 'x' } }, 'x.commandd: is not known: did you mean "command"?'],
    [{ x: { voices: ['a'] } }, 'x: has none of "url", "command" and "model"'],
    [{ x: { ...server, command: 'x' } }, 'x: has both "url" and "command"'],
    [{ x: { command: 'x', output: 's16le' } }, 'x: has no "sampleRate"'],
    [{ x: { ...server, format: 'pcm' } }, 'x: has no "sampleRate"'],
    [{ x: { url: 'ftp://x' } }, 'x.url: must be a URL'],
    [{ x: { ...server, format: 'mp3' } }, 'x.format: must be one of wav, pcm'],
    [{ x: { command: [] } }, 'x.command: must be a program'],
    [{ x: { ...server, concurrency: 65 } }, 'x.concurrency: must be 64 or less'],
    [{ x: { ...server, voices: [7] } }, 'x.voices.0: must be a text'],
    [{ x: { ...server, key: 7 } }, 'x.key: is not text'],
  ])('are refused in words: %j', (said, problem) => {
    expect(read(engines, said)).toContain(problem);
  });
});

const LINES: readonly (readonly [string, readonly string[]])[] = [
  ['mpv', ['mpv']],
  ['  aplay  -q\t- ', ['aplay', '-q', '-']],
  [`play -t wav '-'`, ['play', '-t', 'wav', '-']],
  [`"my player" --title "a \\"b\\" c" 'd "e"'`, ['my player', '--title', 'a "b" c', 'd "e"']],
  [`--a='b c'"d e"f`, ['--a=b cd ef']],
  [`mpv ''`, ['mpv', '']],
  ['my\\ player a\\\\b', ['my player', 'a\\b']],
  ['C:\\Tools\\mpv.exe -', ['C:\\Tools\\mpv.exe', '-']],
  ['mpv $HOME *.wav; rm -rf x | y > z', ['mpv', '$HOME', '*.wav;', 'rm', '-rf', 'x', '|', 'y', '>', 'z']],
];

describe('a command in one line', () => {
  it.each(LINES)('is split as a shell splits words, and nothing is expanded: %s', (line, expected) => {
    expect(typed(command, line)).toEqual(expected);
  });

  it.each(['', '   ', `'open`, `mpv "open`, "mpv it's", `'' mpv`])(
    'is refused when it is none: %j',
    (line) => {
      expect(typed(command, line)).toContain('must be a program');
    },
  );

  it('gives every word back that stands in single quotes', () => {
    const word = fc.string({ minLength: 1 }).filter((text) => !text.includes("'"));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (expected) => {
        expect(typed(command, expected.map((text) => `'${text}'`).join(' '))).toEqual(expected);
      }),
    );
  });

  it('may be a list in a config file', () => {
    expect(read(command, ['mpv', '--title=a b', '-'])).toEqual(['mpv', '--title=a b', '-']);
  });
});

describe('a player written as the line of a shell', () => {
  it.each([
    ['cat > logs/c.wav', '">"', "sh -c 'cat > logs/c.wav'"],
    ['tee a.wav | aplay', '"|"', "sh -c 'tee a.wav | aplay'"],
    ['aplay 2>/dev/null', '"2>/dev/null"', "sh -c 'aplay 2>/dev/null'"],
    ['aplay - && echo', '"&&"', "sh -c 'aplay - && echo'"],
    ['aplay $DEVICE', '"$DEVICE"', "sh -c 'aplay $DEVICE'"],
  ])('is refused, and told how a shell runs it: %s', (line, sign, shell) => {
    expect(typed(playerCommand, line)).toContain(sign);
    expect(read(playerCommand, line)).toContain(shell);
    expect(typed(playerCommand, shell)).toEqual(['sh', '-c', line]);
  });

  it('is taken where the signs stand in quotes, or in a list', () => {
    for (const line of ["sh -c 'cat > c.wav'", 'ffplay -af "a;b|c" -', 'mpv --x=a,b'])
      expect(typed(playerCommand, line)).toEqual(typed(command, line));
    expect(read(playerCommand, ['cat', '>'])).toEqual(['cat', '>']);
  });
});

describe('a value in a message', () => {
  it.each([
    ['plain words', '"plain words"'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
    [['a'], 'a list'],
    [{}, 'an object'],
    ['https://x.example/api', '"https://x.example/api"'],
    ['https://me:se/cr@et@x.example/api', '"https://***@x.example/api"'],
    ['me:secret@x.example:8080', '"***@x.example:8080"'],
    ['ftp://x.example/a?token=secret', '"ftp://x.example/a?***"'],
    ['ftp://x.example/a#secret', '"ftp://x.example/a#***"'],
  ])('is shown without what is secret in it: %j', (value, shown) => {
    expect(describedValue(value)).toBe(shown);
  });

  it('is not endless', () => {
    expect(describedValue('x'.repeat(10_000)).length).toBeLessThan(210);
  });
});
