import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FairQueue, type TaskRunner } from '../../../src/engines/queued-engine.ts';

const never = new AbortController().signal;

/** A lane that notes what it works on, and finishes when it is told to, or after this many milliseconds, or in the next turn. */
class Bench implements TaskRunner<string> {
  ready = true;
  readonly log: string[];
  readonly #ms: number;

  constructor(log: string[], ms = 0) {
    this.log = log;
    this.#ms = ms;
  }

  async run(task: string, signal: AbortSignal): Promise<Int16Array> {
    this.log.push(task);
    if (task.endsWith('!')) throw new Error(`cannot ${task}`);
    const done = this.#ms > 0 ? sleep(this.#ms, undefined, { signal }) : turn(undefined, { signal });
    await done.catch((error: Error) => {
      this.log.push(`stopped ${task}`);
      throw error.cause;
    });
    return Int16Array.from(Buffer.from(task));
  }

  async close(): Promise<void> {}
}

function text(samples: Int16Array | undefined): string {
  return Buffer.from(samples ?? []).toString();
}

async function all(results: AsyncIterable<Int16Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const result of results) texts.push(text(result));
  return texts;
}

function* endless(name: string, taken: string[] = []): Generator<string> {
  for (let number = 0; ; number += 1) {
    taken.push(`${name}${number}`);
    yield `${name}${number}`;
  }
}

describe('a fair queue', () => {
  it('gives results in the order of the tasks, whatever lane is faster', async () => {
    const queue = new FairQueue([new Bench([], 5), new Bench([], 1)]);
    expect(await all(queue.run(['a', 'b', 'c', 'd', 'e'], never))).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('lets utterances take turns', async () => {
    const log: string[] = [];
    const queue = new FairQueue([new Bench(log, 1)]);
    await Promise.all([
      all(queue.run(['a1', 'a2', 'a3', 'a4', 'a5', 'a6'], never)),
      all(queue.run(['b1', 'b2'], never)),
      all(queue.run(['c1'], never)),
    ]);
    expect(log.indexOf('c1')).toBeLessThanOrEqual(3);
    expect(log.indexOf('b2')).toBeLessThan(log.indexOf('a4'));
  });

  it('gives the next free lane to who has none, not to who has all the others', async () => {
    const log: string[] = [];
    const queue = new FairQueue([new Bench(log, 20), new Bench(log, 40)]);
    const long = queue.run(endless('a'), never);
    const first = long.next();
    await turn();
    expect(log).toEqual(['a0', 'a1']);
    const short = all(queue.run(['b'], never));
    await first;
    expect(log.slice(2, 3)).toEqual(['b']);
    await short;
    await long.return();
  });

  it('leaves a spare lane idle until another has to start again', async () => {
    const logs: readonly string[][] = [[], []];
    const lanes = logs.map((log) => new Bench(log, 1));
    const queue = new FairQueue(lanes, 1);
    await Promise.all([all(queue.run(['a', 'b'], never)), all(queue.run(['c', 'd'], never))]);
    expect(logs.map((log) => log.length)).toEqual([4, 0]);
    for (const lane of lanes.slice(0, 1)) lane.ready = false;
    await all(queue.run(['e'], never));
    expect(logs[1]).toEqual(['e']);
  });

  it('stops the work of a reader that leaves, and goes on with the next', async () => {
    const log: string[] = [];
    const queue = new FairQueue([new Bench(log, 1)]);
    const reader = queue.run(endless('a'), never);
    await reader.next();
    await reader.return();
    const before = log.filter((task) => task.startsWith('a')).length;
    expect(await all(queue.run(['b'], never))).toEqual(['b']);
    expect(log.filter((task) => task.startsWith('a'))).toHaveLength(before);
    expect(log.join()).toContain('stopped a1');
  });

  it('stops on the signal even while the reader waits, with its reason', async () => {
    const queue = new FairQueue([new Bench([], 60_000)]);
    const leaving = new AbortController();
    const waiting = all(queue.run(['a', 'b'], leaving.signal));
    const queued = all(queue.run(['c'], leaving.signal));
    await turn();
    leaving.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(queued).rejects.toThrow('gone');
    await expect(all(queue.run(['d'], leaving.signal))).rejects.toThrow('gone');
  });

  it('fails an utterance with what a lane throws, and no other', async () => {
    const queue = new FairQueue([new Bench([], 1)]);
    const broken = all(queue.run(['a', 'b!', 'c'], never));
    const whole = all(queue.run(['d', 'e'], never));
    await expect(broken).rejects.toThrow('cannot b!');
    await expect(whole).resolves.toEqual(['d', 'e']);
  });

  it('ends everything when it is closed', async () => {
    const queue = new FairQueue([new Bench([], 60_000)]);
    const waiting = all(queue.run(['a', 'b'], never));
    await turn();
    await queue.close();
    await expect(waiting).rejects.toThrow('closed');
  });
});
