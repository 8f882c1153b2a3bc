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
  it('shows where the cache lies and what is in it', async () => {
    await fill();
    const { status, stdout, stderr } = await cache();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.toString()).toContain(`folder   ${folder}\nsize     4.0 KiB\nentries  2\nlimit    `);
    expect(stdout.toString()).toMatch(/\nlimit {4}[\d.]+ [MG]iB\nhours {4}0 of [\d.]+ at 22050 Hz\n$/);
  });

  it('tells in hours what the config has room for', async () => {
    writeUserConfig(sandbox, { cacheSize: '4 GiB' });
    expect((await cache()).stdout.toString()).toMatch(
      /\nlimit {4}4\.0 GiB\nhours {4}0 of 27\.1 at 22050 Hz\n$/,
    );
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
    expect(status).toBe(0);
    expect(stdout.toString()).toContain(`folder   ${folder}\nsize     0 bytes\nentries  0\n`);
    expect((await cache('clear')).status).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it.each<[string, Record<string, string>, string]>([
    ['the home', {}, '../.cache/tts/segments'],
    ['XDG_CACHE_HOME', { XDG_CACHE_HOME: '/tmp/of-nobody' }, '/tmp/of-nobody/tts/segments'],
    ['the home, if XDG_CACHE_HOME is relative', { XDG_CACHE_HOME: 'x' }, '../.cache/tts/segments'],
    ['TTS_CACHE_DIR, seen from where it runs', { TTS_CACHE_DIR: 'here' }, 'here'],
  ])('looks in %s', async (_, env, expected) => {
    const { stdout } = await sandbox.run(['cache', '--json'], { env });
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
    const part = join(folder, 'entry.00000000-0000-4000-8000-000000000000.part');
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

describe('tts cache clear, in part', () => {
  async function speakWith(server: { url: string }, text: string): Promise<void> {
    const env = { ...named(server.url), TTS_CACHE: '1', TTS_CACHE_DIR: folder };
    expect(await sandbox.run([text, '-o', 'out.wav'], { env })).toMatchObject({ status: 0 });
  }

  it.each([
    ['before', -31],
    ['in the future, since the clock was set back', 31],
  ])('removes what was used so long %s', async (_, days) => {
    await fill();
    const [shard = ''] = readdirSync(folder).filter((name) => /^[0-9a-f]{2}$/.test(name));
    const [entry = ''] = readdirSync(join(folder, shard));
    const old = new Date(Date.now() + days * 86_400_000);
    utimesSync(join(folder, shard, entry), old, old);
    expect(JSON.parse((await cache('--older', '30d', '--json')).stdout.toString())).toMatchObject({
      entries: 1,
    });
    expect((await cache('clear', '--older', '30d')).stdout.toString()).toMatch(/^removed 1 entry, /);
    expect(JSON.parse((await cache('--json')).stdout.toString())).toMatchObject({ entries: 1 });
    expectFailure(
      await cache('clear', '--older', 'soon'),
      2,
      /--older must be hours, days or weeks.*, and is "soon"/,
    );
  });

  it('removes what one service has made, and asks for it again', async () => {
    const [one, two] = [await serveText(), await serveText()];
    await speakWith(one, 'From the first.');
    await speakWith(two, 'From the second.');
    expect((await cache('clear', '--service', `${one.url}/`)).stdout.toString()).toMatch(
      /^removed 1 entry, /,
    );
    await speakWith(one, 'From the first.');
    await speakWith(two, 'From the second.');
    expect([one.requests, two.requests]).toEqual([2, 1]);
    expectFailure(
      await cache('clear', '--service', 'http://unknown.example'),
      2,
      /knows no segments of .*\nhint: it has those of http/,
    );
  });

  it('finds a service by any way of writing its address', async () => {
    const server = await serveText();
    await speakWith(server, 'Hello.');
    const { port } = new URL(server.url);
    for (const address of [
      `HTTP://127.0.0.1:${port}`,
      `http://127.1:${port}/x/..`,
      `http://anna:pass@127.0.0.1:${port}`,
    ])
      expect(JSON.parse((await cache('--json', '--service', address)).stdout.toString())).toMatchObject({
        entries: 1,
      });
    expectFailure(await cache('--service', `http://127.0.0.1:${port}/v1`), 2, /knows no segments of/);
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
