import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/voices/cache-store.ts';
import { serveText } from '../support/book.ts';
import { isThere } from '../support/programs.ts';
import { expectFailure, named, Sandbox } from '../support/run.ts';
import { writeUserConfig } from '../support/user-config.ts';
import { keep, keyOf, uid } from '../unit/voices/segment-sound.ts';

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

const cache = (...args: string[]) => sandbox.run(['cache', ...args], { env: { TTS_CACHE_DIR: folder } });

describe('tts cache', () => {
  it('shows where the cache lies, what is in it, and in hours what it has room for', async () => {
    await fill();
    writeUserConfig(sandbox, { cacheSize: '4 GiB' });
    const { status, stdout, stderr } = await cache();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.toString()).toBe(
      `folder   ${folder}\nsize     4.0 KiB\nentries  2\nlimit    4.0 GiB\nhours    0 of 27.1 at 22050 Hz\n`,
    );
    const json = (await cache('--json')).stdout.toString();
    expect(JSON.parse(json)).toEqual({ folder, bytes: 4088, entries: 2 });
  });

  it('shows nothing where nothing is, and makes no folder for that', async () => {
    const { status, stdout } = await cache();
    expect(status).toBe(0);
    expect(stdout.toString()).toContain(`folder   ${folder}\nsize     0 bytes\nentries  0\n`);
    expect((await cache('clear')).status).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it('looks in the home, in XDG_CACHE_HOME, and first in TTS_CACHE_DIR, seen from where it runs', async () => {
    for (const [env, expected] of [
      [{ XDG_CACHE_HOME: 'x' }, join(sandbox.home, '.cache/tts/segments')],
      [{ XDG_CACHE_HOME: '/tmp/of-nobody' }, '/tmp/of-nobody/tts/segments'],
      [{ XDG_CACHE_HOME: '/tmp/of-nobody', TTS_CACHE_DIR: 'here' }, sandbox.path('here')],
    ] as const) {
      const { stdout } = await sandbox.run('cache --json', { env });
      expect(JSON.parse(stdout.toString()).folder).toBe(expected);
    }
  });
});

describe('tts cache clear', () => {
  it('empties the cache and says what was freed', async () => {
    await fill();
    const { status, stdout } = await cache('clear');
    expect([status, stdout.toString()]).toEqual([0, `removed 2 entries, 4.0 KiB freed, from ${folder}\n`]);
    expect(readdirSync(folder)).toEqual([]);
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
    const part = join(folder, 'entry.00000000-0000-4000-8000-000000000000.part');
    writeFileSync(part, 'left');
    const { stdout } = await cache('clear', '--json');
    expect(JSON.parse(stdout.toString())).toMatchObject({ removed: 2, freed: 4092 });
    expect([...mine, part].map(existsSync)).toEqual([true, true, true, false]);
    expect(readdirSync(folder).sort()).toEqual(['aa', 'book.wav', 'my folder']);
  });
});

it('tts cache refuses words that it does not know, and removes nothing.', async () => {
  await fill();
  for (const [args, message] of [
    ['claer', /^tts: tts cache does not know "claer"\nhint: it knows clear;/],
    ['clear all', /^tts: tts cache does not know "all"\n/],
    ['--jsno', /^tts: unknown option '--jsno'\nhint: did you mean --json\?/],
  ] as const)
    expectFailure(await cache(...args.split(' ')), 2, message);
  expect(JSON.parse((await cache('--json')).stdout.toString())).toMatchObject({ entries: 2 });
});

describe('tts cache clear, in part', () => {
  async function speakWith(server: { url: string }, text: string): Promise<void> {
    const env = { ...named(server.url), TTS_CACHE: '1', TTS_CACHE_DIR: folder };
    expect(await sandbox.run([text, '-o', 'out.wav'], { env })).toMatchObject({ status: 0 });
  }

  it.each([-31, 31])(
    'removes what was used so many days from now, by a clock that may be wrong: %i',
    async (days) => {
      await fill();
      const [shard = ''] = readdirSync(folder).filter((name) => /^[0-9a-f]{2}$/.test(name));
      const [entry = ''] = readdirSync(join(folder, shard));
      const old = new Date(Date.now() + days * 86_400_000);
      utimesSync(join(folder, shard, entry), old, old);
      const counted = await cache('--older', '30d', '--json');
      expect(JSON.parse(counted.stdout.toString())).toMatchObject({ entries: 1 });
      expect((await cache('clear', '--older', '30d')).stdout.toString()).toMatch(/^removed 1 entry, /);
      expect(JSON.parse((await cache('--json')).stdout.toString())).toMatchObject({ entries: 1 });
      expectFailure(
        await cache('clear', '--older', 'soon'),
        2,
        /--older must be hours, days or weeks.*, and is "soon"/,
      );
    },
  );

  it('removes what one service has made, and asks for it again', async () => {
    const [one, two] = [await serveText(), await serveText()];
    await speakWith(one, 'From the first.');
    await speakWith(two, 'From the second.');
    expect(
      (await cache('clear', '--service', `${one.url.replace('http', 'HTTP')}/x/..`)).stdout.toString(),
    ).toMatch(/^removed 1 entry, /);
    await speakWith(one, 'From the first.');
    await speakWith(two, 'From the second.');
    expect([one.requests, two.requests]).toEqual([2, 1]);
    expectFailure(
      await cache('clear', '--service', 'http://unknown.example'),
      2,
      /holds no segments of .*\nhint: give the address of a service or of an engine/,
    );
    await cache('clear');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(isThere('script'))('asks at a terminal, and removes nothing without a yes', async () => {
    await fill();
    const env = { TTS_CACHE_DIR: folder };
    const atTerminal = (answer: string, args = '') =>
      sandbox.shell(`(sleep 1; echo ${answer}) | script -qec 'tts cache clear ${args}' /dev/null`, { env });
    expect((await atTerminal('n')).stdout.toString()).toContain(
      'Remove 2 entries (4.0 KiB)? They were paid for once. [y/N]',
    );
    expect(JSON.parse((await cache('--json')).stdout.toString())).toMatchObject({ entries: 2 });
    expect((await atTerminal('y')).stdout.toString()).toContain('removed 2 entries');
    await fill();
    expect((await atTerminal('n', '--yes')).stdout.toString()).toContain('removed 2 entries');
  });
});
