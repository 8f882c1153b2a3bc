import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../support/run.ts';

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

  it.skipIf(process.platform === 'win32')('is not kept where others could put theirs', async () => {
    const box = new Sandbox();
    const { folder, files } = await kept(box);
    for (const path of files()) rmSync(path);
    chmodSync(folder, 0o777);
    expect(await box.tts(['hi', '-q'])).toMatchObject({ status: 0, stderr: '' });
    expect(files()).toEqual([]);
  });
});
