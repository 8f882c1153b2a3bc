import { describe, expect, it } from 'vitest';
import type { Sink } from '../../../src/out/sink.ts';
import { tee } from '../../../src/out/tee.ts';
import { type Track, untagged } from '../../../src/sound/pcm.ts';
import { speechFormat } from '../sound/wav-builder.ts';

/** Remembers what became of it. */
class Probe implements Sink {
  readonly isLive: boolean;
  heard = 0;
  isDiscarded = false;
  readonly #fault: { readonly after?: number; readonly discard?: boolean; readonly leaves?: boolean };

  /** @param fault fails after this many bytes, or when it is discarded; or its reader leaves at once */
  constructor(fault: { after?: number; discard?: boolean; leaves?: boolean } = {}, isLive = true) {
    this.#fault = fault;
    this.isLive = isLive;
  }

  async write({ pcm }: Track, signal: AbortSignal) {
    for await (const { length } of pcm) {
      signal.throwIfAborted();
      this.heard += length;
      if (this.#fault.leaves) return { bytes: this.heard, writtenBytes: this.heard + 44, readerLeft: true };
      if (this.heard >= (this.#fault.after ?? Number.POSITIVE_INFINITY)) throw new Error('broken');
    }
    return { bytes: this.heard, writtenBytes: this.heard + 44, readerLeft: false };
  }

  async discard() {
    this.isDiscarded = true;
    if (this.#fault.discard) throw new Error('not discarded');
  }
}

async function* samples() {
  for (let left = 100; left > 0; left -= 1) yield new Uint8Array(10);
}

const track = (): Track => untagged({ format: speechFormat, bytes: undefined, pcm: samples() });
const { signal } = new AbortController();

describe('a sound for an output and a listener', () => {
  it('is written to both', async () => {
    const [output, listener] = [new Probe(), new Probe()];
    const delivery = await tee(output, listener).write(track(), signal);
    expect([delivery.bytes, output.heard, listener.heard]).toEqual([1000, 1000, 1000]);
  });

  it.each([
    [true, true, false],
    [true, false, true],
    [false, false, false],
  ])('is live where either is: %j with %j and %j', (isLive, output, listener) => {
    expect(tee(new Probe({}, output), new Probe({}, listener)).isLive).toBe(isLive);
  });

  it('is written whole to the output when the listener fails, which is told then', async () => {
    const [output, listener] = [new Probe(), new Probe({ after: 50 })];
    const delivery = await tee(output, listener).write(track(), signal);
    expect(delivery).toMatchObject({ bytes: 1000, failure: new Error('broken') });
    expect([output.heard, listener.heard]).toEqual([1000, 50]);
  });

  it('ends for the listener when the output fails', async () => {
    const [output, listener] = [new Probe({ after: 50 }), new Probe()];
    await expect(tee(output, listener).write(track(), signal)).rejects.toThrow('broken');
    expect(listener.heard).toBeLessThan(100);
  });

  it('ends for the listener when the reader of the output leaves', async () => {
    const [output, listener] = [new Probe({ leaves: true }), new Probe()];
    const delivery = await tee(output, listener).write(track(), signal);
    expect(delivery).toEqual({ bytes: 10, writtenBytes: 54, readerLeft: true });
    expect(listener.heard).toBeLessThan(1000);
  });

  it('that never comes lets go of both, whatever becomes of one', async () => {
    for (const fault of [{}, { discard: true }]) {
      const [output, listener] = [new Probe(fault), new Probe()];
      await tee(output, listener).discard();
      expect([output.isDiscarded, listener.isDiscarded]).toEqual([true, true]);
    }
  });
});
