import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ExitCode } from '../../../src/kit/error.ts';
import { endWith } from '../../../src/kit/host.ts';

/** A process that notes what it is killed by. Its descriptors are no terminals. */
class FakeProcess extends EventEmitter {
  readonly pid = 1;
  readonly platform = 'linux';
  readonly killedBy: (string | number | undefined)[] = [];
  exitCode: number | undefined;
  readonly isTerminal: boolean;

  constructor(isTerminal: boolean) {
    super();
    this.isTerminal = isTerminal;
  }

  kill(_: number, signal?: string | number): true {
    this.killedBy.push(signal);
    return true;
  }

  exit(): void {
    this.killedBy.push('exit');
  }

  getBuiltinModule(): { isatty(): boolean } {
    return { isatty: () => this.isTerminal };
  }
}

const asProcess = (fake: FakeProcess) => fake as unknown as Parameters<typeof endWith>[1];

describe('the end of a process', () => {
  it('has the status of the run', () => {
    const fake = new FakeProcess(false);
    endWith(ExitCode.service, asProcess(fake));
    fake.emit('exit');
    expect(fake).toMatchObject({ exitCode: 7, killedBy: [] });
  });

  it.each([
    ['SIGINT', ExitCode.interrupted, 2],
    ['SIGTERM', ExitCode.terminated, 15],
    ['SIGHUP', ExitCode.hangup, 1],
  ])(
    'comes by the signal itself where work that cannot be cancelled outlasts %s',
    async (_, status, signal) => {
      const fake = new FakeProcess(false);
      endWith(status, asProcess(fake));
      expect(fake.killedBy).toEqual([]);
      await expect.poll(() => fake.killedBy).toEqual([signal]);
    },
  );
});

describe('the end of a process that was asked to end, and whose status is no signal', () => {
  it('does not wait for work that cannot be cancelled', async () => {
    const fake = new FakeProcess(false);
    endWith(ExitCode.ok, asProcess(fake), true);
    expect(fake).toMatchObject({ exitCode: 0, killedBy: [] });
    await expect.poll(() => fake.killedBy).toEqual(['exit']);
  });
});
