import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Speech } from '../../../src/sound/pcm.ts';
import { Cache, cacheKey, type Keyed } from '../../../src/voices/cache.ts';
import { openStore, type Store } from '../../../src/voices/cache-store.ts';
import { cacheLimit } from '../../../src/voices/run-cache.ts';
import { emptyFolder } from '../../support/folder.ts';
import { NO_FIELDS, silent } from '../../support/speaker.ts';
import { turns } from '../../support/turns.ts';
import { collect, WatchedBody } from '../sound/body.ts';
import { sound, speechFormat } from '../sound/wav-builder.ts';
import { filesBelow, speechOf, uid } from './segment-sound.ts';

const { signal } = new AbortController();

let folder: string;
let store: Store;
let asked: string[];
let lookups: string[];

beforeEach(async () => {
  folder = emptyFolder();
  asked = [];
  lookups = [];
  const opened = await openStore({ folder, uid, maxBytes: 2 ** 30, warn: (text) => lookups.push(text) });
  if (!opened) throw new Error('no store');
  store = opened;
  onTestFinished(() => store.close());
});

const OWNER = { pid: process.pid, realm: 'the test', isRunning: () => true, uid };

type Say = (text: string, until?: AbortSignal, no?: number) => Promise<Speech | undefined>;

/** A run that keeps what `make` makes; by default a sound that the text decides on. */
function keeping(make: (text: string) => Speech | undefined = spoken): Say {
  const cache = new Cache(folder, store, OWNER);
  const { voice, fields } = silent;
  return async (text, until = signal, no = 1) => {
    let found = 'hit';
    const made = async () => {
      found = 'miss';
      asked.push(text);
      return make(text);
    };
    const speech = await cache.get({ text, voice: { ...voice, no }, fields }, made, until);
    lookups.push(found);
    return speech;
  };
}

function spoken(text: string): Speech {
  return speechOf(soundOf(text));
}

function soundOf(text: string): Buffer {
  return sound(20_000, text.length);
}

async function heard(synthesize: Say, text: string, no?: number): Promise<Buffer | undefined> {
  const speech = await synthesize(text, signal, no);
  return speech && collect(speech.pcm);
}

