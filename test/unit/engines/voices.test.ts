import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Notices } from '../../../src/cli/notices.ts';
import { espeakIfAny, findEspeak } from '../../../src/engines/espeak.ts';
import type { Host } from '../../../src/kit/host.ts';
import { fakeEspeak } from '../../support/fake-espeak.ts';
import { emptyFolder } from '../../support/folder.ts';
import { isAlive } from '../../support/programs.ts';

let folder: string;
beforeEach(() => {
  folder = emptyFolder();
});

function install(script: string): void {
  writeFileSync(join(folder, 'espeak-ng'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function search(signal = new AbortController().signal) {
  const host = { env: { PATH: folder }, platform: process.platform } as unknown as Host;
  return { host, signal };
}

describe('an espeak-ng on the PATH', () => {
  it('is found with its voices, from 101 on in the order of their languages', async () => {
    const program = fakeEspeak(folder, '');
    const { espeak, fault } = await findEspeak(search());
    expect(fault).toBeUndefined();
    expect(espeak?.program).toBe(program);
    expect(espeak?.voices.map(({ speaker: { no, name, language } }) => [no, name, language])).toEqual([
      [101, 'First', 'xx'],
      [102, 'Second voice', 'yy'],
    ]);
  });

  it('is not missed where there is none', async () => {
    expect(await findEspeak(search())).toEqual({});
    install('exit 1');
    chmodSync(join(folder, 'espeak-ng'), 0o644);
    expect(await findEspeak(search())).toEqual({});
  });

  it('that cannot list its voices is told of in one line, and not used', async () => {
    install('echo one >&2; echo two >&2; exit 1');
    const said: string[] = [];
    const notices = { warn: (text: string) => said.push(text) } as unknown as Notices;
    expect((await findEspeak(search())).fault).toBe('two');
    expect(await espeakIfAny({ ...search(), notices })).toBeUndefined();
    expect(said).toEqual(['the voices of espeak-ng are missing, for it does not work: two']);
  });

  it('that takes its time for that is ended when nobody waits any more', async () => {
    const note = join(folder, 'pid');
    install(`PATH=/bin:/usr/bin; echo $$ > ${note}; exec sleep 60`);
    const leaving = new AbortController();
    const found = findEspeak(search(leaving.signal));
    found.catch(() => {});
    const pid = () => Number(readFileSync(note, { encoding: 'utf8', flag: 'a+' }));
    await expect.poll(pid).toBeGreaterThan(0);
    leaving.abort(new Error('gone'));
    await expect(found).rejects.toThrow('gone');
    await expect.poll(() => isAlive(pid())).toBe(false);
  });
});
