import {
  chmodSync,
  chownSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type InputOptions, type OutputOptions, rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import config from '../../.config/rolldown.config.ts';
import { serveBytes } from '../support/byte-server.ts';
import { complete } from '../support/http-bytes.ts';
import { named, program, Sandbox } from '../support/run.ts';
import { plainWav, sound } from '../unit/audio/wav-builder.ts';

const root = join(dirname(program), '..');

/** Speaks once, so that there is compiled code. */
async function kept(box: Sandbox): Promise<{ folder: string; files: () => string[] }> {
  expect((await box.tts(['hi', '-q'])).status).toBe(0);
  const root = join(box.home, '.cache', 'tts', 'code');
  const [version = ''] = readdirSync(root);
  const folder = join(root, version);
  const files = () => readdirSync(folder).map((name) => join(folder, name));
  expect(files().length).toBeGreaterThan(3);
  return { folder, files };
}

describe('compiled code', () => {
  // The summary is loaded at the end, when V8 has been told to save memory.
  const long = 'There was more than a mebibyte of sound to be heard. '.repeat(20);
  it.each([
    ['a run with threads', ['hi', '-q']],
    ['a run that loads late', [long, '-q', '--json', '-o', 'long.wav']],
    // Node's own modules, which are asked for only then.
    ['a run into a device', ['hi', '-q', '-o', '/dev/null']],
    ['a service that puts a long answer into a file', [long, '-q', '-r', '48000', '-o', 'long.wav']],
  ])('of %s is good for the next one', async (_, args) => {
    const box = new Sandbox();
    const { files } = await kept(box);
    expect(await box.tts(args)).toMatchObject({ status: 0, stderr: '' });
    const times = () => files().map((path) => [path, statSync(path).mtimeMs]);
    const before = times();
    expect(await box.tts(args)).toMatchObject({ status: 0, stderr: '' });
    expect(times()).toEqual(before);
  });

  // It would lack what such a run does not come to, for good: nobody looks at it again.
  it.each([
    ['is mistyped', ['hi', '-s', '99'], 2, {}],
    [
      'finds no service',
      ['hi', '-s', '3', '--retries', '0'],
      6,
      { TTS_BASE_URL: 'http://127.0.0.1:1', TTS_API_KEY: 'key' },
    ],
    ['counts only', ['hi', '--dry-run'], 0, {}],
    ['shows its text', ['hi', '--show-text'], 0, {}],
  ])('of a run that %s is left to the next one', async (_, args, status, env) => {
    const box = new Sandbox();
    expect(await box.tts(args, { env: env as Record<string, string> })).toMatchObject({ status });
    expect(() => readdirSync(join(box.home, '.cache', 'tts', 'code'))).toThrow('ENOENT');
    await kept(box);
  });

  it('of a run that was spared its requests is left to the next one', async () => {
    const box = new Sandbox();
    const { files } = await kept(box);
    const { url, requests } = await serveBytes(complete(plainWav(sound(200))));
    const run = (...args: string[]) =>
      box.tts(['hi', '-o', 'hi.wav', ...args], { env: named(url, { TTS_CACHE: '1' }) });
    expect(await run()).toMatchObject({ status: 0 });
    for (const path of files()) rmSync(path);
    expect(await run()).toMatchObject({ status: 0 });
    expect({ requests: requests.length, files: files() }).toEqual({ requests: 1, files: [] });
    expect(await run('--no-cache')).toMatchObject({ status: 0 });
    expect(files().length).toBeGreaterThan(0);
  });

  it('does not look for modules: what was kept would not find them', () => {
    const chunks = readdirSync(join(root, 'dist')).filter((name) => /-[0-9a-f]{8}\.cjs$/.test(name));
    expect(chunks.length).toBeGreaterThan(10);
    for (const name of chunks)
      expect(readFileSync(join(root, 'dist', name), 'latin1'), name).not.toMatch(/(?<![.\w])import\(/);
  });

  it('that could not be written leaves nothing, and neither does what was killed', async () => {
    const box = new Sandbox();
    const { folder, files } = await kept(box);
    for (const path of files()) rmSync(path);
    const left = join(folder, 'speaking-01234567.cjs.999999999.part');
    writeFileSync(left, '');
    expect(await box.shell('ulimit -f 40; tts hi -q -o hi.wav -r 8000')).toMatchObject({ status: 0 });
    expect(files().filter((path) => path.endsWith('.part'))).toEqual([]);
  });

  const damages: readonly [string, (bytes: Buffer) => Buffer][] = [
    ['half of zeros', (bytes) => Buffer.from(bytes).fill(0, bytes.length >> 1)],
    ['torn in the middle', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['short of a byte', (bytes) => bytes.subarray(0, -1)],
    ['empty', () => Buffer.alloc(0)],
    ['other in one bit', (bytes) => Buffer.from(bytes).fill((bytes[999] ?? 0) ^ 4, 999, 1000)],
  ];
  it.each(damages)('that is %s is not run, and is made anew', async (_, damage) => {
    const box = new Sandbox();
    const { files } = await kept(box);
    const damaged = new Map(files().map((path) => [path, damage(readFileSync(path))]));
    for (const [path, bytes] of damaged) writeFileSync(path, bytes);
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0, stderr: '' });
    expect(new Set(files())).toEqual(new Set(damaged.keys()));
    for (const [path, bytes] of damaged) expect(readFileSync(path).equals(bytes)).toBe(false);
  });

  it('of a changed program is not run: the name of a changed chunk is another one', async () => {
    const [main] = config as readonly InputOptions[];
    const changing = {
      name: 'changing',
      transform: (code: string) => code.replace("'nothing to say'", "'no words to say'"),
    };
    const bundle = await rolldown({ ...main, cwd: root, plugins: [main?.plugins, changing] });
    const { dir: _, ...how } = (main as { output: OutputOptions }).output;
    const { output } = await bundle.generate(how);
    const before = new Set(readdirSync(join(root, 'dist')));
    const changed = output.filter(
      (chunk) => chunk.type === 'chunk' && chunk.code.includes('no words to say'),
    );
    expect(changed).not.toHaveLength(0);
    for (const { fileName } of changed) {
      expect(fileName).toMatch(/^[a-z-]+-[0-9a-f]{8}\.cjs$/);
      expect(before.has(fileName)).toBe(false);
    }
    // What did not change has its name.
    expect(output.filter(({ fileName }) => before.has(fileName)).length).toBeGreaterThan(10);
  });

  it('of an older program is removed, also of chunks that there are no more', async () => {
    const box = new Sandbox();
    const { folder, files } = await kept(box);
    const before = files();
    const [speaking = ''] = before.filter((path) => path.includes('/speaking-'));
    renameSync(speaking, join(folder, 'speaking-01234567.cjs'));
    writeFileSync(join(folder, 'gone-01234567.cjs'), '');
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0 });
    expect(new Set(files())).toEqual(new Set(before));
  });

  it('of a run that asks a service and keeps no segments is that of one chunk', async () => {
    const box = new Sandbox();
    const { url } = await serveBytes(complete(plainWav(sound(200))));
    expect(await box.tts(['hi', '-o', 'hi.wav', '--no-cache'], { env: named(url) })).toMatchObject({
      status: 0,
    });
    const folder = join(box.home, '.cache', 'tts', 'code');
    const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(kept.filter((name) => name.endsWith('.cjs'))).toEqual([
      expect.stringMatching(/\/speaking-[0-9a-f]+\.cjs$/),
    ]);
  });

  it.skipIf(process.platform === 'win32')('is not kept where others could put theirs', async () => {
    const box = new Sandbox();
    const { folder, files } = await kept(box);
    for (const path of files()) rmSync(path);
    chmodSync(folder, 0o777);
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0, stderr: '' });
    expect(files()).toEqual([]);
  });

  const foreign: readonly [string, (path: string) => void][] = [
    ['that others may write', (path) => chmodSync(path, 0o620)],
    ['of somebody else', (path) => chownSync(path, 1, 1)],
    [
      'behind a link',
      (path) => {
        renameSync(path, `${path}.elsewhere`);
        symlinkSync(`${path}.elsewhere`, path);
      },
    ],
  ];
  it.skipIf(process.getuid?.() !== 0).each(foreign)('%s is not run, and is made anew', async (_, spoil) => {
    const box = new Sandbox();
    const { files } = await kept(box);
    const paths = files();
    for (const path of paths) spoil(path);
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0, stderr: '' });
    for (const path of paths)
      expect(lstatSync(path)).toMatchObject({ uid: 0, mode: constants.S_IFREG | 0o600 });
  });
});