describe('the cache of a run', () => {
  it('asks once, and gives the same sound ever after, in other runs too', async () => {
    for (const synthesize of [keeping(), keeping()])
      for (let i = 0; i < 2; i++)
        expect((await heard(synthesize, 'hello'))?.equals(soundOf('hello'))).toBe(true);
    expect(asked).toEqual(['hello']);
    expect(lookups).toEqual(['miss', 'hit', 'hit', 'hit']);
  });

  it('keeps nothing of a sound whose reader leaves, and lets go of its source', async () => {
    const source = new WatchedBody(Array.from({ length: 300 }, () => sound(2000)));
    const synthesize = keeping(() => ({ format: speechFormat, bytes: undefined, pcm: source }));
    const speech = await synthesize('hello', signal);
    let pieces = 0;
    for await (const _ of speech?.pcm ?? []) if (++pieces === 250) break;
    expect(source.returned).toBeGreaterThan(0);
    expect(filesBelow(folder, /wav|part/)).toEqual([]);
    await heard(keeping(), 'hello');
    expect(asked).toHaveLength(2);
  });

  it('lets others ask for a sound that nobody began to read once its signal aborts', async () => {
    const stop = new AbortController();
    const synthesize = keeping();
    await synthesize('hello', stop.signal);
    const other = heard(synthesize, 'hello');
    await turns();
    expect(asked).toHaveLength(1);
    stop.abort(new Error('over'));
    expect(await other).toHaveLength(20_000);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, Partial<Speech>]>([
    ['breaks off', { pcm: broken() }],
    ['is shorter than it said it would be', { bytes: 20_002 }],
    ['is of two takes', { isOneTake: () => false }],
  ])('keeps nothing of a sound that %s', async (_, change) => {
    await heard(
      keeping((text) => ({ ...spoken(text), ...change })),
      'hello',
    ).catch(() => {});
    expect(filesBelow(folder, /wav|part/)).toEqual([]);
    expect(await heard(keeping(), 'hello')).toEqual(soundOf('hello'));
  });

  it('asks once for a text that is wanted many times at once', async () => {
    const synthesize = keeping();
    const sounds = await Promise.all(['a', 'bb', 'a', 'a', 'bb'].map((text) => heard(synthesize, text)));
    expect(sounds.map((pcm, i) => pcm?.equals(soundOf(i === 1 || i === 4 ? 'bb' : 'a')))).toEqual(
      Array(5).fill(true),
    );
    expect(asked.sort()).toEqual(['a', 'bb']);
  });

  it('lets those that wait for the same text ask in their order', async () => {
    const stops = [1, 2, 3].map(() => new AbortController());
    const turnsTaken: number[] = [];
    const synthesize = keeping();
    const waiting = stops.map(async (stop, number) => {
      await synthesize('hello', stop.signal);
      turnsTaken.push(number);
    });
    for (const [number, stop] of stops.entries()) {
      await expect.poll(() => turnsTaken).toEqual(stops.slice(0, number + 1).map((_, before) => before));
      stop.abort(new Error('over'));
    }
    await Promise.all(waiting);
    expect(asked).toHaveLength(3);
  });

  it.each<[string, () => Partial<Speech>]>([
    [
      'before its sound',
      () => {
        throw new Error('refused');
      },
    ],
    ['inside it', () => ({ pcm: broken() })],
  ])('lets whoever waits for the same text ask when the first one failed %s', async (_, fails) => {
    let change: () => Partial<Speech> = fails;
    const synthesize = keeping((text) => {
      const now = change;
      change = () => ({});
      return { ...spoken(text), ...now() };
    });
    const [one, other] = await Promise.allSettled([heard(synthesize, 'hello'), heard(synthesize, 'hello')]);
    expect([one.status, other.status]).toEqual(['rejected', 'fulfilled']);
    expect(asked).toHaveLength(2);
  });

  it('ends waiting for the same text when the run stops', async () => {
    const synthesize = keeping();
    const speech = await synthesize('hello', signal);
    const stop = new AbortController();
    const waiting = synthesize('hello', stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await collect(speech?.pcm ?? (async function* () {})());
    expect(await heard(synthesize, 'hello')).toHaveLength(20_000);
  });

  it('takes no more from its source than its reader takes from it', async () => {
    const source = new WatchedBody(Array.from({ length: 8 }, () => sound(200_000)));
    const synthesize = keeping(() => ({ format: speechFormat, bytes: undefined, pcm: source }));
    const speech = await synthesize('hello', signal);
    const reading = speech?.pcm[Symbol.asyncIterator]();
    for (let read = 1; read <= 5; read++) {
      await reading?.next();
      expect(source.pulled).toBe(read);
    }
    await reading?.return?.();
  });
});

async function* broken(): AsyncGenerator<Uint8Array> {
  yield sound(300_000);
  throw new Error('broke');
}

describe('the key of a sound', () => {
  const asked: Keyed = { text: 'hello', voice: silent.voice, fields: NO_FIELDS };
  const key = cacheKey(asked);

  it('is 64 hex digits, whatever is not heard', () => {
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(cacheKey({ ...asked, fields: { ...NO_FIELDS, stream: true } })).toBe(key);
  });

  it.each<[string, Partial<Keyed>]>([
    ['address', { voice: { ...silent.voice, identity: 'another one' } }],
    ['number', { voice: { ...silent.voice, no: 18 } }],
    ['sample rate', { fields: { ...NO_FIELDS, sampleRate: 22_050 } }],
    ['instructions', { fields: { ...NO_FIELDS, instructions: '' } }],
    ['text', { text: 'hello ' }],
  ])('is another one with another %s', (_, other) => {
    expect(cacheKey({ ...asked, ...other })).not.toBe(key);
  });

  it.each([
    [{ text: 'a\u0301' }, { text: '\u00e1' }],
    [{ text: '\ud800' }, { text: '\ufffd' }],
    [
      { text: 'c', fields: { ...NO_FIELDS, instructions: 'a","b' } },
      { text: 'b","c', fields: { ...NO_FIELDS, instructions: 'a' } },
    ],
  ])('tells %j from %j', (one, other) => {
    expect(cacheKey({ ...asked, ...one })).not.toBe(cacheKey({ ...asked, ...other }));
  });
});

it('A cache takes at most a tenth of the free room of its disk, also before its folder is there.', () => {
  const { bavail, bsize } = statfsSync(folder);
  const origin = { place: 'default', name: '' } as const;
  const limit = (value: number, home: string | undefined) =>
    cacheLimit({ cacheSize: { value, origin } }, { cwd: folder, env: {}, home, platform: 'linux' });
  for (const home of [folder, join(folder, 'not/there/yet')]) {
    // Other programs use the disk as well.
    expect(Math.abs(limit(Number.MAX_SAFE_INTEGER, home) / ((bavail * bsize) / 10) - 1)).toBeLessThan(0.2);
    expect(limit(1, home)).toBe(1);
  }
  expect(limit(7, undefined)).toBe(7);
});
