import { readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { isDeadOrUnwritten, Lease } from '../../../src/kit/lock.ts';
import { emptyFolder } from '../../support/folder.ts';

const { signal } = new AbortController();

let folder = '';
let path = '';

beforeEach(() => {
  folder = emptyFolder();
  path = join(folder, 'lease');
});

const host = (pid: number, running: readonly number[], realm = 'here') => ({
  pid,
  realm,
  isRunning: (other: number) => running.includes(other),
});

/** Gives the file a time: a minute and more ago, or in the future. */
function move(seconds: number): void {
  const then = new Date(Date.now() + 1000 * seconds);
  utimesSync(path, then, then);
}

describe('a lease', () => {
  it('is not given while its owner runs, and names the owner', () => {
    using _first = Lease.take(path, host(1, [1, 2]), { machine: 'desk' }) as Lease;
    const second = Lease.take(path, host(2, [1, 2]));
    expect(second).toMatchObject({ owner: { pid: 1, realm: 'here', machine: 'desk' } });
  });

  it('of a process that has ended is taken over, and stays when the earlier owner lets go', () => {
    const first = Lease.take(path, host(1, [1])) as Lease;
    const second = Lease.take(path, host(2, [2])) as Lease;
    first[Symbol.dispose]();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ pid: 2, realm: 'here' });
    second[Symbol.dispose]();
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([[-100], [100]])(
    'of another machine is taken over if its last sign of life is %i s away',
    (seconds) => {
      Lease.take(path, host(1, [], 'there'));
      expect(Lease.take(path, host(2, [2]))).toMatchObject({ owner: { pid: 1 } });
      move(seconds);
      expect(Lease.take(path, host(2, [2]))).toBeInstanceOf(Lease);
    },
  );

  it.each(['{"pid":-1,"realm":"here"}', '{"pid":"1","realm":"here"}', 'null', '[]', ''])(
    'that holds %j counts as one of another machine, or as one that is never written',
    (text) => {
      writeFileSync(path, text);
      move(-5);
      expect(Lease.take(path, host(2, [2]))).toMatchObject({ owner: undefined, text });
      const taken = Lease.take(path, host(2, [2]), { isOver: isDeadOrUnwritten });
      expect(taken).toBeInstanceOf(Lease);
    },
  );

  it('is waited for until it is free', async () => {
    const first = Lease.take(path, host(1, [1, 2])) as Lease;
    const told: string[] = [];
    const onWait = () => {
      told.push('waiting');
      first[Symbol.dispose]();
    };
    using _second = await Lease.wait(path, host(2, [1, 2]), { signal, onWait });
    expect(told).toEqual(['waiting']);
  });

  it('does not follow a link', () => {
    symlinkSync('/dev/zero', path);
    expect(() => Lease.take(path, host(1, [1]))).toThrow('is a symbolic link');
  });
});
