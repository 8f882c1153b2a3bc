import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExitCode, retryAfter, TtsError } from '../../../src/kit/error.ts';
import { retryDelay } from '../../../src/kit/retry.ts';

const failed = (retry?: { after?: number }) => new TtsError('x', { exitCode: ExitCode.service, retry });
const tries = (made: number, allowed = 3) => ({ made, allowed });

describe('retryDelay', () => {
  it('gives up where another try makes no sense, or none is left', () => {
    expect(retryDelay(failed(), tries(0), 0)).toBeUndefined();
    expect(retryDelay(failed({}), tries(3), 0)).toBeUndefined();
    expect(retryDelay(failed({ after: 1 }), tries(0, 0), 0)).toBeUndefined();
  });

  it('waits twice as long each time, half of it by chance', () => {
    expect([0, 1, 2].map((made) => retryDelay(failed({}), tries(made), 1))).toEqual([0.5, 1, 2]);
    expect([0, 1, 2].map((made) => retryDelay(failed({}), tries(made), 0))).toEqual([0.25, 0.5, 1]);
  });

  it('waits as long as the service asks for', () => {
    expect(retryDelay(failed({ after: 7.5 }), tries(2), 0)).toBe(7.5);
  });

  it('does not wait before the first further try after a lost connection, and waits before the next', () => {
    expect([0, 1].map((made) => retryDelay(failed({ after: 0 }), tries(made), 1))).toEqual([0, 1]);
  });

  it('waits for an hour, and no longer', () => {
    expect(retryDelay(failed({ after: 3600 }), tries(0), 0)).toBe(3600);
    expect(retryDelay(failed({ after: 3601 }), tries(0), 0)).toBeUndefined();
  });

  it('is never a busy loop and never endless, whatever the service asks for', () => {
    const header = fc.option(fc.oneof(fc.double(), fc.integer(), fc.constant(0)), { nil: undefined });
    fc.assert(
      fc.property(header, fc.nat(99), fc.double({ min: 0, max: 1, noNaN: true }), (after, made, chance) => {
        const asked = after === undefined ? undefined : retryAfter({ 'retry-after': String(after) }, 0);
        const delay = retryDelay(
          failed(asked === undefined ? {} : { after: asked }),
          tries(made, 100),
          chance,
        );
        expect(delay ?? 1).toBeGreaterThanOrEqual(0.05);
        expect(delay ?? 1).toBeLessThanOrEqual(3600);
      }),
    );
  });
});
