import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/cache/store.ts';
import { expectFailure, Sandbox } from '../support/run.ts';
import { keep, keyOf, uid } from '../unit/cache/segment-sound.ts';

let sandbox: Sandbox;
let folder: string;

beforeEach(() => {
  sandbox = new Sandbox();
  folder = sandbox.path('segments');
});

/** Two entries of 44 bytes of header and 2000 of sound each. */
async function fill(at = folder): Promise<void> {
  const store = await openStore({
    folder: at,
    uid,
    maxBytes: 2 ** 30,
    warn: (text) => expect.unreachable(text),
  });
  if (!store) return;
  for (const text of ['one', 'two']) await keep(store, keyOf(text), Buffer.alloc(2000, text));
  await store.close();
}

const cache = (...args: string[]) => sandbox.tts(['cache', ...args], { env: { TTS_CACHE_DIR: folder } });

describe('tts cache', () => {
  it('shows where the cache lies and what is in it', async () => {
    await fill();
    const { status, stdout, stderr } = await cache();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.toString()).toBe(`folder   ${folder}\nsize     4.0 KiB\nentries  2\n`);
  });

  it('counts in the largest unit of which there is one', async () => {
    mkdirSync(join(folder, '00'), { recursive: true });
    for (const [bytes, size] of [
      [1023, '1023 bytes'],
      [1024, '1.0 KiB'],
      [2 ** 20 - 1, '1.0 MiB'],
    ] as const) {
      writeFileSync(join(folder, '00', `${'0'.repeat(62)}.00000000.wav`), Buffer.alloc(bytes));
      expect((await cache()).stdout.toString()).toContain(`size     ${size}\n`);
    }
  });

  it('shows the same to programs', async () => {
    await fill();
    const { stdout } = await cache('--json');
    expect(JSON.parse(stdout.toString())).toEqual({ folder, bytes: 4088, entries: 2 });
  });

  it('shows nothing where nothing is, and makes no folder for that', async () => {
    const { status, stdout } = await cache();
    expect([status, stdout.toString()]).toEqual([0, `folder   ${folder}\nsize     0 bytes\nentries  0\n`]);
    expect((await cache('clear')).status).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it.each<[string, Record<string, string>, string]>([
    ['the home', {}, '../.cache/tts/segments'],
    ['XDG_CACHE_HOME', { XDG_CACHE_HOME: '/tmp/of-nobody' }, '/tmp/of-nobody/tts/segments'],
    ['the home, if XDG_CACHE_HOME is relative', { XDG_CACHE_HOME: 'x' }, '../.cache/tts/segments'],
    ['TTS_CACHE_DIR, seen from where it runs', { TTS_CACHE_DIR: 'here' }, 'here'],
  ])('looks in %s', async (_, env, expected) => {
    const { stdout } = await sandbox.tts(['cache', '--json'], { env });
    const path = expected.startsWith('/') ? expected : join(sandbox.folder, expected);
    expect(JSON.parse(stdout.toString()).folder).toBe(path);
  });

  it('tells what it is with --help', async () => {
    const { status, stdout } = await cache('--help');
    expect([status, stdout.toString()]).toEqual([0, expect.stringContaining('Usage: tts cache')]);
    expect(stdout.toString()).toContain('TTS_CACHE_DIR');
  });
});

describe('tts cache clear', () => {
  it('empties the cache and says what was freed', async () => {
    await fill();
    const { status, stdout } = await cache('clear');
    expect([status, stdout.toString()]).toEqual([0, `removed 2 entries, 4.0 KiB freed, from ${folder}\n`]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says the same to programs', async () => {
    await fill();
    const { stdout } = await cache('clear', '--json');
    expect(JSON.parse(stdout.toString())).toEqual({ folder, removed: 2, freed: 4088 });
  });

  it('removes what a killed run left, but nothing that the cache did not make', async () => {
    await fill();
    const mine = [
      join(folder, 'book.wav'),
      join(folder, 'aa', 'note.txt'),
      join(folder, 'my folder', 'x.wav'),
    ];
    for (const path of mine) {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, 'mine');
    }
    const part = join(folder, '00000000-0000-4000-8000-000000000000.part');
    writeFileSync(part, 'left');
    const { stdout } = await cache('clear', '--json');
    expect(JSON.parse(stdout.toString())).toMatchObject({ removed: 2, freed: 4092 });
    expect([...mine, part].map(existsSync)).toEqual([true, true, true, false]);
    expect(readdirSync(folder).sort()).toEqual(['aa', 'book.wav', 'my folder']);
  });
});

describe('tts cache with words it does not know', () => {
  it.each([
    [['claer'], /^tts: tts cache does not know "claer"\nhint: did you mean clear\?/],
    [['me', 'if', 'you', 'can'], /^tts: tts cache does not know "me"\nhint: .*tts speak cache/],
    [['clear', 'all'], /^tts: tts cache does not know "all"\n/],
    [['--jsno'], /^tts: unknown option '--jsno'\nhint: did you mean --json\?/],
  ])('refuses %j and removes nothing', async (args, message) => {
    await fill();
    expectFailure(await cache(...args), 2, message);
    expect(JSON.parse((await cache('--json')).stdout.toString())).toMatchObject({ entries: 2 });
  });
});
