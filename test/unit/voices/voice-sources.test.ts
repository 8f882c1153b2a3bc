import { describe, expect, it } from 'vitest';
import type { Host } from '../../../src/kit/host.ts';
import type { EngineEntry } from '../../../src/options/engine-entry.ts';
import type { Settings } from '../../../src/options/load.ts';
import { VoiceSources } from '../../../src/voices/sources.ts';
import { emptyFolder } from '../../support/folder.ts';
import { answer } from '../../support/http-bytes.ts';
import { serveSpeech } from '../../support/speech-server.ts';

const origin = { place: 'option', name: '--speaker' } as const;
const OFF = { url: 'http://127.0.0.1:8/v1' };

function settingsWith(engines: Readonly<Record<string, EngineEntry>>, speaker?: string | number): Settings {
  const said = {
    engines: { value: new Map(Object.entries(engines)), origin },
    speaker: speaker === undefined ? undefined : { value: speaker, origin },
    timeout: { value: 5, origin },
  };
  return said as unknown as Settings;
}

function sourcesOf(settings: Settings, chosen: readonly string[] = []): VoiceSources {
  const host = { env: {}, cwd: emptyFolder(), home: undefined, platform: 'linux' } as unknown as Host;
  const notices = { hide() {} };
  const context = { host, notices, signal: new AbortController().signal };
  return new VoiceSources(
    settings,
    context as never,
    chosen.map((value) => ({ value, origin })),
  );
}

/** @param lists the voices of each server; `null` for one that has no list */
async function enginesOf(lists: Readonly<Record<string, readonly string[] | null>>) {
  const servers = Object.entries(lists).map(async ([name, voices]) => {
    const { url } = await serveSpeech(answer(500, 'no'), voices);
    return [name, { url }] as const;
  });
  return Object.fromEntries(await Promise.all(servers));
}

/** @returns number, engine and voice of what is found */
async function found(sources: VoiceSources, settings: Settings) {
  const { no, numbered, voice } = (await sources.find(settings)) ?? {};
  return no === undefined ? undefined : [no, numbered?.source.name, voice?.name];
}

describe('the engines of a run', () => {
  it('speak with any voice where they have no list, if it has a name', async () => {
    const engines = await enginesOf({ one: null });
    const find = (speaker: string) => {
      const settings = settingsWith(engines, speaker);
      return found(sourcesOf(settings), settings);
    };
    expect(await find('one:nova')).toEqual([1002, 'one', 'nova']);
    await expect(find('one:')).rejects.toThrow('the engine one has no voice ""');
  });

  it('have their numbers in the order of the config, and the chosen ones come first', async () => {
    const engines = await enginesOf({ one: ['a', 'b'], two: ['c'] });
    const find = (speaker: number, chosen?: readonly string[]) => {
      const settings = settingsWith(engines, speaker);
      return found(sourcesOf(settings, chosen), settings);
    };
    expect(await find(1002)).toEqual([1002, 'one', 'b']);
    expect(await find(2001)).toEqual([2001, 'two', 'c']);
    expect(await find(2001, ['two'])).toEqual([2001, 'one', 'a']);
    for (const number of [1, 1000, 1003, 2002, 3001, 1_000_000_001])
      expect(await find(number)).toBeUndefined();
  });

  it('give the thousandth voice the last number, and later ones a number that only a name gives', async () => {
    const names = Array.from({ length: 1002 }, (_, at) => `v${at}`);
    const engines = await enginesOf({ one: names, two: ['c'] });
    const named = settingsWith(engines, 'one:v1000');
    const sources = sourcesOf(named);
    expect(await found(sources, settingsWith(engines, 2000))).toEqual([2000, 'one', 'v999']);
    expect(await found(sources, settingsWith(engines, 2001))).toEqual([2001, 'two', 'c']);
    const [no = 0] = (await found(sources, named)) as [number];
    expect(await found(sources, settingsWith(engines, no))).toBeUndefined();
    const { voices } = await sources.open(0);
    expect(voices.size).toBe(1001);
    expect(voices.get(no)?.name).toBe('v1000');
    expect(await found(sourcesOf(named), named)).toEqual([no, 'one', 'v1000']);
  });

  it('without a list of voices take any name, the later ones without a number', async () => {
    const engines = await enginesOf({ any: null, two: ['c'] });
    const sources = sourcesOf(settingsWith(engines));
    const numbers = new Set<number>();
    for (let at = 0; at < 1500; at += 1) {
      const [no, engine, voice] = (await found(sources, settingsWith(engines, `any:n${at}`))) ?? [];
      expect([engine, voice]).toEqual(['any', `n${at}`]);
      numbers.add(Number(no));
    }
    expect(numbers.size).toBe(1500);
    expect([...numbers].filter((no) => no > 2000 && no < 1_000_000_000)).toEqual([]);
  });

  it('are searched for a name, and a name of two of them is refused', async () => {
    const engines = { ...(await enginesOf({ one: ['a', 'b'], two: ['b', 'c'] })), off: OFF };
    const sources = sourcesOf(settingsWith(engines));
    expect((await sources.search('c', '--speaker'))?.no).toBe(2002);
    expect(await sources.search('d', '--speaker')).toBeUndefined();
    await expect(sources.search('b', '--speaker')).rejects.toThrow(
      '--speaker: several engines have a voice "b"',
    );
  });

  it('are opened once, and one that is off is told with its place', async () => {
    const sources = sourcesOf(settingsWith({ off: OFF, ...(await enginesOf({ one: ['a'] })) }));
    expect((await sources.open(1)).source.name).toBe('one');
    const faults: unknown[][] = [];
    const opened = await sources.openAll((error, at) => {
      faults.push([(error as Error).message, at]);
    });
    expect(opened).toEqual([await sources.open(1)]);
    expect(opened[0]).toBe(await sources.open(1));
    expect(faults).toEqual([[expect.stringMatching(/^off cannot be reached/), 0]]);
  });

  it.each([
    ['one:x', /^--speaker: the engine one has no voice "x"$/],
    ['other:a', undefined],
  ])('refuse a voice that they do not have: %s', async (speaker, message) => {
    const settings = settingsWith(await enginesOf({ one: ['a'] }), speaker);
    const finding = found(sourcesOf(settings), settings);
    await (message ? expect(finding).rejects.toThrow(message) : expect(finding).resolves.toBeUndefined());
  });
});
