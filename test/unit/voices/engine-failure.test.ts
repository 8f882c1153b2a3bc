import { describe, expect, it } from 'vitest';
import { EngineError, type EngineFault } from '../../../src/engines/engine.ts';
import { ExitCode, TtsError } from '../../../src/kit/error.ts';
import { IdleError } from '../../../src/kit/wait.ts';
import { engineFailure } from '../../../src/voices/local.ts';

const mine = { name: 'mine', isExternal: true, timeoutMs: 2000 };
const builtIn = { name: 'the built-in voice', isExternal: false, timeoutMs: 2000 };

describe('the answer of an engine', () => {
  it.each([
    [400, ExitCode.service, true],
    [401, ExitCode.key, false],
    [402, ExitCode.quota, false],
    [403, ExitCode.key, false],
    [404, ExitCode.service, true],
    [422, ExitCode.service, true],
    [302, ExitCode.service, false],
  ])(
    '%i is what it is on POST /tts, in its own words, and is not asked for again',
    (status, exitCode, spared) => {
      const error = new EngineError('refused', `mine answers ${status}: no`, { status });
      expect(engineFailure(error, mine)).toMatchObject({
        message: `mine answers ${status}: no`,
        exitCode,
        concernsThisTextOnly: spared,
        retry: undefined,
      });
    },
  );

  it.each([408, 500, 502, 504])('%i is asked for again', (status) => {
    const error = new EngineError('refused', `mine answers ${status}`, { status });
    expect(engineFailure(error, mine)).toMatchObject({ exitCode: ExitCode.service, retry: { status } });
  });

  it.each([
    [429, ExitCode.quota],
    [503, ExitCode.service],
  ])('%i makes the run wait as long as it says', (status, exitCode) => {
    const error = new EngineError('busy', `mine answers ${status}`, { status, retryAfter: 7 });
    const retry = { after: 7, busy: true, status };
    expect(engineFailure(error, mine)).toMatchObject({ exitCode, retry });
    const long = new EngineError('busy', 'mine answers', { status, retryAfter: 36_000 });
    expect(engineFailure(long, mine).hint).toContain('10 hours');
  });
});

describe('the failure of an engine', () => {
  it.each<EngineFault>(['failed', 'late', 'unreachable'])('has its own words: %s', (kind) => {
    const failure = engineFailure(new EngineError(kind, 'mine cannot be reached'), mine);
    expect(failure).toMatchObject({ message: 'mine cannot be reached', exitCode: ExitCode.service });
    expect(failure.hint).toContain('tts doctor --engine');
    expect(failure.retry).toMatchObject({ busy: false });
  });

  it('without room on the disk is one of the output', () => {
    const failure = engineFailure(new EngineError('no storage', 'cannot write /tmp: no space'), mine);
    expect(failure).toMatchObject({ message: 'cannot write /tmp: no space', exitCode: ExitCode.output });
    expect(failure.hint).toContain('TMPDIR');
    expect(failure.retry).toBeUndefined();
  });

  it('of the built-in voice says who it is', () => {
    expect(engineFailure(new EngineError('unsupported text', 'English only'), builtIn)).toMatchObject({
      message: 'the built-in voice cannot read this text: English only',
      exitCode: ExitCode.service,
      concernsThisTextOnly: true,
      retry: undefined,
    });
    expect(engineFailure(new EngineError('broken', 'its thread ended'), builtIn)).toMatchObject({
      message: 'the built-in voice failed: its thread ended',
      exitCode: ExitCode.service,
      retry: { status: 500 },
    });
  });

  it('by silence is one of time', () => {
    expect(engineFailure(new IdleError('idle'), mine)).toMatchObject({
      message: 'no sound from mine for 2 s',
      exitCode: ExitCode.timeout,
      retry: {},
    });
  });

  it('that is in words already stays, and a defect is thrown', () => {
    const known = new TtsError('no', { exitCode: ExitCode.usage });
    expect(engineFailure(known, mine)).toBe(known);
    expect(() => engineFailure(new RangeError('a defect'), mine)).toThrow('a defect');
  });
});
