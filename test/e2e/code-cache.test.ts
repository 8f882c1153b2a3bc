import {
  chmodSync,
  chownSync,
  constants,
  cpSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { named, node, program, Sandbox } from '../support/run.ts';

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
  it('of a run with threads is good for the next one', async () => {
    const box = new Sandbox();
    const { files } = await kept(box);
    const times = () => files().map((path) => [path, statSync(path).mtimeMs]);
    const before = times();
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0, stderr: '' });
    expect(times()).toEqual(expect.arrayContaining(before));
  });

  it('that is damaged is not run, and is made anew', async () => {
    const box = new Sandbox();
    const { files } = await kept(box);
    const damaged = new Map(files().map((path) => [path, readFileSync(path)]));
    for (const [path, bytes] of damaged) {
      bytes.fill(0, bytes.length >> 1);
      writeFileSync(path, bytes);
    }
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0, stderr: '' });
    expect(new Set(files())).toEqual(new Set(damaged.keys()));
    for (const [path, bytes] of damaged) expect(readFileSync(path).equals(bytes)).toBe(false);
  });

  it('of a changed program is not run, also where neither size nor time tell of the change', async () => {
    const box = new Sandbox();
    for (const part of ['bin', 'dist'])
      cpSync(join(dirname(program), '..', part), box.path(part), { recursive: true });
    const env = named('http://127.0.0.1:9');
    const complain = async () => (await box.shell(`'${node}' bin/tts.cjs ''`, { env })).stderr;
    const path = box.path('dist/speaking.cjs');
    utimesSync(path, 1, 1);
    expect(await complain()).toContain('nothing to say');
    writeFileSync(path, readFileSync(path, 'utf8').replace('nothing to say', 'no text to say'));
    utimesSync(path, 1, 1);
    expect(await complain()).toContain('no text to say');
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
